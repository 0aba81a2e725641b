/* bid.h - the bids of candidates with a higher priority [L5].
 *
 * A bid is a lock on a key beside the election's, so a majority of the masters has it. A candidate
 * that cannot reach a majority cannot bid. The owner text is "bid PRIORITY ID". Every candidate
 * observes that key. A bid is only a reason to step aside; it makes nobody a leader.
 *
 * Anybody may call upon a candidate to lead: by a lock on the same key, with the owner text "call
 * ID". That candidate bids once, above all priorities, as soon as the call is released. So nothing
 * happens when it does not campaign, is not fit to lead, or cannot reach a majority. */
#ifndef RLK_ELECTION_BID_H
#define RLK_ELECTION_BID_H

#include <stdbool.h>
#include <stdint.h>

#include "election/terms.h"
#include "net/timers.h"
#include "net/turn.h"
#include "node/command.h"

struct rlk_bid;
struct rlk_observation;

/* What the election has to say, and hears. */
struct rlk_bid_hooks {
    /* Whether the candidate is fit to lead. It may call everything meanwhile. */
    bool (*is_healthy)(struct rlk_bid *b);
    /* Whether somebody with a higher priority bids, as the masters say now. */
    void (*observed)(struct rlk_bid *b, bool outranked);
    /* We are called upon to lead; or our bid for that is over. */
    void (*called)(struct rlk_bid *b, bool called);
    /* Our bid failed, or could not be made. */
    void (*failed)(struct rlk_bid *b, int status);
    /* Our bid was acquired, or there is none any more. The last thing that the bid does. */
    void (*settled)(struct rlk_bid *b);
};

struct rlk_bid {
    struct redlock *rl;
    const struct rlk_election_terms *terms;
    const struct rlk_bid_hooks *hooks;
    struct rlk_observation *observation;
    struct redlock_lock *lock; /* our bid: being acquired, or held; NULL: none */
    bool wanted;               /* we bid for leadership */
    bool called;               /* because we are called upon: above all priorities, and once */
    bool held;                 /* `lock` is held */
    uint64_t call_over_us;     /* when the call is over, if we could make no bid until then */
    struct rlk_call call;      /* begins to bid */
    struct rlk_timer timer;    /* begins to bid again */
    char key[REDLOCK_MAX_KEY + sizeof(RLK_COMMAND_BID)];
    char owner[REDLOCK_MAX_OWNER + 1];
};

/* Everything is borrowed. */
void rlk_bid_init(struct rlk_bid *b, struct redlock *rl, const struct rlk_election_terms *terms,
                  const struct rlk_bid_hooks *hooks);

/* Observe the bids of others. 0, or the status and text of the observation. */
int rlk_bid_begin(struct rlk_bid *b);

/* Bid for nothing and observe nothing any more. */
void rlk_bid_end(struct rlk_bid *b);

/* Begin no bid that is planned: the memory of the bid may be freed. */
void rlk_bid_stop(struct rlk_bid *b);

/* Bid for leadership from now on, or do not. called: as somebody who is called upon. */
void rlk_bid_want(struct rlk_bid *b, bool wanted, bool called);

#endif
