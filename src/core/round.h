/* round.h - one pass over the nodes to win a majority.
 *
 *            START                    majority yes, validity left
 *   IDLE --------------> ASKING ---------------------------------------> WON
 *                          |                                              |
 *                          | majority impossible / deadline / CANCEL,     | CANCEL, or DELIVER when
 *                          | or too little validity left                  | the win no longer holds
 *                          v                                              |
 *                         LOST <------------------------------------------+
 *                         (release: every node that was asked, except those that refused)
 *
 * With a fencing token a majority must also agree on it, which may take a second question [S12]. A
 * node has one vote in a round; a second one is ignored. Late votes are recorded. A late yes makes
 * a win stronger. After a loss a late vote needs nothing, as the release was sent after the SET, on
 * the same connection [S5, S6]; it only completes what users are told about each node.
 *
 * A split vote: refusals made the majority impossible, but we lead (core/split.h). Then the round
 * keeps its votes, and asks the nodes that refused again, while the others release theirs. Only
 * these: their answers have proven that they do not have our token, so a node still sets it once at
 * most [S4].
 *
 * A round asks all nodes that are ready, and releases on all that it asked, voters or not; only
 * voters are counted. A node that is about to become a voter then has our key before it votes. */
#ifndef RLK_CORE_ROUND_H
#define RLK_CORE_ROUND_H

#include "core/event.h"
#include "core/fence.h"
#include "core/validity.h"

/* What stays the same for all rounds of an attempt. */
struct rlk_round_terms {
    const struct rlk_voters *voters; /* they may change between two steps */
    uint64_t lease_us;               /* rlk_validity_lease_us() */
    uint64_t min_validity_us;        /* the least validity of a win; below lease_us */
    uint64_t timeout_us;             /* how long to wait for votes */
    bool fenced;      /* a yes brings a counter, and a majority agrees on the fencing token */
    bool keeps_votes; /* after a split vote, if we lead */
};

enum rlk_round_state {
    RLK_ROUND_IDLE = 0,
    RLK_ROUND_ASKING,
    RLK_ROUND_WON,
    RLK_ROUND_LOST
};

struct rlk_round {
    enum rlk_round_state state;
    int status; /* LOST: REDLOCK_EHELD, _ENOQUORUM, _ETOOSLOW or _ECANCELED */
    uint64_t asked;
    uint64_t connecting;       /* waited for, to be asked when they are connected */
    uint64_t yes, no, unknown; /* of the asked: how they voted */
    uint64_t duplicates;       /* of the unknown: a second address of a server that voted [S10] */
    uint64_t quarantined;      /* of the unknown: granted the lock, but that does not count [S11] */
    uint64_t clock_suspect;    /* of the asked: their clocks cannot be relied on [S11] */
    struct rlk_fence fence;
    uint64_t started_us, deadline_us;
    uint64_t end_of_round_us; /* the deadline may come before that: it is for nodes that are being
                                 connected */
    unsigned asked_again;     /* how many times the nodes that refused were asked again */
    uint64_t valid_until_us;  /* WON: [S2] */
    uint64_t end_us[RLK_MAX_NODES];
    uint64_t held_by_others;        /* nodes that refused, and have not said anything else since */
    uint64_t holder[RLK_MAX_NODES]; /* of these: as in the event */
};

/* Make `r` ready for START. limit_us: it ends at this time at the latest; RLK_NEVER: no limit. */
void rlk_round_init(struct rlk_round *r, uint64_t limit_us);

/* Only the sets that the step fills are written in `out`, so the caller clears it first. The round
 * wants a TIMER at r->deadline_us. */
void rlk_round_step(struct rlk_round *r, const struct rlk_round_terms *terms,
                    const struct rlk_event *ev, struct rlk_actions *out);

/* [S12] The nodes whose yes counts if they are voters: with a fencing token, those that agree on
 * it. */
uint64_t rlk_round_counted(const struct rlk_round *r);

/* Whether the round was lost to refusals although a voter had voted yes. Others may have had the
 * same result, so all of them retry at different times. */
bool rlk_round_is_split(const struct rlk_round *r, const struct rlk_voters *voters);

/* Whether so many nodes have refused that no majority is possible. */
bool rlk_round_is_refused(const struct rlk_round *r, const struct rlk_voters *voters);

/* Whether the round would have been won if the nodes that replied with an error, or whose replies
 * were lost, had voted yes. Late votes count. */
bool rlk_round_is_lost_to_errors(const struct rlk_round *r, const struct rlk_voters *voters);

/* Whether somebody else may hold the lock: the nodes that refused us for one holder, and those
 * whose holder nobody knows, can be a majority. Nobody knows the holder at a node that has not
 * replied, is in quarantine (it may have lost another lock), or does not name the holder. With
 * several keys (one_key: false) the same goes for a node that refused: the key that it named may
 * hide another. */
bool rlk_round_may_be_held(const struct rlk_round *r, const struct rlk_voters *voters,
                           bool one_key);

/* The nodes whose last reply was a refusal. */
uint64_t rlk_round_refused_by(const struct rlk_round *r);

#endif
