/* trouble.h - messages about trouble with a lock that is held. */
#ifndef CLI_TAKE_TROUBLE_H
#define CLI_TAKE_TROUBLE_H

#include <stdint.h>

struct cli_session;
struct redlock;
struct redlock_lock;
struct redlock_notice;

/* Say that the renewal of a lock is in trouble, after a REDLOCK_NOTICE_TROUBLE. */
void cli_trouble_notice(const struct redlock *rl, const struct redlock_lock *lock, const char *key,
                        const struct redlock_notice *notice);

/* Say, in one line, that a renewal has failed, what ends when, and which masters did not confirm
 * it. what: "the lock", or "leadership", which ends before the lock. */
void cli_trouble_say(const struct redlock *rl, const struct redlock_lock *lock, const char *key,
                     const char *what, uint64_t left_ms);

/* Say that a lock was lost before its end, and which masters no longer have it. */
void cli_trouble_lost(const struct redlock *rl, const struct redlock_lock *lock, const char *key);

/* Say why no majority of the masters has extended a lock. Call this from the callback, with its
 * `lock`. Returns CLI_UNREACHABLE. */
int cli_trouble_extend(struct cli_session *session, const struct redlock_lock *lock,
                       const char *key);

#endif
