/* orphan.h - releases locks whose holder has died. Otherwise everybody would wait for the ttl.
 *
 *   - The supervisor calls this when redlock has died, and it has proved that the command is dead.
 *     fork() has given it all that it needs: the settings of the session, the keys and the token.
 *   - The companion calls this when a program on the library has died (companion/companion.c).
 *
 * It makes connections of its own, and releases as `redlock release KEY --token TOKEN` does.
 *
 * What the holder sent before it died may bring the key back: a restore, or a vote. A master reads
 * what has reached it while it answers our handshake. For commands that were delayed longer, for
 * example by a lost packet, a second release follows a moment later. A command that arrives even
 * later leaves a key on its master for the rest of the ttl.
 *
 * A master may refuse a release for now (MISCONF, NOREPLICAS), also after a majority has carried it
 * out. The library sends it again as long as the session is open.
 */
#ifndef CLI_RUN_ORPHAN_H
#define CLI_RUN_ORPHAN_H

#include <stddef.h>
#include <stdint.h>

struct cli_keys;
struct cli_session;

/* A lock to release. */
struct cli_orphan_lock {
    const char *const *keys;
    const size_t *key_lens; /* NULL: the keys are NUL terminated */
    size_t n_keys;
    const char *token;
};

/* Have the kernel end this process after the ttl or 10 s, whichever comes first. */
void cli_orphan_limit_time(uint32_t ttl_ms);

/* Release these locks. Returns when a majority has replied twice for each, and no connected master
 * has a release pending. Masters that are slower have had the pause in between. A master that was
 * away keeps the keys until they expire. */
void cli_orphan_release_all(const struct cli_orphan_lock *locks, size_t n,
                            struct cli_session *session);

struct cli_orphan {
    const struct cli_session *session; /* redlock's */
    const struct cli_keys *keys;
    const char *token;
    uint64_t keep_until_us; /* not before, by cli/system/clock.h: --at-least, or promised */
};

/* Release the lock of a redlock that has died, within the limit of time.
 *
 * memory_fd: the number that the session's password file in memory has here. */
void cli_orphan_release(const struct cli_orphan *orphan, uint32_t ttl_ms, int memory_fd);

#endif
