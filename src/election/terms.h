/* terms.h - checks the options of an election, and translates them for its machine and its lock. */
#ifndef RLK_ELECTION_TERMS_H
#define RLK_ELECTION_TERMS_H

struct redlock;
struct redlock_election;
struct redlock_election_options;

/* Copy the caller's options, of whatever version, and everything that follows from them, into `e`,
 * whose `rl` is set. 0; or REDLOCK_EINVAL or REDLOCK_ETTL with a sentence for redlock_error_text().
 */
int rlk_election_check(struct redlock_election *e, const struct redlock_election_options *theirs);

#endif
