/* proc.h - the ids of all processes, and those of our children, from /proc.
 *
 * If /proc belongs to another process namespace (unshare --pid without --mount-proc), its ids are
 * not those that kill() takes. Then it counts as not mounted.
 */
#ifndef CLI_SYSTEM_PROC_H
#define CLI_SYSTEM_PROC_H

#include <dirent.h>
#include <stdio.h>
#include <sys/types.h>

/* Say what that means for CMD, when its ids cannot be had. */
void cli_proc_check(void);

/* Begin a walk. NULL when /proc is not mounted; cli_proc_next() takes that. */
DIR *cli_proc_open(void);

/* The next process; 0 at the end of the walk, which is closed then. */
pid_t cli_proc_next(DIR *processes);

/* Begin a walk over the children of the calling thread only, also those that have ended. The
 * time it takes depends on the number of children, not of processes in the system. NULL: this
 * kernel has no such list (CONFIG_PROC_CHILDREN), or /proc is not mounted. A child may be left out
 * when another one ends during the walk. */
FILE *cli_proc_open_children(void);

/* The next child; 0 at the end of the walk, which is closed then. */
pid_t cli_proc_next_child(FILE *children);

#endif
