/* observe.h - what the masters say of who leads becomes events for the machine of an election, and
 * news for the application. */
#ifndef RLK_ELECTION_OBSERVE_H
#define RLK_ELECTION_OBSERVE_H

struct redlock_election;

/* Begin to observe, if the application or the machine wants to know. 0, REDLOCK_ENOMEM or
 * REDLOCK_ELIMIT. */
int rlk_election_observe(struct redlock_election *e);

/* Observe no more. */
void rlk_election_unobserve(struct redlock_election *e);

#endif
