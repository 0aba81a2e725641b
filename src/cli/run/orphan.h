/* orphan.h - releases a lock whose redlock has died. The supervisor calls this when it has proved
 * that the command is dead. Otherwise everybody would wait for the ttl.
 *
 * fork() has given it all that it needs: the settings of the session, the keys and the token. It
 * makes connections of its own, and releases as `redlock release KEY --token TOKEN` does.
 *
 * What redlock sent before it died may bring the key back: a restore, or a vote. A master reads
 * what has reached it while it answers our handshake. For commands that were delayed longer, for
 * example by a lost packet, a second release follows a moment later. A command that arrives even
 * later leaves a key on its master for the rest of the ttl.
 */
#ifndef CLI_RUN_ORPHAN_H
#define CLI_RUN_ORPHAN_H

#include <stdint.h>

struct cli_keys;
struct cli_session;

struct cli_orphan {
    const struct cli_session *session; /* redlock's */
    const struct cli_keys *keys;
    const char *token;
    uint64_t keep_until_us; /* not before, by cli/system/clock.h (--at-least) */
};

/* Release the lock. Returns when a majority has replied twice; masters that are slower have had the
 * pause in between. A master that was away keeps the key until it expires. A timer of the kernel
 * ends the process after the ttl or 10 s, whichever comes first.
 *
 * memory_fd: the number that the session's password file in memory has here. */
void cli_orphan_release(const struct cli_orphan *orphan, uint32_t ttl_ms, int memory_fd);

#endif
