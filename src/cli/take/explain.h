/* explain.h - messages about a lock that was not acquired, and what to do about it. */
#ifndef CLI_TAKE_EXPLAIN_H
#define CLI_TAKE_EXPLAIN_H

#include <stdbool.h>

struct cli_found;
struct cli_keys;
struct cli_session;
struct redlock;
struct redlock_lock;

/* Say why an acquire failed. Call this from its callback, with the callback's `lock` and `status`;
 * for REDLOCK_ECONFIG `lock` may be NULL. Returns the code to exit with. */
int cli_explain_failure(struct cli_session *session, const struct redlock_lock *lock,
                        const struct cli_keys *keys, int status);

/* A lock was refused: say who holds it, who may hold it, or that nobody can. waited: we did. */
void cli_explain_found(const struct redlock *rl, const struct cli_found *found,
                       const struct cli_keys *keys, bool waited);

/* Say why a cancelled acquire had not succeeded yet. Call this from its callback. */
void cli_explain_reason(struct cli_session *session, const struct redlock_lock *lock,
                        const char *key);

/* Say that a pending acquire waits for masters. `lock` may be NULL. */
void cli_explain_waiting(struct cli_session *session, const struct redlock_lock *lock,
                         const char *key);

/* Say that a pending acquire waits for a key of another program (cli_holder_is_foreign()). */
void cli_explain_foreign(const struct redlock *rl, const struct redlock_lock *lock,
                         const char *key);

/* Say that a majority has `done` ("granted" or "extended") the lock, but too late. Returns
 * CLI_HELD. */
int cli_explain_slow(const char *done, const char *key);

#endif
