/* keeper.h - the process that owns the masters of a sandbox, and removes them.
 *
 * It is an attendant (cli/system/attendant.h), and the masters are its children. When redlock
 * sandbox has ended in whatever way, and so has the supervisor of CMD, which keeps the life pipe
 * open until CMD is dead, the keeper kills the masters and every other server that listens in the
 * folder (cli/sandbox/folder.h), removes the folder, and exits. When the keeper is killed, the
 * kernel kills the masters, and redlock sandbox does the rest: both know the name of the folder
 * before it is made. It is not the supervisor, too: CMD is in the session of the terminal, and the
 * masters must not be.
 */
#ifndef CLI_SANDBOX_KEEPER_H
#define CLI_SANDBOX_KEEPER_H

#include "cli/sandbox/folder.h"
#include "cli/system/attendant.h"

struct cli_loop;
struct cli_signals;

struct cli_keeper {
    struct cli_attendant process; /* it reports '+' when all masters answer, or '-' and an error */
    char folder[CLI_FOLDER_PATH]; /* of the masters */
};

/* Fork the keeper of n masters. Returns CLI_OK; or says what is wrong and returns
 * CLI_INTERNAL. */
int cli_keeper_start(struct cli_keeper *keeper, const char *program, int n);

/* Run the loop until the masters answer. Returns CLI_OK; or CLI_SIGNALED + the number of a signal
 * that has ended the start; or says what is wrong and returns CLI_INTERNAL. */
int cli_keeper_await(const struct cli_keeper *keeper, struct cli_loop *loop,
                     struct cli_signals *signals);

/* Let the keeper remove everything, wait until it has exited, and remove what it has left. If the
 * folder cannot be removed, this says so. */
void cli_keeper_end(struct cli_keeper *keeper);

#endif
