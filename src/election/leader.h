/* leader.h - who leads, as the masters say. */
#ifndef RLK_ELECTION_LEADER_H
#define RLK_ELECTION_LEADER_H

struct redlock_election;

/* Begin to observe, if the application wants to know. 0, REDLOCK_ENOMEM or REDLOCK_ELIMIT. */
int rlk_leader_observe(struct redlock_election *e);

/* Tell the application what was heard last, unless that has to wait for the beginning or the end of
 * its own leadership. */
void rlk_leader_tell(struct redlock_election *e);

/* Observe no more. */
void rlk_leader_forget(struct redlock_election *e);

#endif
