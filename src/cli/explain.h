/* cli/explain.h - why a lock was not had, for people, and what to do about it. */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

struct redlock;
struct redlock_lock;

/* Say why an acquire failed; `lock` and `status` are those of its callback, from which this
 * is called. Returns the code to exit with. */
int cli_explain_failure(struct redlock *rl, const struct redlock_lock *lock, const char *key,
                        int status);

/* Say what a pending acquire waits for, if it is something that waiting may not mend, or if
 * the user likes to hear (--verbose). */
void cli_explain_waiting(struct redlock *rl, const struct redlock_lock *lock, const char *key);

/* Say that a majority has `done` it ("granted", "extended"), but too late to be of use. Returns
 * CLI_HELD. */
int cli_explain_slow(const char *done, const char *key);

/* Say that no majority of the masters was reached, and what is wrong with each. Returns
 * CLI_UNREACHABLE. */
int cli_explain_masters(struct redlock *rl);

/* "down", "up", ... for an enum redlock_node_state. */
const char *cli_explain_state(int state);

#endif
