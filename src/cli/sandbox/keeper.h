/* keeper.h - the process that owns the masters of a sandbox, and takes them away.
 *
 *   redlock sandbox --- pipe "life" --> keeper (a session of its own)
 *        |          <-- pipe "report" --   |
 *       CMD                              masters (children of the keeper)
 *
 * The life pipe has one writer, redlock sandbox. When that ends, in whatever way, be it
 * SIGKILL to its whole process group, the keeper reads the end of the pipe: it kills the
 * masters and, unless redlock sandbox had said that CMD has ended, CMD's process group; it
 * takes down what else listens in the folder (cli/sandbox/takedown.h), removes that, and goes.
 * Should the keeper be killed, the kernel kills the masters, and redlock sandbox takes down the
 * rest: both know the folder's name before it is made.
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
                      and why there are none; then its end */
    char folder[CLI_FOLDER_PATH]; /* of the masters */
};

/* Fork the keeper of n masters. Returns CLI_OK; or says what is wrong and returns
 * CLI_INTERNAL. */
int cli_keeper_start(struct cli_keeper *keeper, const char *program, int n);

/* Run the loop until the masters answer. Returns CLI_OK; or CLI_SIGNALED and the number of a signal
 * that has ended the start; or says why there are none and returns CLI_INTERNAL. */
int cli_keeper_await(const struct cli_keeper *keeper, struct cli_loop *loop,
                     struct cli_signals *signals);

/* Say which process group is to be killed should we die, 0 for none. */
void cli_keeper_tell(const struct cli_keeper *keeper, pid_t group);

/* Let the keeper take everything away, wait until it has, and take away what it has left. Says so
 * when the folder cannot be removed. */
void cli_keeper_end(struct cli_keeper *keeper);

#endif
