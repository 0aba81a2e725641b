/* descendants.h - signals to all processes that descend from one.
 *
 * A process can leave its process group and its session, but not its parents: when one of these
 * dies, it becomes a child of the nearest ancestor that is a child subreaper
 * (PR_SET_CHILD_SUBREAPER). So whoever is one still finds everybody that it has started, or that
 * was started for it, among its descendants.
 *
 * They are found in /proc. Where that is not mounted nobody is found.
 */
#ifndef CLI_SYSTEM_DESCENDANTS_H
#define CLI_SYSTEM_DESCENDANTS_H

#include <sys/types.h>

struct cli_descendants {
    int reached; /* how many processes got the signal */
    int refused; /* how many we may not send signals to: they run as another user */
};

/* Send `signo` (0: none, they are counted only) to each living descendant of `root`, but not to
 * `root` itself; with a `group` other than 0 only to those in this process group. Who is started
 * meanwhile gets it, too. A number that belongs to another process by now gets nothing.
 *
 * `root` is us or a child that we have not waited for; 0 has no descendants. */
struct cli_descendants cli_descendants_signal(pid_t root, pid_t group, int signo);

/* Reap our children that have ended, but not `kept`. */
void cli_descendants_reap(pid_t kept);

#endif
