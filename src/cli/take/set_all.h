/* set_all.h - sets the key of a held lock on every master that is up, before redlock exits.
 *
 * The library decides as soon as a majority has answered. Usually its user goes on running the
 * loop, and the other masters get the key later. A command that exits at once would leave them
 * without the key, and the lock could tolerate fewer failures of masters.
 */
#ifndef CLI_TAKE_SET_ALL_H
#define CLI_TAKE_SET_ALL_H

#include <stdint.h>

struct cli_session;
struct cli_signals;
struct redlock_lock;

/* Run the loop until every master that is up has the key of a held lock, at most for
 * --node-timeout. Wait for masters that are being connected as long as the acquire took, but at
 * least 100 ms. No wait is longer than a tenth of the ttl. A master without the key is asked to set
 * it.
 *
 * signals  a signal that asks for an end (cli_signals_ends()) ends the wait, too; NULL: signals are
 * not handled.
 *
 * Returns CLI_GO_ON, also when the lock was lost meanwhile: check its validity; CLI_SIGNALED + the
 * number of a signal; or CLI_INTERNAL when the loop failed, which was reported. */
int cli_set_all(struct cli_session *session, struct redlock_lock *lock, uint32_t ttl_ms,
                struct cli_signals *signals);

#endif
