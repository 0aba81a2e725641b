/* hold_story.h - the steps of stories of a held lock.
 *
 * A time in a step is counted from the begin of the last renewal; before the first renewal, from
 * T0, when the lock was won. */
#ifndef RLK_TESTS_UNIT_HOLD_STORY_H
#define RLK_TESTS_UNIT_HOLD_STORY_H

#include "hold_world.h"
#include "lib/story.h"

#define LEASE_OF(ttl_us) ((ttl_us) - (ttl_us) / 100 - 2000)

struct step {
    void (*take)(struct world *w, const struct step *s);
    struct rlk_event ev; /* its time: counted from w->at_us */
    uint64_t nodes;
    uint64_t yes, no, quarantined;
    struct story_field field;
    uint64_t value;
    uint64_t up_to; /* with value: a range */
};

struct story {
    const char *claim;
    struct step steps[24];
};

/* With config(), unless steps before HOLD change it. */
void hold_tell(const struct story *story);
void hold_play(struct world *w, const struct step *steps);

#define PLAY(w, ...) hold_play((w), (const struct step[]){__VA_ARGS__, {.take = NULL}})

/* What the steps do. */
void hold_win(struct world *w, const struct step *s);
void hold_event(struct world *w, const struct step *s);
void hold_event_of_each(struct world *w, const struct step *s);
void hold_wake(struct world *w, const struct step *s);
void hold_begin_renewal(struct world *w, const struct step *s);
void hold_renew(struct world *w, const struct step *s);
void hold_queue_up(struct world *w, const struct step *s);
void hold_be_silent(struct world *w, const struct step *s);
void hold_set(struct world *w, const struct step *s);
void hold_expect(struct world *w, const struct step *s);
void hold_expect_due(struct world *w, const struct step *s);
void hold_expect_valid(struct world *w, const struct step *s);

#define SET(member, x)                                                                             \
    STEP(.take = hold_set, .field = STORY_FIELD(struct world, member), .value = (x))
#define CONFIG(member, x) SET(c.member, x)

/* Won by all nodes; by some of them; with some votes from nodes in quarantine. */
#define HOLD STEP(.take = hold_win, .yes = UINT64_MAX)
#define HOLD_BY(y, n) STEP(.take = hold_win, .yes = (y), .no = (n))
#define HOLD_QUARANTINED(y, q) STEP(.take = hold_win, .yes = (y), .quarantined = (q))

#define EVENT(time, k, ...)                                                                        \
    STEP(.take = hold_event, .ev = {.kind = RLK_EVENT_##k, .now_us = (time), __VA_ARGS__})
#define EVENT_OF_EACH(time, mask, k, ...)                                                          \
    STEP(.take = hold_event_of_each, .nodes = (mask),                                              \
         .ev = {.kind = RLK_EVENT_##k, .now_us = (time), __VA_ARGS__})
#define TIMER(time) EVENT(time, TIMER, .ready = 0)
#define EXTEND(time, ttl) EVENT(time, EXTEND, .ttl_us = (ttl))
#define HEARTBEAT(time) EVENT(time, HEARTBEAT, .node = 0)
#define VOTERS(time, mask, n)                                                                      \
    SET(voters.set, mask), SET(voters.size, n), EVENT(time, VOTERS, .node = 0)
#define DEQUEUED(time) SET(full, false), EVENT(time, DEQUEUED, .ready = 0)
#define SUSPENDED(time, by) EVENT(time, SUSPENDED, .by_us = (by))
#define ANSWER(time, mask, a) EVENT_OF_EACH(time, mask, KEPT, .answer = RLK_ANSWER_##a)
#define SUSPECT_ANSWER(time, mask)                                                                 \
    EVENT_OF_EACH(time, mask, KEPT, .answer = RLK_ANSWER_OURS, .clock_suspect = true)
#define VOTE(time, mask, v) EVENT_OF_EACH(time, mask, VOTE, .vote = RLK_VOTE_##v)
#define SUSPECT(time, mask) EVENT_OF_EACH(time, mask, CLOCK_SUSPECT, .by_us = 0)
#define DATA_REPLACED(time, mask) EVENT_OF_EACH(time, mask, QUARANTINED, .data_replaced = true)

#define WAKE STEP(.take = hold_wake)             /* when the hold wants to be woken */
#define RENEWAL STEP(.take = hold_begin_renewal) /* likewise, and some nodes are asked */
#define RENEWED STEP(.take = hold_renew)         /* likewise, and they confirm */
#define QUEUED STEP(.take = hold_queue_up)       /* likewise, and the nodes have no room */
/* From here on no node is up; the lock is lost at this time. */
#define SILENCE(time) STEP(.take = hold_be_silent, .value = (time))

#define IS(member, x)                                                                              \
    STEP(.take = hold_expect, .field = STORY_FIELD(struct world, member), .value = (x))
#define VALID(time) IS(valid_us, time)
#define INVALID IS(is_valid, false)
#define VALID_AT_LEAST(time) STEP(.take = hold_expect_valid, .value = (time))
#define DUE(time) DUE_BETWEEN(time, time)
#define DUE_BETWEEN(from, to) STEP(.take = hold_expect_due, .value = (from), .up_to = (to))
#define NEVER_DUE IS(out.deadline_us, RLK_NEVER)
#define COUNTED(mask) IS(h.leases.counted, mask)
#define PRESENT(mask) IS(h.leases.present, mask)
#define HELD IS(h.state, RLK_HOLD_HELD)
#define LOST(why) IS(h.state, RLK_HOLD_LOST), IS(h.reason, REDLOCK_##why)
#define TROUBLE(why) HELD, IS(h.reason, REDLOCK_##why)
#define NO_TROUBLE HELD, IS(h.reason, 0)
#define EXTENDED(result) IS(extended, 1), IS(h.extend_status, REDLOCK_##result)

#endif
