/* orphan.h - releases a lock whose redlock has died, when its command is proved dead. The
 * supervisor does that: without it everybody would wait for the ttl.
 *
 * All that it needs is in the memory that it has from redlock by fork(): the settings of the
 * session, the keys and the token. It connects anew, and releases as `redlock release KEY --token
 * TOKEN` does.
 *
 * What redlock had sent before it died may bring the key back: a lock is restored on a master that
 * lost it, and a vote may still be on its way. A master reads all that has reached it while it
 * answers our handshake. For what was delayed longer, as by a lost packet, the release is said once
 * more a moment later. What is later still leaves a key on this master, for the rest of the ttl.
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

/* Release the lock. Returns when it is released, and masters that are slower than a majority have
 * had a moment. A master that was away, or whose old connection was slow, keeps the key until it
 * expires. A timer of the kernel ends the process after the ttl or 10 s, whichever comes first, so
 * that it is in nobody's way. memory_fd: the number that the session's password file in memory has
 * here. */
void cli_orphan_release(const struct cli_orphan *orphan, uint32_t ttl_ms, int memory_fd);

#endif
