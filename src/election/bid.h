/* bid.h - the bids of candidates with a higher priority [L5].
 *
 * A bid is a lock on a key beside the election's, so a majority of the masters has it. A candidate
 * that cannot reach a majority cannot bid. The owner text is "bid PRIORITY ID". Every candidate
 * observes that key. A bid is only a reason to step aside; it makes nobody a leader. */
#ifndef RLK_ELECTION_BID_H
#define RLK_ELECTION_BID_H

#include <stdbool.h>

#include <redlock/lock.h>

#include "net/timers.h"
#include "net/turn.h"

/* The key of the bids: behind the name of the election. */
#define RLK_BID_KEY ":redlock-bid"

struct redlock_election;
struct rlk_observation;

struct rlk_bid {
    struct rlk_observation *observation;
    struct redlock_lock *lock; /* our bid: being acquired, or held; NULL: none */
    bool wanted;               /* we bid for leadership */
    bool held;                 /* `lock` is held */
    struct rlk_call call;      /* begins to bid */
    struct rlk_timer timer;    /* begins to bid again */
    char key[REDLOCK_MAX_KEY + sizeof(RLK_BID_KEY)];
    char owner[REDLOCK_MAX_OWNER + 1];
};

/* Make the names of our bid, from the name and the id of the election. */
void rlk_bid_init(struct redlock_election *e);

/* Observe the bids of others. 0, or the status and text of the observation. */
int rlk_bid_begin(struct redlock_election *e);

/* Bid for nothing and observe nothing any more. */
void rlk_bid_end(struct redlock_election *e);

/* Begin no bid that is planned: the memory of the election may be freed. */
void rlk_bid_stop(struct redlock_election *e);

/* Bid for leadership from now on, or do not. */
void rlk_bid_want(struct redlock_election *e, bool wanted);

#endif
