/* round_story.h - the steps of stories of one round: who votes, and how the round ends.
 *
 * Times are counted from T0, when the round begins. A step without a time happens 100 us later. */
#ifndef RLK_TESTS_UNIT_ROUND_STORY_H
#define RLK_TESTS_UNIT_ROUND_STORY_H

#include <check.h>

#include "core/round.h"
#include "lib/story.h"

#define T0 UINT64_C(1000000)
#define LEASE UINT64_C(9898000)
#define MIN_LEFT UINT64_C(1000000)
#define TIMEOUT UINT64_C(500000)

struct world {
    struct rlk_voters voters;
    struct rlk_round_terms terms;
    struct rlk_round round;
    struct rlk_actions out;
    uint64_t counted; /* rlk_round_counted() */
    bool refused;     /* rlk_round_is_refused() */
    bool split;       /* rlk_round_is_split() */
    unsigned step;
};

struct step {
    void (*take)(struct world *w, const struct step *s);
    struct rlk_event ev;
    uint64_t nodes;
    struct story_field field;
    uint64_t value;
};

struct story {
    const char *claim;
    struct step steps[24];
};

/* All nodes are ready, and all are asked. */
void round_start(struct world *w, unsigned n);
void round_vote(struct world *w, unsigned node, enum rlk_vote v);

void round_play(struct world *w, const struct step *steps);
void round_tell(const struct story *story);

#define PLAY(w, ...) round_play((w), (const struct step[]){__VA_ARGS__, {.take = NULL}})

/* What the steps do. */
void round_begin(struct world *w, const struct step *s);
void round_event(struct world *w, const struct step *s);
void round_event_of_each(struct world *w, const struct step *s);
void round_set(struct world *w, const struct step *s);
void round_expect(struct world *w, const struct step *s);

#define EVENT(...) STEP(.take = round_event, .ev = {__VA_ARGS__})
#define EVENT_OF_EACH(mask, ...)                                                                   \
    STEP(.take = round_event_of_each, .nodes = (mask), .ev = {__VA_ARGS__})

#define TERMS(n) STEP(.take = round_begin, .nodes = (n)) /* nobody is asked yet */
#define START_WITH(n, is_ready, is_connecting)                                                     \
    TERMS(n), EVENT(.kind = RLK_EVENT_START, .now_us = T0, .ready = (is_ready),                    \
                    .connecting = (is_connecting))
#define START(n) START_WITH(n, (UINT64_C(1) << (n)) - 1, 0)
#define AT(time, k, ...) EVENT(.kind = RLK_EVENT_##k, .now_us = T0 + (time), __VA_ARGS__)
#define VOTE(mask, v) EVENT_OF_EACH(mask, .kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_##v)
#define VOTE_AT(time, mask, v)                                                                     \
    EVENT_OF_EACH(mask, .kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_##v, .now_us = T0 + (time))
#define YES(i, n) EVENT(.kind = RLK_EVENT_VOTE, .node = (i), .vote = RLK_VOTE_YES, .fence = (n))
#define NO_BY(mask, value)                                                                         \
    EVENT_OF_EACH(mask, .kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_NO, .holder = (value))
#define CONFIRM(i, a) EVENT(.kind = RLK_EVENT_CONFIRM, .node = (i), .answer = RLK_ANSWER_##a)
#define UP(time, i) AT(time, NODE_UP, .node = (i))
#define DOWN(time, i) AT(time, NODE_DOWN, .node = (i))
#define TIMER(time) AT(time, TIMER, .ready = 0)
#define VOTERS(time, mask, n)                                                                      \
    SET(voters.set, mask), SET(voters.size, n), AT(time, VOTERS, .node = 0)
#define CANCEL(time) AT(time, CANCEL, .node = 0)
#define DELIVER(time) AT(time, DELIVER, .node = 0)
#define SUSPECT(mask) EVENT_OF_EACH(mask, .kind = RLK_EVENT_CLOCK_SUSPECT)
#define QUARANTINE(mask) EVENT_OF_EACH(mask, .kind = RLK_EVENT_QUARANTINED)
#define SUSPENDED(time) EVENT(.kind = RLK_EVENT_SUSPENDED, .by_us = (time))

#define SET(member, x)                                                                             \
    STEP(.take = round_set, .field = STORY_FIELD(struct world, member), .value = (x))
#define IS(member, x)                                                                              \
    STEP(.take = round_expect, .field = STORY_FIELD(struct world, member), .value = (x))
#define ASKING IS(round.state, RLK_ROUND_ASKING)
#define WON IS(round.state, RLK_ROUND_WON)
#define LOST(why, mask)                                                                            \
    IS(round.state, RLK_ROUND_LOST), IS(round.status, REDLOCK_##why), IS(out.release, mask)
#define VALID(time) IS(round.valid_until_us, T0 + (time))

#endif
