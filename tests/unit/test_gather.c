/* unit/test_gather.c - each master is asked once, and the report comes once, when all are done: by
 * rows, and on random lives. No loop runs: the test fires the timer, and ends the turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "base/prng.h"
#include "base/time.h"
#include "lib/test.h"
#include "lock/gather.h"

SUITE("gather");

#define UNTIL 10 /* when the time of each node is over, if it is not extended */

static struct redlock rl;
static struct rlk_gather g;
static char log_text[512];
static uint64_t refuses; /* nodes that cannot be asked: they are done at once */

/* ---- the kind: it notes what is called ---- */

static void note(const char *what, unsigned node)
{
    size_t n = strlen(log_text);

    snprintf(log_text + n, sizeof(log_text) - n, "%s%u ", what, node);
}

static void note_ask(struct rlk_gather *of, unsigned node, uint64_t now_us)
{
    (void)now_us;
    note("ask", node);
    if (refuses & rlk_mask_bit(node)) {
        rlk_gather_done(of, node);
    }
}

static void note_time_out(struct rlk_gather *of, unsigned node, uint64_t now_us)
{
    ck_assert_uint_ge(now_us, of->until_us[node]);
    ck_assert(rlk_gather_awaits(of, node));
    note("late", node);
}

static void note_stop(struct rlk_gather *of, unsigned node)
{
    ck_assert(!rlk_gather_awaits(of, node));
    note("stop", node);
}

static void note_close(struct rlk_gather *of)
{
    ck_assert(of->cancelled);
    note("close", 0);
}

static void note_report(struct rlk_gather *of, bool cancelled)
{
    ck_assert_uint_eq(of->awaited, 0);
    ck_assert(rlk_list_empty(&of->operation.link));
    note(cancelled ? "cancelled" : "report", 0);
}

static void note_unref(struct rlk_gather *of)
{
    note("unref", 0);
    memset(of, 0x5a, sizeof(*of));
}

static const struct rlk_gather_kind kind = {note_ask,   note_time_out, note_stop,
                                            note_close, note_report,   note_unref};

static void begin(void)
{
    memset(&rl, 0, sizeof(rl));
    memset(&g, 0, sizeof(g));
    log_text[0] = '\0';
    rlk_list_init(&rl.operations);
    rlk_list_init(&rl.loop.turn.report);
    rl.loop.turn.due = true; /* no event is activated */
    rlk_gather_init(&g, &rl, &kind);
    ck_assert_uint_eq(rl.counts[RLK_OPERATION_QUERY], 1);
}

/* ---- what happens ---- */

static void happens(enum rlk_event_kind event, unsigned node)
{
    rlk_manager_notify(&rl, &(struct rlk_event){.kind = event, .node = node});
}

/* A manager closes once. */
static void close_manager(void)
{
    if (!rlk_list_empty(&rl.operations) && !g.cancelled) {
        g.operation.kind->close(&g.operation);
    }
}

static void pass_time(uint64_t now_us)
{
    struct rlk_timer *t;

    while ((t = rlk_timers_take(&rl.loop.timers, now_us)) != NULL) {
        t->fire(t, now_us);
    }
}

static void end_turn(void)
{
    struct rlk_list *link;

    while ((link = rlk_list_pop(&rl.loop.turn.report)) != NULL) {
        struct rlk_call *c = RLK_CONTAINER(link, struct rlk_call, link);

        c->run(c);
    }
}

static bool is_reported(void)
{
    return rlk_list_empty(&rl.operations);
}

/* ---- rows ---- */

/* The steps: s start, with the nodes of `ready` and `connecting`; uN dN up, down; aN it has
 * answered; xN its time is over at 20; tN time N * 10; c close; w the report
 * waits for what follows, f which is done; . the end of the turn. */
static const struct {
    const char *claim;
    uint64_t ready, connecting, refuses;
    const char *steps;
    const char *log;
} rows[] = {
    {"the_ready_are_asked_and_all_answer", 07, 0, 0, "s a0 a2 a1 . .",
     "ask0 ask1 ask2 stop0 stop2 stop1 report0 unref0 "},
    {"those_that_connect_are_asked_when_they_are_up", 01, 06, 0, "s u2 a0 u1 a1 a2 .",
     "ask0 ask2 stop0 ask1 stop1 stop2 report0 unref0 "},
    {"a_second_up_asks_nothing", 01, 02, 0, "s u1 u1 u0 a0 a1 .",
     "ask0 ask1 stop0 stop1 report0 unref0 "},
    {"one_that_is_down_is_not_asked_when_it_comes_back", 01, 02, 0, "s d1 u1 a0 .",
     "ask0 stop1 stop0 report0 unref0 "},
    {"others_are_not_awaited", 01, 0, 0, "s u1 d1 a1 a0 u0 .", "ask0 stop0 report0 unref0 "},
    {"nobody_to_ask_is_reported", 0, 0, 0, "s .", "report0 unref0 "},
    {"those_that_cannot_be_asked_are_done", 03, 0, 03, "s .",
     "ask0 stop0 ask1 stop1 report0 unref0 "},
    {"a_refusal_leaves_the_others", 03, 0, 01, "s . a1 .", "ask0 stop0 ask1 stop1 report0 unref0 "},
    {"the_time_of_all_is_over", 03, 04, 0, "s a1 t1 .",
     "ask0 ask1 stop1 late0 stop0 late2 stop2 report0 unref0 "},
    {"one_has_more_time", 03, 0, 0, "s x1 t1 . t2 .",
     "ask0 ask1 late0 stop0 late1 stop1 report0 unref0 "},
    {"an_answer_in_the_longer_time_counts", 03, 0, 0, "s x1 t1 a1 t2 .",
     "ask0 ask1 late0 stop0 stop1 report0 unref0 "},
    {"a_close_stops_all", 01, 02, 0, "s c u1 a0 t1 .",
     "ask0 close0 stop0 stop1 cancelled0 unref0 "},
    {"a_close_before_the_start", 0, 0, 0, "c . .", "close0 cancelled0 unref0 "},
    {"a_close_before_the_report_in_one_turn", 01, 0, 0, "s a0 c .",
     "ask0 stop0 close0 cancelled0 unref0 "},
    {"what_follows_is_waited_for", 01, 0, 0, "w s a0 . f .", "ask0 stop0 finish0 report0 unref0 "},
    {"what_follows_may_be_done_before_the_masters", 01, 0, 0, "w s f . a0 .",
     "ask0 finish0 stop0 report0 unref0 "},
    {"nobody_to_ask_and_what_follows", 0, 0, 0, "w s . f . .", "finish0 report0 unref0 "},
    {"a_close_does_not_wait_for_what_follows", 01, 0, 0, "w s a0 . c .",
     "ask0 stop0 close0 cancelled0 unref0 "},
    {"events_before_the_start_do_nothing", 01, 0, 0, "u0 d0 t2 . s a0 .",
     "ask0 stop0 report0 unref0 "},
};

