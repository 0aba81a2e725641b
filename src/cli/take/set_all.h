/* set_all.h - a lock that is left to the caller is left on every master that is up.
 *
 * The library decides as soon as a majority has answered. Its user goes on running the loop, and
 * the other masters get the key; a command that ends there would leave them without it, and the
 * lock would bear fewer failures than the masters can.
 */
#ifndef CLI_TAKE_SET_ALL_H
#define CLI_TAKE_SET_ALL_H

#include <stdint.h>

struct cli_session;
struct cli_signals;
struct redlock_lock;

/* Stay until every master that is up has the key of a held lock, at most --node-timeout; those that
 * are being connected get as long as the lock itself took, and at least a tenth of a second. No
 * wait is longer than a tenth of the ttl. A master without the key is asked to set it.
 *
 * signals  one that ends is the end of this, too; NULL: they are left alone.
 *
 * Returns CLI_GO_ON, whoever has the key then: look at the lock's validity; CLI_SIGNALED and the
 * number of a signal; or CLI_INTERNAL when the loop is broken, which was said. */
int cli_set_all(struct cli_session *session, struct redlock_lock *lock, uint32_t ttl_ms,
                struct cli_signals *signals);

#endif
