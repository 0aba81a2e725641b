/* round_model.h - what a round must do, written again from docs/algorithm.md and not from
 * core/round.c: slower, with plain counting and sorting, and one step behind the machine. */
#ifndef RLK_TESTS_FUZZ_ROUND_MODEL_H
#define RLK_TESTS_FUZZ_ROUND_MODEL_H

#include "core/round.h"

struct round_model {
    const struct rlk_round_terms *terms;
    enum rlk_round_state state;
    int status;             /* LOST: what the machine reported, if it is allowed */
    uint64_t asked, coming; /* coming: waited for, and not asked yet */
    uint64_t voted, yes, no, quarantined, clock_suspect;
    uint64_t started_us, deadline_us, until_us;
    uint64_t patience_us; /* with nodes that are being connected; RLK_NEVER: no limit */
    unsigned repeats;     /* how many times those that refused were asked again */
    uint64_t taken;       /* nodes that somebody else has, by their last answer that was not lost */
    uint64_t holder[64];  /* who */
    uint64_t asked_us[64];     /* the time of each request */
    uint64_t suspended_us[64]; /* for how long we were suspended since */
    /* With a fence: what each node gave, the fence that was chosen, and what the confirmations
     * were. */
    uint64_t counter[64], chosen;
    uint64_t asked_again, unconfirmed, confirmed;
};

void round_model_init(struct round_model *m, const struct rlk_round_terms *terms);

/* The machine was stepped with `ev` from `before` to `after` and asked for `out`. Both states must
 * be in memory that was all zero before the machine used it. */
void round_model_follow(struct round_model *m, uint64_t limit_us, const struct rlk_event *ev,
                        const struct rlk_round *before, const struct rlk_round *after,
                        const struct rlk_actions *out);

/* The smallest number of n nodes such that any two sets of that size share a node. */
unsigned round_model_majority(unsigned n);

/* Whether a win leaves enough validity at this moment. */
bool round_model_enough(const struct round_model *m, uint64_t now_us);

#endif
