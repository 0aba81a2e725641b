/* descendants.h - sends a signal to all descendants of a process.
 *
 * A process can leave its process group and its session, but not its ancestors: when its parent
 * dies, it becomes a child of the nearest ancestor that is a child subreaper
 * (PR_SET_CHILD_SUBREAPER). So a subreaper finds all processes that it has started, directly or
 * indirectly, among its descendants.
 *
 * Descendants are found in /proc. If /proc is not mounted, none is found.
 */
#ifndef CLI_SYSTEM_DESCENDANTS_H
#define CLI_SYSTEM_DESCENDANTS_H

#include <sys/types.h>

struct cli_descendants {
    int reached; /* how many processes got the signal */
    int refused; /* how many processes we may not send signals to, as they run as another user */
};

/* Send `signo` (0: send nothing, only count) to each living descendant of `root`, but not to `root`
 * itself; with a `group` above 0 only to those in this process group, with one below 0 only to
 * those that are not in the process group -group. Processes that are started meanwhile get SIGKILL
 * and SIGSTOP, too, but no signal that can be caught: a process that was told to end may start
 * another one to clean up. A process that got the id of a dead descendant gets nothing.
 *
 * `root` is the caller or a child that it has not waited for; 0 has no descendants. */
struct cli_descendants cli_descendants_signal(pid_t root, pid_t group, int signo);

/* Reap the children that have ended, but not `kept`. */
void cli_descendants_reap(pid_t kept);

#endif
