/* io/test_election_calls.c - the calls of an election: which are refused, from inside which
 * callbacks they work (all), and what a free and a close do in each state. */
#include <event2/event.h>
#include <redlock/error.h>
#include <stdio.h>
#include <string.h>

#include "io/candidate.h"
#include "io/held.h"
#include "lib/test.h"

SUITE("election-calls");
FIXTURE(NULL, farm_end_all);

#define MASTERS 3

static struct farm f;
static struct candidate c;
static struct redlock_election_options o;

/* A release begins: before its bytes are on their way. */
static void on_traced(const struct redlock_trace *ev, void *arg)
{
    size_t n = strlen(c.order);
    char line[REDLOCK_TRACE_LINE];

    (void)arg;
    redlock_trace_line(ev, line, sizeof(line));
    if (ev->kind == REDLOCK_TRACE_RELEASING) {
        ck_assert_uint_lt(n + 1, sizeof(c.order));
        memcpy(c.order + n, "R", 2);
    }
}

static void start(void)
{
    farm_start_frozen(&f, MASTERS);
    f.options.trace_cb = on_traced;
    farm_open(&f);
    o = candidate_options(&c, &f);
}

static enum redlock_election_state state(void)
{
    return redlock_election_state(c.e);
}

/* ---- states ---- */

static void observe(void)
{
    candidate_new(&c, &o);
}

static void ask(void)
{
    farm_give_away(&f, 0, MASTERS);
    observe();
    candidate_campaign(&c);
    loop_settle(f.base);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_CANDIDATE);
}

static void leave(void)
{
    observe();
    candidate_campaign(&c);
    candidate_resign(&c);
}

static void pause_asking(void)
{
    o.healthy_cb = candidate_on_healthy;
    c.fit = 0;
    observe();
    candidate_campaign(&c);
    candidate_wait(&c, &c.asked, 1);
    loop_settle(f.base);
    ck_assert_ptr_null(redlock_election_lock(c.e));
}

static void lead(void)
{
    candidate_lead(&c, &o);
}

static void be_demoted(void)
{
    lead();
    candidate_resign(&c);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_STOPPING);
}

static void lead_and_stop_later(void)
{
    o.stops_later = 1;
    lead();
}

static void stop(void)
{
    lead_and_stop_later();
    candidate_resign(&c);
    candidate_wait(&c, &c.demoted, 1);
}

static void stop_for_too_long(void)
{
    stop();
    candidate_pass_ms(&c, CANDIDATE_TTL_MS + 1000);
    ck_assert_ptr_null(redlock_election_lock(c.e));
    ck_assert_int_eq(state(), REDLOCK_ELECTION_STOPPING);
}

/* What comes after a free, and after a close, if the application does not say that it has
 * stopped. */
static const struct {
    const char *claim;
    void (*enter)(void);
    const char *freed, *closed;
    bool waits; /* the free waits for the application */
} states[] = {
    {"an_observer", observe, "f", "c", false},
    {"a_candidate_that_asks", ask, "f", "c", false},
    {"a_candidate_that_leaves", leave, "f", "c", false},
    {"a_candidate_that_pauses", pause_asking, "hRf", "hRc", false},
    {"a_leader", lead, "EDRf", "EDRc", false},
    {"a_leader_that_was_demoted", be_demoted, "EDRf", "EDRc", false},
    {"a_leader_that_stops_later", lead_and_stop_later, "EDRf", "EDRc", true},
    {"a_leader_that_stops", stop, "EDRf", "EDRc", true},
    {"a_leader_that_stops_for_too_long", stop_for_too_long, "EDRf", "EDRc", false},
};

static void must_be_clean(void)
{
    farm_end_other(&f);
    farm_wait_gone(&f, "k");
}

