/* attempt_story.h - the steps of stories of an attempt: its rounds, on three nodes unless a story
 * says otherwise, and its waits.
 *
 * Times are counted from T0, when the attempt begins. */
#ifndef RLK_TESTS_UNIT_ATTEMPT_STORY_H
#define RLK_TESTS_UNIT_ATTEMPT_STORY_H

#include <check.h>

#include "core/attempt.h"
#include "lib/story.h"

#define T0 UINT64_C(1000000)
#define LEASE UINT64_C(9898000)
#define MIN_LEFT UINT64_C(1000000)
#define TIMEOUT UINT64_C(500000)

struct world {
    struct rlk_voters voters; /* size 0: all three nodes */
    struct rlk_attempt_config c;
    struct rlk_attempt a;
    struct rlk_actions out;
    bool full;                         /* the nodes have no room */
    uint64_t down;                     /* these voters cannot be asked */
    uint64_t others;                   /* these nodes can, and have no vote */
    bool behind, yield;                /* what START says, and CONTEND */
    uint64_t subscribable, subscribed; /* the nodes that can list us, and that can wake us */
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
    struct step steps[40];
};

/* One round, without retries; with CONFIG(wait_us, RLK_NEVER) as many rounds as it needs. */
struct rlk_attempt_config attempt_config(void);

/* With attempt_config(), unless steps before TRY change it. */
void attempt_tell(const struct story *story);
void attempt_play(struct world *w, const struct step *steps);

#define PLAY(w, ...) attempt_play((w), (const struct step[]){__VA_ARGS__, {.take = NULL}})

/* What the steps do. */
void attempt_begin(struct world *w, const struct step *s);
void attempt_event(struct world *w, const struct step *s);
void attempt_event_of_each(struct world *w, const struct step *s);
void attempt_wake(struct world *w, const struct step *s);
void attempt_set(struct world *w, const struct step *s);
void attempt_expect(struct world *w, const struct step *s);

#define SET(member, x)                                                                             \
    STEP(.take = attempt_set, .field = STORY_FIELD(struct world, member), .value = (x))
#define CONFIG(member, x) SET(c.member, x)
#define TRY STEP(.take = attempt_begin)

#define EVENT(time, k, ...)                                                                        \
    STEP(.take = attempt_event, .ev = {.kind = RLK_EVENT_##k, .now_us = T0 + (time), __VA_ARGS__})
#define EVENT_OF_EACH(time, mask, k, ...)                                                          \
    STEP(.take = attempt_event_of_each, .nodes = (mask),                                           \
         .ev = {.kind = RLK_EVENT_##k, .now_us = T0 + (time), __VA_ARGS__})
#define TIMER(time) EVENT(time, TIMER, .ready = 0)
#define WAKE STEP(.take = attempt_wake) /* when the attempt wants to be woken */
#define VOTERS(time, mask, n)                                                                      \
    SET(voters.set, mask), SET(voters.size, n), EVENT(time, VOTERS, .node = 0)
#define DEQUEUED(time) SET(full, false), EVENT(time, DEQUEUED, .ready = 0)
#define CANCEL(time) EVENT(time, CANCEL, .node = 0)
#define DELIVER(time) EVENT(time, DELIVER, .node = 0)
#define SUSPENDED(time, by) EVENT(time, SUSPENDED, .by_us = (by))

/* A vote in the present round, or in an earlier one. The votes have fences: 3 of node 0, 4 of node
 * 1, ... */
#define VOTE(time, mask, v) EVENT_OF_EACH(time, mask, VOTE, .vote = RLK_VOTE_##v)
#define VOTE_IN(n, time, mask, v)                                                                  \
    EVENT_OF_EACH(time, mask, VOTE, .vote = RLK_VOTE_##v, .round = (n))
#define LOSE(time) VOTE(time, 0x3, NO)
#define SUSPECT(time, mask) EVENT_OF_EACH(time, mask, CLOCK_SUSPECT, .by_us = 0)

#define IS(member, x)                                                                              \
    STEP(.take = attempt_expect, .field = STORY_FIELD(struct world, member), .value = (x))
#define ASKING IS(a.state, RLK_ATTEMPT_ASKING)
#define WAITING IS(a.state, RLK_ATTEMPT_WAITING)
#define QUEUED IS(a.state, RLK_ATTEMPT_QUEUED)
#define WON IS(a.state, RLK_ATTEMPT_WON)
#define HELD IS(a.state, RLK_ATTEMPT_HELD)
#define FAILED(why)                                                                                \
    IS(a.state, RLK_ATTEMPT_FAILED), IS(a.status, REDLOCK_##why), IS(out.report, true)
#define REASON(why) IS(a.reason, REDLOCK_##why)
#define DUE(time) IS(out.deadline_us, T0 + (time))

#endif
