/* hold_model.h - what a hold must do, written again from the rules [S2, S3, S7, S8, S9, S11] and
 * not from core/hold.c and core/leases.c. It keeps for each node when that was first known to have
 * our key, and what it was asked last; the rest is counted and sorted from that at each step. */
#ifndef RLK_TESTS_FUZZ_HOLD_MODEL_H
#define RLK_TESTS_FUZZ_HOLD_MODEL_H

#include "core/hold.h"

struct hold_model_node {
    bool touched, restored; /* may have our key; was asked to set it again, ever */
    bool open, keep;        /* an answer is outstanding; it is one to an extension */
    unsigned round;         /* the end by the last extension of the node */
    uint64_t asked_us;      /* the end that the outstanding answer brings */
    unsigned since; /* the step that proved that the node has our key, and from which it can be
                       relied on; 0: no step has */
    uint64_t end_us;
    bool data_replaced; /* the data of the node, since the last success */
    bool clock_suspect; /* the clock of the node cannot be relied on: it does not count */
    unsigned kept,
        taken; /* the last round in which the node counted; in which it had another's key */
};

struct hold_model {
    struct rlk_hold_config config;
    const struct rlk_voters *present; /* the machine's */
    struct rlk_voters voters;         /* the same, as of the last VOTERS */
    struct hold_model_node node[64];
    unsigned step, success_step; /* nodes that were known to have the key by this step count */
    unsigned round;              /* 0: the win */
    bool success, waiting, by_itself, restored;
    uint64_t held_us, begun_us, renew_us;
    uint64_t asked_from_us; /* begun_us, by the clock that was suspended */
    uint64_t round_ttl_us, wanted_ttl_us;
    unsigned failures, renewals, successes;
    bool lost, trouble, extending, extend_next, had_heartbeat, paid, waits, credited;
    bool queued; /* something is due, and waits for room */
    unsigned reported_lost, reported_extended, asked_extended;
};

/* The machine was started, and asked for `out`. Its memory must be all zero before it is
 * initialised, also below. */
void hold_model_start(struct hold_model *m, const struct rlk_hold_config *config,
                      const struct rlk_voters *voters, const struct rlk_round *won, uint64_t now_us,
                      const struct rlk_hold *after, const struct rlk_actions *out);

/* The machine was stepped with `ev` from `before` to `after`, and asked for `out`. */
void hold_model_follow(struct hold_model *m, const struct rlk_event *ev,
                       const struct rlk_hold *before, const struct rlk_hold *after,
                       const struct rlk_actions *out);

/* Until when a majority can be relied on; 0: no majority can. */
uint64_t hold_model_until(const struct hold_model *m);

#endif
