/* child.h - the command that redlock sandbox runs, as a shell runs a job.
 *
 *   START --fork--> RUNNING <--> STOPPED (Ctrl-Z: redlock stops with it)
 *                      |
 *                      v
 *                    ENDED (its exit code is known; others of its group may live on)
 *
 * It is the leader of a process group of its own, gets the terminal if redlock had it, and
 * is killed by the kernel should redlock die. It inherits the signal mask and dispositions
 * that redlock was started with.
 */
#ifndef CLI_SANDBOX_CHILD_H
#define CLI_SANDBOX_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

enum cli_child_state {
    CLI_CHILD_RUNNING,
    CLI_CHILD_STOPPED, /* by the terminal: Ctrl-Z, or it wanted to read in the background */
    CLI_CHILD_ENDED
};

struct cli_child {
    const char *name; /* its argv[0]; borrowed */
    pid_t pid;        /* also the number of its process group; 0: there is none */
    int code;         /* when it has ended: the code to exit with */
    enum cli_child_state state;
    int stop_signal;   /* what stopped it, when it is CLI_CHILD_STOPPED */
    int exec_fd;       /* where it writes the errno of an exec that failed */
    bool has_terminal; /* it was lent the terminal */
};

/* Start argv. Returns CLI_OK; or says why not and returns CLI_INTERNAL. That the command cannot be
 * run is told later, by cli_child_poll(). */
int cli_child_start(struct cli_child *child, char *const argv[]);

/* Send a signal to the whole group. */
void cli_child_signal(const struct cli_child *child, int signo);

/* Look, after SIGCHLD, what it does; says so if it could not be run. */
enum cli_child_state cli_child_poll(struct cli_child *child);

/* It is CLI_CHILD_STOPPED: give the terminal back and stop redlock's own group, too, so that
 * the shell sees its job stopped. Returns when that is continued. */
void cli_child_pause(struct cli_child *child);

/* After SIGCONT: let it go on, with the terminal if that is ours again. */
void cli_child_resume(struct cli_child *child);

#endif
