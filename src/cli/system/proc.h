/* proc.h - the numbers of all processes, from /proc.
 *
 * Where /proc is that of another process namespace (unshare --pid without --mount-proc) its numbers
 * belong to other processes than those that we can send signals to: then it counts as not mounted.
 */
#ifndef CLI_SYSTEM_PROC_H
#define CLI_SYSTEM_PROC_H

#include <dirent.h>
#include <sys/types.h>

/* Begin a walk. NULL when /proc is not mounted; cli_proc_next() takes that. */
DIR *cli_proc_open(void);

/* The next process; 0 at the end of the walk, which is closed then. */
pid_t cli_proc_next(DIR *processes);

#endif
