/* keeper.h - the process that owns the masters of a sandbox, and removes them.
 *
 *   redlock sandbox --- pipe "life" --> keeper (in its own session)
 *        |          <-- pipe "report" --   |
 *       CMD                              masters (children of the keeper)
 *
 * Only redlock sandbox can write to the life pipe. When redlock sandbox ends in whatever way, also
 * by SIGKILL to its whole process group, the keeper reads the end of the pipe. Then it kills the
 * masters, and CMD's process group unless redlock sandbox had said that CMD has ended; it kills
 * every other server that listens in the folder (cli/sandbox/takedown.h), removes the folder, and
 * exits. When the keeper is killed, the kernel kills the masters, and redlock sandbox does the
 * rest: both know the name of the folder before it is made.
 */
#ifndef CLI_SANDBOX_KEEPER_H
#define CLI_SANDBOX_KEEPER_H

#include <sys/types.h>

#include "cli/sandbox/folder.h"

struct cli_loop;
struct cli_signals;

struct cli_keeper {
    pid_t pid;
    int life_fd;   /* our end of the life pipe */
    int report_fd; /* our end of the report pipe, not blocking: '+' when all masters answer, or '-'
                      and an error; then the end */
    char folder[CLI_FOLDER_PATH]; /* of the masters */
};

/* Fork the keeper of n masters. Returns CLI_OK; or says what is wrong and returns
 * CLI_INTERNAL. */
int cli_keeper_start(struct cli_keeper *keeper, const char *program, int n);

/* Run the loop until the masters answer. Returns CLI_OK; or CLI_SIGNALED + the number of a signal
 * that has ended the start; or says what is wrong and returns CLI_INTERNAL. */
int cli_keeper_await(const struct cli_keeper *keeper, struct cli_loop *loop,
                     struct cli_signals *signals);

/* Tell the keeper which process group to kill when redlock dies; 0: none. */
void cli_keeper_tell(const struct cli_keeper *keeper, pid_t group);

/* Let the keeper remove everything, wait until it has exited, and remove what it has left. If the
 * folder cannot be removed, this says so. */
void cli_keeper_end(struct cli_keeper *keeper);

#endif
