/* wait_model.h - what a waiter in the masters' lists may do, written again from docs/algorithm.md
 * ("Waiting") and not from core/waiting.c: which nodes it may ask and when, when a round may begin,
 * and until when it must do something. */
#ifndef RLK_TESTS_FUZZ_WAIT_MODEL_H
#define RLK_TESTS_FUZZ_WAIT_MODEL_H

#include "core/attempt.h"

struct wait_model {
    uint64_t subscribed; /* hosts that can wake us */
    uint64_t listed;     /* hosts whose last word was that they list us */
    uint64_t crossed;    /* hosts that announced the turn while a question was under way */
    uint64_t first;      /* hosts whose last word was that nobody is before us */
    uint64_t turn;       /* hosts whose last word was that it is our turn */
    uint64_t entered;    /* nodes whose list has us, unless an answer on its way says otherwise */
    uint64_t failed;     /* nodes that could not list us, at failed_us or before */
    uint64_t failed_us;
    uint64_t unlisted_us; /* since when too few hosts list us */
    uint64_t looked_us;   /* when a timer last made us ask */
    unsigned hints;       /* how many more looks events explain */
    bool checked;         /* we have looked, and no host has had news since */
    bool yields;          /* others go first, and no host has listed us yet */
};

/* A step that began or ended in a wait, or in a round. */
struct wait_step {
    const struct rlk_attempt *before, *after;
    const struct rlk_event *ev;
    const struct rlk_actions *out;
};

/* Whether the attempt waits in lists, and not only for the end of a back-off. */
bool wait_model_applies(const struct rlk_attempt *a);

void wait_model_follow(struct wait_model *m, const struct wait_step *s);

#endif
