/* test_observer.c - when an observer looks at which master, and when it reports [O1 to O6]. */
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/observer.h"
#include "lib/story.h"
#include "lib/test.h"
#include "lib/voters.h"

SUITE("observer");

#define T0 UINT64_C(1000000)
#define TIMEOUT UINT64_C(500000)
#define FAR UINT64_C(3600000000)

struct world {
    struct rlk_voters voters;
    struct rlk_observer o;
    struct rlk_prng prng;
    struct rlk_actions out;
    unsigned nodes;
    uint64_t looks;   /* that were asked for since the last LOOKS */
    uint64_t reports; /* how many there were */
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
    struct step steps[80];
};

static bool is_same(const struct rlk_observer_state *a, const struct rlk_observer_state *b)
{
    return a->kind == b->kind && a->value == b->value && a->fence == b->fence;
}

/* What is to be reported is delivered at once. */
static void step(struct world *w, struct rlk_event ev)
{
    struct rlk_observer_state before = w->o.reported;
    bool is_timer = ev.kind == RLK_EVENT_TIMER;

    rlk_observer_step(&w->o, &ev, &w->prng, &w->out);
    w->looks |= w->out.look;
    if (w->out.report) {
        ev.kind = RLK_EVENT_DELIVER;
        rlk_observer_step(&w->o, &ev, &w->prng, &w->out);
        ck_assert(w->out.report && !is_same(&before, &w->o.reported));
        w->reports++;
    }
    ck_assert_msg(!is_timer || w->out.deadline_us > ev.now_us, "step %u", w->step);
}

static void start(struct world *w, unsigned nodes, uint64_t ready)
{
    *w = (struct world){.nodes = nodes, .voters = *all_voters(nodes)};
    rlk_prng_seed(&w->prng, 1);
    rlk_observer_init(&w->o, &w->voters, TIMEOUT);
    step(w, (struct rlk_event){.kind = RLK_EVENT_START, .now_us = T0, .ready = ready});
}

static void take_start(struct world *w, const struct step *s)
{
    start(w, (unsigned)s->value, s->nodes);
}

static void take_event(struct world *w, const struct step *s)
{
    uint64_t left = s->nodes;
    struct rlk_event ev = s->ev;

    RLK_MASK_EACH (ev.node, left) {
        step(w, ev);
    }
}

static void take_voters(struct world *w, const struct step *s)
{
    w->voters = (struct rlk_voters){s->nodes, (unsigned)s->value};
}

static void take_wake(struct world *w, const struct step *s)
{
    (void)s;
    step(w, (struct rlk_event){.kind = RLK_EVENT_TIMER, .now_us = w->out.deadline_us});
}

static void take_check(struct world *w, const struct step *s)
{
    story_expect(w, &s->field, s->value, w->step);
}

static void take_looks(struct world *w, const struct step *s)
{
    ck_assert_msg(w->looks == s->nodes, "step %u: looks at %#llx instead of %#llx", w->step,
                  (unsigned long long)w->looks, (unsigned long long)s->nodes);
    w->looks = 0;
}