TEST_ROWS(freed, states)
{
    start();
    states[_i].enter();
    candidate_free(&c);
    ck_assert_int_eq(redlock_election_free(c.e, NULL, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_election_campaign(c.e), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_election_resign(c.e), REDLOCK_OK);
    loop_settle(f.base);
    if (states[_i].waits) {
        ck_assert_str_eq(c.order, "ED");
        candidate_pass_ms(&c, CANDIDATE_TTL_MS);
    }
    candidate_wait(&c, &c.freed, 1);
    ck_assert_str_eq(c.order, states[_i].freed);
    must_be_clean();
}

TEST(freed_when_it_has_stopped)
{
    start();
    lead_and_stop_later();
    candidate_free(&c);
    candidate_wait(&c, &c.demoted, 1);
    loop_settle(f.base);
    ck_assert_int_eq(c.freed, 0);
    candidate_stopped(&c);
    candidate_wait(&c, &c.freed, 1);
    ck_assert_str_eq(c.order, "EDRf");
    must_be_clean();
}

TEST(freed_without_a_callback)
{
    start();
    lead();
    ck_assert_int_eq(redlock_election_free(c.e, NULL, NULL), REDLOCK_OK);
    candidate_wait(&c, &c.demoted, 1);
    must_be_clean();
}

TEST_LOOP(closed, 0, (int)N_ROWS(states))
{
    start();
    states[_i].enter();
    candidate_close(&c);
    ck_assert_int_eq(redlock_election_campaign(c.e), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_election_resign(c.e), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_election_hand_over(c.e, "two", 0), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_election_is_leader(c.e), 0);
    candidate_wait(&c, &c.closed, 1);
    ck_assert_str_eq(c.order, states[_i].closed);
    must_be_clean();
}

TEST(the_close_is_the_reason)
{
    start();
    lead();
    candidate_close(&c);
    candidate_wait(&c, &c.closed, 1);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_ECANCELED);
    must_be_clean();
}

static const struct {
    const char *claim;
    void (*first)(struct candidate *), (*then)(struct candidate *);
    const char *order;
} both[] = {
    {"freed_and_closed", candidate_free, candidate_close, "EDRfc"},
    {"closed_and_freed", candidate_close, candidate_free, "EDRfc"},
};

TEST_ROWS(freed_and_closed, both)
{
    start();
    lead();
    both[_i].first(&c);
    both[_i].then(&c);
    candidate_wait(&c, &c.closed, 1);
    ck_assert_str_eq(c.order, both[_i].order);
    must_be_clean();
}

TIME_LIMIT(60);

/* Nothing that an election counts is left behind. */
TEST(made_and_freed_seventy_thousand_times)
{
    int i, batch;

    start();
    for (batch = 0; batch < 70; batch++) {
        for (i = 0; i < 1000; i++) {
            struct redlock_election *e;

            ck_assert_int_eq(redlock_election_new(f.rl, &o, &e), REDLOCK_OK);
            ck_assert_int_eq(redlock_election_free(e, NULL, NULL), REDLOCK_OK);
        }
        loop_settle(f.base);
    }
}

/* ---- calls from inside the callbacks ---- */

static void resign_and_campaign(struct candidate *who)
{
    candidate_resign(who);
    candidate_campaign(who);
}

static void free_and_close(struct candidate *who)
{
    candidate_free(who);
    candidate_close(who);
}

static void (*const actions[])(struct candidate *) = {candidate_resign,    candidate_campaign,
                                                      resign_and_campaign, candidate_free,
                                                      candidate_close,     free_and_close};

enum place {
    IN_ELECTED,
    IN_DEMOTED,
    IN_HEALTHY,
    IN_HEALTHY_AT_A_RENEWAL,
    IN_MOVED,
    PLACES
};

/* What the test that runs does, and whether it was done. */
static void (*action)(struct candidate *);
static int at_call;
static bool acted;

static void act(struct candidate *who)
{
    if (!acted && who->asked >= at_call) {
        acted = true;
        action(who);
    }
}

static void act_at(enum place place)
{
    acted = false;
    at_call = place == IN_HEALTHY_AT_A_RENEWAL ? 2 : 0;
    c.on_elected = place == IN_ELECTED ? act : NULL;
    c.on_demoted = place == IN_DEMOTED ? act : NULL;
    c.on_healthy = place == IN_HEALTHY || place == IN_HEALTHY_AT_A_RENEWAL ? act : NULL;
    c.on_moved = place == IN_MOVED ? act : NULL;
}

/* Live, and get to every callback that still comes. */
static void live(void)
{
    candidate_new(&c, &o);
    candidate_campaign(&c);
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
    if (c.rl && c.e) {
        (void)redlock_election_resign(c.e);
        loop_settle(f.base);
    }
    if (c.e && state() == REDLOCK_ELECTION_STOPPING) {
        candidate_stopped(&c);
    }
    loop_settle(f.base);
}