static void play(size_t row, char step, unsigned n)
{
    switch (step) {
    case 's':
        rlk_gather_start(&g, rows[row].ready, rows[row].connecting, 0, UNTIL);
        break;
    case 'u':
        happens(RLK_EVENT_NODE_UP, n);
        break;
    case 'd':
        happens(RLK_EVENT_NODE_DOWN, n);
        break;
    case 'a':
        rlk_gather_done(&g, n);
        break;
    case 'x':
        rlk_gather_extend(&g, n, 2 * UNTIL);
        break;
    case 't':
        pass_time(n * UNTIL);
        break;
    case 'c':
        close_manager();
        break;
    case 'w':
        g.follows = true;
        break;
    case 'f':
        note("finish", 0);
        rlk_gather_finish(&g);
        break;
    default:
        end_turn();
    }
}

TEST_ROWS(a_row, rows)
{
    const char *at;

    begin();
    refuses = rows[_i].refuses;
    for (at = rows[_i].steps; *at; at++) {
        if (strchr(" 0123456789", *at) == NULL) {
            play((size_t)_i, *at, (unsigned)strtoul(at + 1, NULL, 10));
        }
    }
    ck_assert_str_eq(log_text, rows[_i].log);
    ck_assert(is_reported());
    ck_assert_uint_eq(rl.pending, 0);
    ck_assert_ptr_null(rl.loop.timers.heap.root);
}

/* ---- random lives ---- */

#define NODES 3

static unsigned count(const char *what)
{
    unsigned n = 0;
    const char *at;

    for (at = strstr(log_text, what); at; at = strstr(at + 1, what)) {
        n++;
    }
    return n;
}

static unsigned count_of(const char *what, unsigned node)
{
    char name[16];

    snprintf(name, sizeof(name), "%s%u ", what, node);
    return count(name);
}

static void one_event(struct rlk_prng *p, uint64_t *now_us)
{
    unsigned node = (unsigned)(rlk_prng_next(p) % NODES);

    switch (rlk_prng_next(p) % 8) {
    case 0:
    case 1:
        happens(RLK_EVENT_NODE_UP, node);
        break;
    case 2:
        happens(RLK_EVENT_NODE_DOWN, node);
        break;
    case 3:
        if (count_of("ask", node) > 0) {
            rlk_gather_done(&g, node);
        }
        break;
    case 4:
        if (rlk_gather_awaits(&g, node)) {
            rlk_gather_extend(&g, node, *now_us + 1 + rlk_prng_next(p) % UNTIL);
        }
        break;
    case 5:
        *now_us += rlk_prng_next(p) % UNTIL;
        pass_time(*now_us);
        break;
    case 6:
        if (rlk_prng_next(p) % 8 == 0) {
            close_manager();
        }
        break;
    default:
        end_turn();
    }
}

/* Whatever happened: each node that was awaited was asked at most once and is done, and all ended
 * in one report. */
static void must_be_over(uint64_t awaited, uint64_t asked_at_once)
{
    unsigned node;

    for (node = 0; node < NODES; node++) {
        bool was_awaited = (awaited & rlk_mask_bit(node)) != 0;

        ck_assert_uint_eq(count_of("stop", node), was_awaited);
        ck_assert_uint_le(count_of("ask", node), was_awaited);
        ck_assert_uint_ge(count_of("ask", node), (asked_at_once & rlk_mask_bit(node)) != 0);
        ck_assert_uint_le(count_of("late", node), was_awaited);
    }
    ck_assert_uint_eq(count("report0") + count("cancelled0"), 1);
    ck_assert_uint_eq(count("cancelled0"), count("close0"));
    ck_assert_uint_eq(count("unref0"), 1);
}

TEST(each_life_ends_in_one_report)
{
    struct rlk_prng p;
    uint64_t life, now_us, ready, connecting;

    for (life = 0; life < 20000; life++) {
        rlk_prng_seed(&p, life);
        ready = rlk_prng_next(&p) & rlk_mask_all(NODES);
        connecting = rlk_prng_next(&p) & rlk_mask_all(NODES) & ~ready;
        refuses = rlk_prng_next(&p) & rlk_prng_next(&p) & rlk_mask_all(NODES);
        now_us = 0;
        begin();
        rlk_gather_start(&g, ready, connecting, now_us, UNTIL);
        while (!is_reported() && now_us < 10 * UNTIL) {
            one_event(&p, &now_us);
        }
        pass_time(20 * UNTIL);
        end_turn();
        must_be_over(ready | connecting, ready);
    }
}