#define START(n, ready) STEP(.take = take_start, .nodes = (ready), .value = (n))
#define EVENT(time, mask, k, ...)                                                                  \
    STEP(.take = take_event, .nodes = (mask),                                                      \
         .ev = {.kind = RLK_EVENT_##k, .now_us = T0 + (time), __VA_ARGS__})
#define SAYS(time, mask, ...) EVENT(time, mask, LOOKED, .look = {.answered = true, __VA_ARGS__})
#define HOLDER(time, mask, v, left, count)                                                         \
    SAYS(time, mask, .held = true, .value = (v), .ttl_us = (left), .counter = (count),             \
         .hears = true)
#define FREE(time, mask) SAYS(time, mask, .hears = true)
#define LOST(time, mask) EVENT(time, mask, LOOKED, .look = {.answered = false})
#define UNSENT(time, mask) EVENT(time, mask, LOOKED, .look = {.unsent = true})
#define HINT(time, mask) EVENT(time, mask, CHANGED, .by_us = 0)
#define TIMER(time) EVENT(time, 1, TIMER, .by_us = 0)
#define VOTERS(time, mask, n)                                                                      \
    STEP(.take = take_voters, .nodes = (mask), .value = (n)), EVENT(time, 1, VOTERS, .by_us = 0)
#define WAKE STEP(.take = take_wake)
#define LOOKS(mask) STEP(.take = take_looks, .nodes = (mask))
#define IS(member, x)                                                                              \
    STEP(.take = take_check, .field = STORY_FIELD(struct world, member), .value = (x))
#define REPORTED(k, n) IS(o.reported.kind, RLK_OBSERVER_##k), IS(reports, n)
#define DUE(time) IS(out.deadline_us, T0 + (time))

/* Five nodes, all of them free; that is reported. */
#define BEGIN START(5, 0x1f), LOOKS(0x1f), FREE(100, 0x1f), DUE(5100), WAKE, REPORTED(FREE, 1)
/* Held by 7 with the fence 70, for an hour. */
#define HELD                                                                                       \
    BEGIN, HINT(10000, 0x1f), LOOKS(0x1f), HOLDER(10100, 0x1f, 7, FAR, 70), REPORTED(HELD, 2)

/* A report of a change that was none; and one of a renewal, which is two reports. */
#define VAIN(time) HINT(time, 0x2), LOOKS(0x2), HOLDER((time) + 100, 0x2, 7, FAR - (time), 70)
#define RENEWAL(time)                                                                              \
    HINT(time, 0x2), LOOKS(0x2), HINT(time, 0x2), HOLDER((time) + 100, 0x2, 7, 60000, 70),         \
        LOOKS(0x2), HOLDER((time) + 200, 0x2, 7, 59900, 70)

static const struct story stories[] = {
    /* [O1] */
    {"it_begins_with_a_look_at_every_node", {START(5, 0x1f), LOOKS(0x1f), IS(reports, 0)}},
    {"nodes_that_are_not_up_are_not_looked_at",
     {START(5, 0x7), LOOKS(0x7), HINT(10, 0x18), LOOKS(0)}},
    {"a_node_that_comes_up_is_looked_at",
     {START(5, 0x7), LOOKS(0x7), EVENT(10, 0x8, NODE_UP, .by_us = 0), LOOKS(0x8)}},
    {"a_change_is_looked_at", {BEGIN, HINT(10000, 0x4), LOOKS(0x4)}},
    {"there_is_one_look_at_a_node_at_a_time",
     {BEGIN, HINT(10000, 0x4), LOOKS(0x4), HINT(10010, 0x4), HINT(10020, 0x4), LOOKS(0),
      FREE(10030, 0x4), LOOKS(0x4), FREE(10040, 0x4), LOOKS(0)}},
    {"an_answer_that_nobody_asked_for_is_ignored",
     {BEGIN, HOLDER(10000, 0x1f, 7, FAR, 0), IS(o.view.held, 0)}},
    /* [O2] */
    {"the_end_of_the_key_is_looked_at",
     {BEGIN, HINT(10000, 0x1f), LOOKS(0x1f), HOLDER(10100, 0x7, 7, 50000, 0),
      HOLDER(10100, 0x18, 7, 70000, 0), DUE(61100), WAKE, LOOKS(0x1f)}},
    {"a_key_that_outlives_its_end_is_looked_at_again_after_2_ms_and_then_4",
     {BEGIN, HINT(10000, 0x1f), LOOKS(0x1f), HOLDER(10100, 0x1f, 7, 50000, 0), DUE(61100), WAKE,
      LOOKS(0x1f), HOLDER(61200, 0x1f, 7, 0, 0), DUE(63100), WAKE, LOOKS(0x1f),
      HOLDER(63200, 0x1f, 7, 0, 0), DUE(67100)}},
    {"after_a_renewal_that_begins_anew",
     {BEGIN, HINT(10000, 0x1f), LOOKS(0x1f), HOLDER(10100, 0x1f, 7, 50000, 0), DUE(61100), WAKE,
      LOOKS(0x1f), HOLDER(61200, 0x1f, 7, 0, 0), DUE(63100), WAKE, LOOKS(0x1f),
      HOLDER(63200, 0x1f, 7, 50000, 0), DUE(114200), WAKE, HOLDER(114300, 0x1f, 7, 0, 0),
      DUE(116200)}},
    {"the_end_of_a_minority_is_not_looked_at",
     {BEGIN, HINT(10000, 0x3), LOOKS(0x3), HOLDER(10100, 0x3, 7, 50000, 0), TIMER(70000),
      LOOKS(0)}},
    {"a_look_that_is_under_way_is_not_repeated_at_the_end",
     {BEGIN, HINT(10000, 0x1f), LOOKS(0x1f), HOLDER(10100, 0x1f, 7, 50000, 0), HINT(60000, 0x1f),
      LOOKS(0x1f), TIMER(61200), LOOKS(0), IS(o.again, 0)}},
    /* [O3] */
    {"all_nodes_are_looked_at_every_5_seconds",
     {BEGIN, TIMER(3700000), LOOKS(0), TIMER(6300000), LOOKS(0x1f)}},
    {"nodes_that_do_not_report_changes_are_polled_every_second",
     {START(5, 0x1f), LOOKS(0x1f), FREE(100, 0xf), SAYS(100, 0x10, .hears = false), TIMER(6000),
      TIMER(700000), LOOKS(0), TIMER(1260000), LOOKS(0x10)}},
    {"a_change_elsewhere_is_a_reason_to_look_at_them",
     {START(5, 0x1f), LOOKS(0x1f), FREE(100, 0xf), SAYS(100, 0x10, .hears = false), TIMER(6000),
      HINT(10000, 0x1), LOOKS(0x1), HOLDER(10100, 0x1, 7, FAR, 0), LOOKS(0x10)}},
    {"a_renewal_elsewhere_is_no_reason",
     {START(5, 0x1f), LOOKS(0x1f), HOLDER(100, 0xf, 7, FAR, 0),
      SAYS(100, 0x10, .held = true, .value = 7, .ttl_us = FAR), HINT(10000, 0x1), LOOKS(0x1),
      HOLDER(10100, 0x1, 7, FAR, 0), LOOKS(0)}},
    {"a_node_whose_watch_goes_down_is_looked_at",
     {BEGIN, EVENT(10000, 0x2, UNSUBSCRIBED, .by_us = 0), LOOKS(0x2), IS(o.hears, 0x1d)}},
    {"a_watch_that_could_not_be_had_changes_nothing",
     {START(5, 0x1f), LOOKS(0x1f), SAYS(100, 0x1f, .hears = false), TIMER(6000),
      EVENT(10000, 0x2, UNSUBSCRIBED, .by_us = 0), LOOKS(0)}},
    {"a_node_whose_watch_comes_up_is_looked_at",
     {BEGIN, EVENT(10000, 0x2, SUBSCRIBED, .by_us = 0), LOOKS(0x2)}},
    {"a_node_that_reports_changes_and_has_none_is_polled_until_the_next_look_at_all",
     {HELD,
      VAIN(20000),
      VAIN(21000),
      VAIN(22000),
      VAIN(23000),
      VAIN(24000),
      VAIN(25000),
      VAIN(26000),
      VAIN(27000),
      IS(o.hears, 0x1f),
      HINT(28000, 0x2),
      LOOKS(0),
      IS(o.hears, 0x1d),
      TIMER(1260000),
      LOOKS(0x2),
      HOLDER(1261000, 0x2, 7, FAR, 70),
      HINT(1262000, 0x2),
      LOOKS(0),
      TIMER(6300000),
      LOOKS(0x1f),
      HOLDER(6300100, 0x1f, 7, FAR, 70),
      LOOKS(0x2),
      HOLDER(6300150, 0x2, 7, FAR, 70),
      HINT(6300200, 0x2),
      LOOKS(0x2)}},
    {"renewals_are_changes",
     {BEGIN, RENEWAL(20000), RENEWAL(40000), RENEWAL(60000), RENEWAL(80000), RENEWAL(100000),
      RENEWAL(120000), RENEWAL(140000), RENEWAL(160000), RENEWAL(180000), RENEWAL(200000),
      IS(o.hears, 0x1f)}},
    {"a_look_that_could_not_be_sent_is_tried_again",
     {BEGIN, HINT(10000, 0x2), LOOKS(0x2), UNSENT(10000, 0x2), LOOKS(0), TIMER(14000), LOOKS(0),
      TIMER(35100), LOOKS(0x2), UNSENT(35100, 0x2), WAKE, LOOKS(0x2), FREE(70000, 0x2),
      IS(o.asked, 0), IS(o.unsent, 0)}},
    /* One that could not be sent, and the regular ones. */
    {"looks_that_are_due_at_the_same_time_are_all_made",
     {BEGIN, HINT(10000, 0x2), LOOKS(0x2), UNSENT(10000, 0x2), TIMER(6260000), LOOKS(0x1f)}},
    {"a_node_that_answered_with_an_error_is_polled",
     {BEGIN, HINT(10000, 0x2), LOOKS(0x2), LOST(10100, 0x2), IS(o.view.answered, 0x1d),
      TIMER(1260000), LOOKS(0x2)}},
    /* [O4] */
    {"a_node_that_goes_down_counts_no_longer",
     {HELD, EVENT(20000, 0x3, NODE_DOWN, .by_us = 0), REPORTED(HELD, 2), IS(o.view.answered, 0x1c),
      EVENT(20000, 0x4, NODE_DOWN, .by_us = 0), DUE(520000), WAKE, REPORTED(UNKNOWN, 3)}},
    {"an_answer_that_takes_too_long_ends_the_one_before",
     {HELD, HINT(20000, 0x7), LOOKS(0x7), DUE(520000), WAKE, IS(o.view.answered, 0x18),
      REPORTED(HELD, 2), DUE(1020000), IS(o.asked, 0x7)}},
    {"a_look_that_cannot_be_sent_takes_too_long_as_well",
     {HELD, HINT(20000, 0x7), LOOKS(0x7), UNSENT(20000, 0x7), TIMER(400000), UNSENT(400000, 0x7),
      IS(o.view.answered, 0x1f), TIMER(520000), IS(o.view.answered, 0x18)}},
    {"a_late_answer_counts_again",
     {HELD, HINT(20000, 0x7), TIMER(520000), HOLDER(600000, 0x7, 7, FAR, 70), REPORTED(HELD, 2),
      IS(o.view.answered, 0x1f)}},
    /* [O5] */
    {"a_holder_is_reported_at_once",
     {START(5, 0x1f), HOLDER(100, 0x3, 7, FAR, 70), IS(reports, 0), HOLDER(110, 0x4, 7, FAR, 70),
      REPORTED(HELD, 1), IS(o.reported.value, 7), HOLDER(120, 0x18, 7, FAR, 70), IS(reports, 1)}},
    {"a_free_key_is_reported_after_5_ms",
     {HELD, HINT(20000, 0x1f), FREE(20100, 0x3), FREE(20200, 0x4), REPORTED(HELD, 2),
      FREE(20300, 0x18), DUE(25200), WAKE, REPORTED(FREE, 3)}},
    {"a_key_that_is_taken_over_is_not_reported_as_free",
     {HELD, HINT(20000, 0x1f), FREE(20100, 0x1f), HINT(20200, 0x1f), HOLDER(24900, 0x7, 8, FAR, 71),
      REPORTED(HELD, 3), IS(o.reported.value, 8), TIMER(30000), REPORTED(HELD, 3)}},
    {"a_split_key_is_free_when_no_value_can_have_a_majority",
     {START(5, 0x1f), HOLDER(100, 0x3, 7, FAR, 0), HOLDER(100, 0xc, 8, FAR, 0), FREE(100, 0x10),
      DUE(5100), WAKE, REPORTED(FREE, 1)}},
    {"too_few_answers_are_reported_after_the_timeout",
     {START(5, 0x3), FREE(100, 0x3), DUE(500000), WAKE, REPORTED(UNKNOWN, 1), WAKE, WAKE,
      REPORTED(UNKNOWN, 1)}},
    {"a_holder_that_some_may_have_is_not_known",
     {START(5, 0x7), HOLDER(100, 0x3, 7, FAR, 0), FREE(100, 0x4), TIMER(10000), IS(reports, 0),
      DUE(500000), WAKE, REPORTED(UNKNOWN, 1)}},
    {"what_changes_before_it_is_delivered_is_not_reported",
     {START(1, 0x1), FREE(100, 0x1), HINT(200, 0x1), HOLDER(5000, 0x1, 7, FAR, 0),
      REPORTED(HELD, 1)}},
    /* [O6] */
    {"another_fence_of_the_holder_is_reported",
     {HELD, HINT(20000, 0x7), HOLDER(20100, 0x7, 7, FAR, 71), REPORTED(HELD, 3),
      IS(o.reported.fence, 71)}},
    {"the_fence_of_a_holder_never_becomes_smaller",
     {HELD, HINT(20000, 0x1f), HOLDER(20100, 0x1f, 7, FAR, 69), TIMER(40000), REPORTED(HELD, 2),
      IS(o.reported.fence, 70)}},
    {"a_new_holder_with_the_old_fence_is_waited_for",
     {HELD, HINT(20000, 0x1f), HOLDER(20100, 0x1f, 8, FAR, 70), REPORTED(HELD, 2), HINT(20200, 0x7),
      HOLDER(20300, 0x7, 8, FAR, 71), REPORTED(HELD, 3), IS(o.reported.fence, 71)}},
    {"but_not_for_ever",
     {HELD, HINT(20000, 0x1f), HOLDER(20100, 0x1f, 8, FAR, 70), REPORTED(HELD, 2), DUE(25100), WAKE,
      REPORTED(HELD, 3), IS(o.reported.fence, 70)}},
    {"a_new_holder_without_a_fence_is_not_waited_for",
     {HELD, HINT(20000, 0x1f), HOLDER(20100, 0x1f, 8, FAR, 0), REPORTED(HELD, 3)}},
    /* [S1] */
    {"a_holder_with_a_majority_of_the_new_voters_is_reported",
     {BEGIN, HINT(10000, 0x3), LOOKS(0x3), HOLDER(10100, 0x3, 7, FAR, 70), REPORTED(FREE, 1),
      VOTERS(20000, 0x7, 3), REPORTED(HELD, 2), IS(o.reported.value, 7)}},
    {"a_holder_without_one_holds_no_longer",
     {HELD, HINT(20000, 0x18), FREE(20100, 0x18), REPORTED(HELD, 2), VOTERS(30000, 0x1e, 4),
      DUE(35000), WAKE, REPORTED(FREE, 3)}},
    {"a_node_without_a_vote_is_looked_at_and_does_not_count",
     {START(5, 0x1f), LOOKS(0x1f), VOTERS(10, 0x7, 3), HOLDER(100, 0x1b, 7, FAR, 0),
      REPORTED(HELD, 1), IS(o.holder.nodes, 0x3)}},
};

CASE("stories");

TEST_ROWS(a_story, stories)
{
    struct world w = {0};

    STORY_PLAY(&w, stories[_i].steps);
}

/* ---- any order of events ---- */

#define NODES 5
#define STEPS 400

/* What the masters really have. */
struct truth {
    uint64_t value[NODES], counter[NODES]; /* value 0: the key is free */
    bool up[NODES], pushes[NODES];
};

struct walk {
    struct world w;
    struct truth truth;
    struct rlk_prng prng;
    uint64_t now_us, in_flight;
};

static void walk_step(struct walk *k, struct rlk_event ev)
{
    ev.now_us = k->now_us;
    k->w.looks = 0;
    step(&k->w, ev);
    ck_assert_uint_eq(k->w.looks & k->in_flight, 0);
    k->in_flight |= k->w.looks;
    ck_assert_uint_eq(k->in_flight, k->w.o.asked & ~k->w.o.unsent);
}

static void walk_answer(struct walk *k, unsigned node)
{
    const struct truth *t = &k->truth;
    struct rlk_event ev = {.kind = RLK_EVENT_LOOKED, .node = node};

    k->in_flight &= ~rlk_mask_bit(node);
    ev.look.answered = true;
    ev.look.held = t->value[node] != 0;
    ev.look.value = t->value[node];
    ev.look.ttl_us = FAR;
    ev.look.counter = t->counter[node];
    ev.look.hears = t->pushes[node];
    walk_step(k, ev);
}

static void walk_reach(struct walk *k, unsigned node, bool up)
{
    k->truth.up[node] = up;
    k->in_flight &= up ? k->in_flight : ~rlk_mask_bit(node);
    walk_step(
        k, (struct rlk_event){.kind = up ? RLK_EVENT_NODE_UP : RLK_EVENT_NODE_DOWN, .node = node});
}

static void walk_change(struct walk *k, unsigned node)
{
    k->truth.value[node] = rlk_prng_upto(&k->prng, 2);
    k->truth.counter[node] += rlk_prng_upto(&k->prng, 1);
    if (k->truth.up[node] && rlk_prng_upto(&k->prng, 3)) {
        walk_step(k, (struct rlk_event){.kind = RLK_EVENT_CHANGED, .node = node});
    }
}

static void walk_once(struct walk *k)
{
    unsigned node = (unsigned)rlk_prng_upto(&k->prng, NODES - 1);
    uint64_t bit = rlk_mask_bit(node);

    k->now_us += rlk_prng_upto(&k->prng, 3000);
    switch (rlk_prng_upto(&k->prng, 5)) {
    case 0:
        walk_change(k, node);
        break;
    case 1:
        walk_reach(k, node, rlk_prng_upto(&k->prng, 3) != 0);
        break;
    case 2:
        k->truth.pushes[node] = rlk_prng_upto(&k->prng, 1);
        walk_step(k, (struct rlk_event){.kind = RLK_EVENT_UNSUBSCRIBED, .node = node});
        break;
    case 3:
        if (k->in_flight & bit) {
            k->in_flight &= ~bit;
            walk_step(k, (struct rlk_event){.kind = RLK_EVENT_LOOKED,
                                            .node = node,
                                            .look = {.unsent = rlk_prng_upto(&k->prng, 1)}});
        }
        break;
    default:
        if (k->in_flight & bit) {
            walk_answer(k, node);
        }
    }
    if (k->now_us >= k->w.out.deadline_us) {
        walk_step(k, (struct rlk_event){.kind = RLK_EVENT_TIMER});
    }
}

/* All masters are up and answer at once, and nothing changes. */
static void walk_heal(struct walk *k)
{
    uint64_t end_us = k->now_us + RLK_OBSERVER_LOOK_US / 4 * 5 + RLK_OBSERVER_SETTLE_US;
    unsigned node;

    for (node = 0; node < NODES; node++) {
        if (!k->truth.up[node]) {
            walk_reach(k, node, true);
        }
    }
    while (k->now_us < end_us) {
        uint64_t left = k->in_flight;

        RLK_MASK_EACH (node, left) {
            walk_answer(k, node);
        }
        k->now_us = k->w.out.deadline_us;
        walk_step(k, (struct rlk_event){.kind = RLK_EVENT_TIMER});
    }
}

static void must_be_true(const struct walk *k)
{
    const struct rlk_observer_state *s = &k->w.o.reported;
    uint64_t value;
    unsigned node;

    for (value = 1; value <= 2; value++) {
        unsigned n = 0;

        for (node = 0; node < NODES; node++) {
            n += k->truth.value[node] == value;
        }
        ck_assert_int_eq(n > NODES / 2, s->kind == RLK_OBSERVER_HELD && s->value == value);
    }
    ck_assert_int_ne(s->kind, RLK_OBSERVER_UNKNOWN);
}

CASE("walks");

/* Whatever happens, there is one look at a node at a time, each report is another one than that
 * before, and when masters answer again, the truth is reported after the next look at all. */
TEST_LOOP(after_any_trouble_the_truth_is_reported, 0, 200)
{
    struct walk k = {.now_us = T0};
    unsigned i;

    rlk_prng_seed(&k.prng, (uint64_t)_i);
    start(&k.w, NODES, 0);
    for (i = 0; i < STEPS; i++) {
        walk_once(&k);
    }
    walk_heal(&k);
    must_be_true(&k);
}