static void must_end(void)
{
    bool closes = action == candidate_close || action == free_and_close;
    bool frees = action == candidate_free || action == free_and_close;

    ck_assert(acted);
    if (!closes && !frees) {
        o.stops_later = 0;
        candidate_free(&c);
        candidate_pass_ms(&c, CANDIDATE_TTL_MS);
    }
    if (!closes || frees) {
        candidate_wait(&c, &c.freed, 1);
    }
    if (closes) {
        candidate_wait(&c, &c.closed, 1);
    }
    ck_assert_int_eq(c.elected, c.demoted);
    ck_assert_int_eq(c.freed, !closes || frees);
    ck_assert_int_eq(c.closed, closes);
    must_be_clean();
}

TEST_LOOP(every_call_from_every_callback, 0, 2 * PLACES * N_ROWS(actions))
{
    enum place place = (enum place)(_i % PLACES);

    action = actions[(size_t)_i / PLACES % N_ROWS(actions)];
    start();
    o.healthy_cb = candidate_on_healthy;
    o.stops_later = (size_t)_i / PLACES / N_ROWS(actions) > 0;
    act_at(place);
    live();
    must_end();
}

/* The lead was won, and healthy_cb gives it up: it never begins. */
TEST(resigned_while_it_says_that_it_is_fit)
{
    action = candidate_resign;
    start();
    o.healthy_cb = candidate_on_healthy;
    act_at(IN_HEALTHY);
    candidate_new(&c, &o);
    candidate_campaign(&c);
    candidate_wait(&c, &c.asked, 1);
    loop_settle(f.base);
    ck_assert_str_eq(c.order, "hR");
    must_be_clean();
}

static void on_freed_and_close(void *arg)
{
    struct candidate *who = arg;

    who->freed++;
    who->e = NULL;
    candidate_close(who);
}

TEST(the_manager_may_be_closed_when_the_election_is_gone)
{
    start();
    lead();
    ck_assert_int_eq(redlock_election_free(c.e, on_freed_and_close, &c), REDLOCK_OK);
    candidate_wait(&c, &c.closed, 1);
    ck_assert_int_eq(c.freed, 1);
    must_be_clean();
}

/* Everything has been reported, and the memory of the manager is about to be freed. */
static struct candidate late;
static struct event *at_the_end;

static void free_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    candidate_free(&late);
}

static void on_freed_and_go_on(void *arg)
{
    (void)arg;
    event_active(at_the_end, 0, 0);
}

TEST(freed_while_its_manager_ends)
{
    start();
    candidate_new(&c, &o);
    o = candidate_options(&late, &f);
    candidate_new(&late, &o);
    candidate_pass_ms(&c, 100);
    at_the_end = event_new(f.base, -1, 0, free_late, NULL);
    ck_assert_int_eq(redlock_election_free(c.e, on_freed_and_go_on, NULL), REDLOCK_OK);
    candidate_close(&c);
    candidate_wait(&c, &c.closed, 1);
    ck_assert_int_eq(late.freed, 1);
    event_free(at_the_end);
    must_be_clean();
}

/* ---- no election ---- */

TEST(no_call_without_an_election)
{
    struct redlock_leader leader = {.size = sizeof(leader)};

    ck_assert_int_eq(redlock_election_campaign(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_election_resign(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_election_hand_over(NULL, "two", 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_election_stopped(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_election_free(NULL, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_election_leader(NULL, &leader), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_election_is_leader(NULL), 0);
    ck_assert_uint_eq(redlock_election_deadline_us(NULL), 0);
    ck_assert_uint_eq(redlock_election_term(NULL), 0);
    ck_assert_int_eq(redlock_election_state(NULL), REDLOCK_ELECTION_OBSERVER);
    ck_assert_ptr_null(redlock_election_lock(NULL));
}

TEST(no_election_of_a_manager_that_closes)
{
    struct redlock_election *e;
    struct redlock *rl;

    start();
    rl = f.rl;
    candidate_close(&c);
    ck_assert_int_eq(redlock_election_new(rl, &o, &e), REDLOCK_ESTATE);
    candidate_wait(&c, &c.closed, 1);
}
