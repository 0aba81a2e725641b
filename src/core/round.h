/* round.h - one pass over the nodes to win a majority.
 *
 *            START                    majority yes, validity left
 *   IDLE --------------> ASKING ---------------------------------------> WON
 *                          |                                              |
 *                          | majority impossible / deadline / CANCEL,     | CANCEL, or DELIVER when
 *                          | or a majority that came too late             | either is no longer so
 *                          v                                              |
 *                         LOST <------------------------------------------+
 *                         (release: every node that was asked but those that refused)
 *
 * With a fence a majority has to agree on it as well, which may take a second question [S12]. A
 * node gives one vote a round; a doubled one is ignored. Late votes are recorded: after a
 * win a yes strengthens it, after a loss there is nothing left to do for it, because the
 * release was sent behind the request on the same connection [S5, S6].
 */
#ifndef RLK_CORE_ROUND_H
#define RLK_CORE_ROUND_H

#include "core/event.h"
#include "core/fence.h"
#include "core/validity.h"

/* What stays the same for all rounds of an attempt. */
struct rlk_round_terms {
    unsigned nodes;           /* 1 to RLK_MAX_NODES */
    uint64_t lease_us;        /* rlk_validity_lease_us() */
    uint64_t min_validity_us; /* at least this must be left at a win; below lease_us */
    uint64_t timeout_us;      /* how long to wait for votes */
    bool fenced;              /* a yes brings a counter, and a majority agrees on the fence */
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
    uint64_t asked, connecting;
    uint64_t yes, no, unknown;
    uint64_t duplicates;    /* of the unknown: another address of a server that has voted [S10] */
    uint64_t quarantined;   /* of the unknown: granted, and not counted [S11] */
    uint64_t clock_suspect; /* their clocks cannot be relied on [S11] */
    struct rlk_fence fence;
    uint64_t started_us, deadline_us;
    uint64_t valid_until_us; /* WON: [S2] */
    uint64_t end_us[RLK_MAX_NODES];
};

/* Make `r` ready for START. */
void rlk_round_init(struct rlk_round *r);

/* limit_us: the round ends at this time even if votes are outstanding. The sets and the
 * deadline in `out` are written; the rest of it is left alone. */
void rlk_round_step(struct rlk_round *r, const struct rlk_round_terms *terms, uint64_t limit_us,
                    const struct rlk_event *ev, struct rlk_actions *out);

/* [S12] The nodes whose yes counts: with a fence, those that agree on it. */
uint64_t rlk_round_counted(const struct rlk_round *r);

/* So many nodes have refused that no majority is possible. */
bool rlk_round_is_refused(const struct rlk_round *r, unsigned nodes);

#endif
