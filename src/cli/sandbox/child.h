/* child.h - the command of redlock sandbox, run as a shell runs a job.
 *
 *   START --fork--> RUNNING <--> STOPPED (Ctrl-Z: redlock stops with it)
 *                      |
 *                      v
 *                    ENDED (its exit code is known; other processes of its group may live on)
 *
 * The command leads its own process group, and gets the terminal if redlock had it. The kernel
 * kills it when redlock dies. It inherits the signal mask and the signal actions that redlock was
 * started with.
 */
#ifndef CLI_SANDBOX_CHILD_H
#define CLI_SANDBOX_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

enum cli_child_state {
    CLI_CHILD_RUNNING,
    CLI_CHILD_STOPPED, /* by the terminal: Ctrl-Z, or it read in the background */
    CLI_CHILD_ENDED
};

struct cli_child {
    const char *name; /* its argv[0]; borrowed */
    pid_t pid;        /* also the id of its process group; 0: not started */
    int code;         /* when it has ended: the code to exit with */
    enum cli_child_state state;
    int stop_signal;   /* the signal that stopped it, when it is CLI_CHILD_STOPPED */
    int exec_fd;       /* the pipe in which it writes the errno of a failed exec */
    bool has_terminal; /* it has been given the terminal */
};

/* Start argv. Returns CLI_OK; or says what is wrong and returns CLI_INTERNAL. A failed exec is
 * reported later, by cli_child_poll(). */
int cli_child_start(struct cli_child *child, char *const argv[]);

/* Send a signal to the whole group. */
void cli_child_signal(const struct cli_child *child, int signo);

/* Update and return the state of the command, after SIGCHLD. If it could not be run, this says so.
 */
enum cli_child_state cli_child_poll(struct cli_child *child);

/* When the command is CLI_CHILD_STOPPED: take the terminal back and stop redlock's own group, too,
 * so that the shell sees its job stopped. Returns when redlock is continued. */
void cli_child_pause(struct cli_child *child);

/* After SIGCONT: continue the command, with the terminal if redlock has it again. */
void cli_child_resume(struct cli_child *child);

#endif
