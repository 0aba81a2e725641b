/* io/test_election_leader.c - who leads, as a candidate and an observer are told: nobody else
 * before the end of the own lead; and candidates with priorities [L5]. The masters push. */
#include <event2/event.h>
#include <redlock/error.h>
#include <stdio.h>
#include <string.h>

#include "io/candidate.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "io/waiter.h"
#include "lib/test.h"

SUITE("election-leader");
FIXTURE(NULL, farm_end_all);

#define MASTERS 5

/* Who leads is known after this time. */
#define KNOWN_MS 200u

static struct farm f;
static struct outcome got;
static struct candidate c, other, third;
static struct redlock_election_options o, p, q;

/* `c` has a leader_cb. */
static void start(void)
{
    waiter_start(&f, &got, MASTERS, 1);
    o = candidate_options(&c, &f);
    o.leader_cb = candidate_on_leader;
    p = candidate_options(&other, &f);
    p.id = "two";
    q = candidate_options(&third, &f);
    q.id = "three";
}

static void pass_ms(unsigned ms)
{
    candidate_pass_ms(&c, ms);
}

static void observe(void)
{
    o.id = NULL;
    candidate_new(&c, &o);
    pass_ms(KNOWN_MS);
}

/* Another client has the key on all masters; with a larger term, if it is a candidate. */
static void take_over(const char *owner, bool with_term)
{
    char value[300];
    size_t i;

    snprintf(value, sizeof(value), "%040d:%s", 1, owner);
    for (i = 0; i < MASTERS; i++) {
        rlk_model_set(fake_model(f.nodes[i]), "k", value, CANDIDATE_TTL_MS);
        if (with_term) {
            rlk_model_set(fake_model(f.nodes[i]), "k:redlock-fence", "8000000000000000", 0);
        }
    }
}

/* ---- a resignation, and waiters that are suspended [W4] ---- */

/* Each waiter that is woken, or told that it is next, gets so much time; in steps. */
#define PASSED_ON_MS 60u
#define STEP_MS 5u

#define MOST_SUSPENDED 3

/* Managers with a loop of their own: when that no longer goes round, they are suspended. */
static struct event_base *theirs;
static struct redlock *suspended[MOST_SUSPENDED];
static size_t n_suspended;

static void on_theirs(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    (void)arg;
}

static size_t waiters(void)
{
    size_t n = 0;

    while (rlk_model_waiter(fake_model(f.nodes[waiter_hosts[0]]), "k", (unsigned)n + 1)) {
        n++;
    }
    return n;
}

static bool is_listed(void *arg)
{
    if (theirs) {
        event_base_loop(theirs, EVLOOP_NONBLOCK);
    }
    candidate_pass_ms(&c, 1);
    return waiters() >= *(size_t *)arg;
}

static void suspend_waiters(size_t n)
{
    struct redlock_request request = waiter_request("k");

    request.wait_ms = REDLOCK_FOREVER;
    theirs = event_base_new();
    for (n_suspended = 0; n_suspended < n;) {
        ck_assert_int_eq(redlock_new(theirs, &f.options, &suspended[n_suspended]), REDLOCK_OK);
        ck_assert_int_eq(redlock_acquire(suspended[n_suspended], &request, on_theirs, NULL, NULL),
                         REDLOCK_OK);
        n_suspended++;
        loop_must_true(f.base, is_listed, &n_suspended);
    }
}

static bool are_closed(void *arg)
{
    (void)arg;
    event_base_loop(theirs, EVLOOP_NONBLOCK);
    return n_suspended == 0;
}

static void on_one_closed(void *arg)
{
    (void)arg;
    n_suspended--;
}

static void end_waiters(void)
{
    size_t i, n = n_suspended;

    for (i = 0; i < n; i++) {
        ck_assert_int_eq(redlock_close(suspended[i], on_one_closed, NULL), REDLOCK_OK);
    }
    loop_must_true(f.base, are_closed, NULL);
    event_base_free(theirs);
    theirs = NULL;
}

/* When the next leader has the key, nobody is woken any more. */
TEST(after_a_resignation_the_masters_are_asked_once)
{
    struct redlock *mine;
    size_t asked, all = 1;

    start();
    candidate_lead(&c, &o);
    mine = f.rl;
    farm_open(&f);
    other.rl = f.rl;
    candidate_new(&other, &p);
    candidate_campaign(&other);
    loop_must_true(f.base, is_listed, &all);
    asked = scripts_count(&f, waiter_hosts[0], &rlk_script_leave);
    candidate_resign(&c);
    candidate_pass_ms(&c, PASSED_ON_MS);
    candidate_pass_ms(&c, PASSED_ON_MS);
    ck_assert_int_eq(other.elected, 1);
    candidate_pass_ms(&c, 1000);
    ck_assert_uint_eq(scripts_count(&f, waiter_hosts[0], &rlk_script_leave), asked + 1);
    candidate_free(&other);
    candidate_free(&c);
    farm_close(&f);
    f.rl = mine;
}

/* By _i: how many are suspended. Without that the next one is elected as ever. */
TEST_LOOP(a_resignation_passes_suspended_waiters, 0, MOST_SUSPENDED + 1)
{
    struct redlock *mine;
    size_t passed, all = (size_t)_i + 1;

    start();
    candidate_lead(&c, &o);
    suspend_waiters((size_t)_i);
    mine = f.rl;
    farm_open(&f);
    other.rl = f.rl;
    candidate_new(&other, &p);
    candidate_campaign(&other);
    loop_must_true(f.base, is_listed, &all);
    candidate_resign(&c);
    for (passed = 0; passed < PASSED_ON_MS * all; passed += STEP_MS) {
        candidate_pass_ms(&c, STEP_MS);
    }
    ck_assert_int_eq(other.elected, 1);
    candidate_free(&other);
    candidate_free(&c);
    end_waiters();
    farm_close(&f);
    f.rl = mine;
}

/* ---- the head start of the former leader after an outage [L6] ---- */

/* All ask within this time after they can: two pauses and a poll. */
#define ALL_ASK_MS (3 * CANDIDATE_RETRY_MS)

static void pass_both_ms(unsigned ms)
{
    for (; ms > 0; ms -= 100) {
        candidate_pass_ms(&c, 100);
        event_base_loop(theirs, EVLOOP_NONBLOCK);
        loop_settle(f.base);
        event_base_loop(theirs, EVLOOP_NONBLOCK);
    }
}

/* Connections come back after up to two seconds, that of either first: less than the head start. By
 * _i: the draws differ. */
TEST_LOOP(a_former_leader_leads_again_after_an_outage, 0, 8)
{
    size_t all = 1;

    start();
    candidate_lead(&c, &o);
    theirs = event_base_new();
    ck_assert_int_eq(redlock_new(theirs, &f.options, &other.rl), REDLOCK_OK);
    candidate_new(&other, &p);
    candidate_campaign(&other);
    loop_must_true(f.base, is_listed, &all);
    farm_down(&f, 0, MASTERS);
    pass_both_ms(2 * CANDIDATE_TTL_MS);
    ck_assert_int_eq(c.demoted, 1);
    farm_up(&f, 0, MASTERS);
    pass_both_ms(ALL_ASK_MS);
    ck_assert_int_eq(c.elected, 2);
    ck_assert_int_eq(other.elected, 0);
    candidate_free(&other);
    candidate_free(&c);
    n_suspended = 1;
    suspended[0] = other.rl;
    end_waiters();
}

/* ---- who leads ---- */

TEST(a_broken_lock_has_no_leader)
{
    start();
    observe();
    take_over("somebody", false);
    pass_ms(KNOWN_MS);
    ck_assert_str_eq(c.leader_id, "somebody");
    take_over("broken by ops: it hangs", false);
    pass_ms(KNOWN_MS);
    ck_assert_str_eq(c.leader_id, "");
    ck_assert_int_eq(c.leader.known, 1);
    ck_assert_uint_eq(c.leader.term, 0);
}

TEST(an_observer_is_told_each_leader)
{
    start();
    observe();
    ck_assert_int_eq(c.leader.known, 1);
    ck_assert_str_eq(c.leader_id, "");
    p.value = "10.0.0.2";
    candidate_lead(&other, &p);
    pass_ms(KNOWN_MS);
    ck_assert_str_eq(c.leader_id, "two");
    ck_assert_str_eq(c.leader.value, "10.0.0.2");
    ck_assert_uint_eq(c.leader.term, other.term);
    ck_assert_int_eq(c.leader.is_me, 0);
    candidate_resign(&other);
    pass_ms(KNOWN_MS);
    ck_assert_str_eq(c.leader_id, "");
    ck_assert_uint_eq(c.leader.term, 0);
}

TEST(a_leader_is_told_that_it_leads)
{
    start();
    candidate_lead(&c, &o);
    pass_ms(KNOWN_MS);
    ck_assert_str_eq(c.leader_id, "one");
    ck_assert_int_eq(c.leader.is_me, 1);
    ck_assert_uint_eq(c.leader.term, c.term);
}

/* Three masters have its key, and the vote of one of them does not count. */
TEST(before_it_leads_it_is_not_told_that_it_does)
{
    size_t i;

    farm_start_frozen(&f, MASTERS);
    f.options.quarantine = REDLOCK_QUARANTINE_STRICT;
    f.options.record = 0;
    f.options.subscribe = 1;
    for (i = 1; i < MASTERS; i++) {
        rlk_model_make_old(fake_model(f.nodes[i]));
    }
    farm_open(&f);
    o = candidate_options(&c, &f);
    o.leader_cb = candidate_on_leader;
    candidate_new(&c, &o);
    pass_ms(KNOWN_MS);
    fake_pause(f.nodes[3]);
    fake_pause(f.nodes[4]);
    candidate_campaign(&c);
    pass_ms(KNOWN_MS);
    ck_assert_uint_eq(farm_count(&f, "k", NULL), 2);
    ck_assert_int_eq(c.elected, 0);
    ck_assert_int_eq(c.told, 1);
    fake_go_on(f.nodes[3]);
    candidate_wait(&c, &c.told, 2);
    ck_assert_str_eq(c.order, "lEl");
    ck_assert_str_eq(c.leader_id, "one");
    ck_assert_int_eq(c.leader.is_me, 1);
    ck_assert_uint_eq(c.leader.term, c.term);
    fake_go_on(f.nodes[4]);
}

TEST(it_is_not_known_without_a_majority)
{
    start();
    observe();
    farm_down(&f, 0, 3);
    pass_ms(FARM_NEVER_MS + 10000); /* node_timeout_ms */
    ck_assert_int_eq(c.leader.known, 0);
    farm_up(&f, 0, 3);
    pass_ms(10000);
    ck_assert_int_eq(c.leader.known, 1);
}

/* ---- the end of the own lead comes first ---- */

static const struct {
    const char *claim;
    unsigned suspended_ms;
} losses[] = {
    {"suspended_while_another_is_elected", CANDIDATE_TTL_MS + 1000},
    {"suspended_past_its_lead", CANDIDATE_DEADLINE_MS + 1000},
    {"another_took_the_key", 0},
};

TEST_ROWS(demoted_before_another_leads, losses)
{
    start();
    candidate_lead(&c, &o);
    pass_ms(KNOWN_MS);
    suspend_ms(losses[_i].suspended_ms);
    take_over("leader two", true);
    pass_ms(KNOWN_MS); /* its callbacks check the order */
    ck_assert_str_eq(c.leader_id, "two");
    ck_assert_int_eq(c.demoted, 1);
}

static void pass_the_lead(struct candidate *who)
{
    if (who->leader_id[0] == 's') {
        suspend_ms(CANDIDATE_DEADLINE_MS);
    }
}

/* The lead ends in the very turn of the loop in which another leader is reported: no timer has
 * fired yet. */
TEST(demoted_before_another_leads_also_without_a_timer)
{
    start();
    p.id = NULL;
    p.leader_cb = candidate_on_leader;
    other.on_leader = pass_the_lead;
    candidate_new(&other, &p);
    candidate_lead(&c, &o);
    pass_ms(KNOWN_MS);
    take_over("somebody", false);
    pass_ms(KNOWN_MS);
    ck_assert_str_eq(c.leader_id, "somebody");
    ck_assert_int_eq(c.demoted, 1);
}

/* ---- [L5] priorities ---- */

TEST(a_higher_priority_gets_the_lead)
{
    start();
    candidate_lead(&c, &o);
    p.priority = 1;
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(CANDIDATE_RETRY_MS);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_EOUTRANKED);
    candidate_wait(&other, &other.elected, 1);
    pass_ms(2 * CANDIDATE_TTL_MS);
    ck_assert_int_eq(c.elected, 1);
    ck_assert_str_eq(c.leader_id, "two");
    candidate_finish(&other);
    pass_ms(CANDIDATE_TTL_MS);
    candidate_wait(&c, &c.elected, 2);
}

static const struct {
    const char *claim;
    uint32_t leader, candidate;
} ranks[] = {
    {"an_equal_priority_waits", 3, 3},
    {"a_lower_priority_waits", 3, 2},
    {"without_a_priority_it_waits", 3, 0},
};

TEST_ROWS(others_wait, ranks)
{
    start();
    o.priority = ranks[_i].leader;
    candidate_lead(&c, &o);
    p.priority = ranks[_i].candidate;
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(2 * CANDIDATE_TTL_MS);
    ck_assert_int_eq(c.demoted, 0);
    ck_assert_int_eq(other.elected, 0);
}

/* A bid that leads to nothing does not keep others from the lead. */
TEST(whoever_is_not_fit_bids_for_nothing)
{
    start();
    candidate_lead(&c, &o);
    p.priority = 1;
    p.healthy_cb = candidate_on_healthy;
    other.fit = 0;
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(2 * CANDIDATE_TTL_MS);
    ck_assert_int_eq(c.demoted, 0);
}

TEST(who_resigns_takes_its_bid_back)
{
    start();
    o.stops_later = 1;
    candidate_lead(&c, &o);
    p.priority = 1;
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(CANDIDATE_RETRY_MS);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(other.elected, 0);
    candidate_resign(&other);
    candidate_stopped(&c);
    pass_ms(CANDIDATE_RETRY_MS);
    candidate_wait(&c, &c.elected, 2);
    farm_wait_gone(&f, "k:redlock-bid");
}

/* Begin to bid: the masters get the bid, and do not answer any more. */
static void bid_in_vain(void)
{
    start();
    candidate_lead(&c, &o);
    pass_ms(KNOWN_MS);
    p.priority = 1;
    farm_on(&f, 0, MASTERS, "SET k:redlock-bid", FAKE_STALL, NULL);
    candidate_new(&other, &p);
    candidate_campaign(&other);
    while (waiter_count(&f, "SET k:redlock-bid") < MASTERS) {
        pass_ms(KNOWN_MS);
    }
    ck_assert_int_eq(c.demoted, 0);
}

TEST(freed_while_it_bids)
{
    bid_in_vain();
    candidate_finish(&other);
    ck_assert_str_eq(other.order, "f");
}

TEST(closed_while_it_bids)
{
    bid_in_vain();
    farm_pause(&f, 0, MASTERS);
    candidate_close(&c);
    candidate_pass_ms(&c, FARM_NEVER_MS + 1000);
    candidate_wait(&c, &c.closed, 1);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_str_eq(other.order, "");
}

static void free_it(struct candidate *who)
{
    if (who->leader.id && who->told == 1) {
        candidate_free(who);
    }
}

TEST(freed_inside_leader_cb)
{
    start();
    c.on_leader = free_it;
    observe();
    candidate_wait(&c, &c.freed, 1);
    ck_assert_int_eq(c.told, 1);
}

static void close_it(struct candidate *who)
{
    if (who->told == 1) {
        candidate_close(who);
    }
}

TEST(closed_inside_leader_cb)
{
    start();
    c.on_leader = close_it;
    candidate_new(&c, &o);
    candidate_campaign(&c);
    candidate_wait(&c, &c.closed, 1);
    ck_assert_int_eq(c.elected, c.demoted);
}

/* ---- [L5] calls ---- */

static struct redlock_lock *the_call;

static void on_call_acquired(struct redlock_lock *lock, int status, void *arg)
{
    ck_assert_int_eq(status, 0);
    the_call = lock;
    ++*(int *)arg;
}

static void begin_call(const char *owner, int *acquired)
{
    struct redlock_request r = outcome_request("k:redlock-bid");

    r.owner = owner;
    r.wait_ms = REDLOCK_FOREVER;
    *acquired = 0;
    ck_assert_int_eq(redlock_acquire(f.rl, &r, on_call_acquired, acquired, NULL), 0);
}

/* Until everybody knows. */
static void end_call(const int *acquired)
{
    loop_must(f.base, acquired);
    pass_ms(CANDIDATE_RETRY_MS);
    ck_assert_int_eq(redlock_release(the_call, NULL, NULL), 0);
}

static void call_upon(const char *owner)
{
    int acquired;

    begin_call(owner, &acquired);
    end_call(&acquired);
    pass_ms(CANDIDATE_RETRY_MS);
}

TEST(who_is_called_upon_leads_next)
{
    start();
    candidate_lead(&c, &o);
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(CANDIDATE_RETRY_MS);
    call_upon("call two");
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_EOUTRANKED);
    candidate_wait(&other, &other.elected, 1);
    ck_assert_uint_gt(other.term, c.term);
}

/* A candidate that has just resigned pauses, and answers the call after that. */
TEST(a_call_there_and_back)
{
    start();
    o.retry_ms = 3 * CANDIDATE_RETRY_MS; /* the call is over before that pause */
    candidate_lead(&c, &o);
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(CANDIDATE_RETRY_MS);
    call_upon("call two");
    candidate_wait(&other, &other.elected, 1);
    call_upon("call one");
    candidate_wait(&c, &c.elected, 2);
    ck_assert_int_eq(other.demotion.reason, REDLOCK_EOUTRANKED);
}

/* The second call is there before the first bid, which outranks whoever has heard it. */
TEST(two_calls_at_once)
{
    int acquired[2];

    start();
    candidate_lead(&c, &o);
    candidate_new(&other, &p);
    candidate_campaign(&other);
    candidate_new(&third, &q);
    candidate_campaign(&third);
    pass_ms(CANDIDATE_RETRY_MS);
    begin_call("call two", &acquired[0]);
    begin_call("call three", &acquired[1]);
    end_call(&acquired[0]);
    end_call(&acquired[1]);
    candidate_wait(&other, &other.elected, 1);
    pass_ms(CANDIDATE_RETRY_MS);
    candidate_wait(&third, &third.elected, 1);
    ck_assert_uint_gt(third.term, other.term);
}

/* A call is above all priorities, and for one time. */
TEST(a_higher_priority_bids_again_after_a_call)
{
    start();
    o.priority = 3;
    candidate_lead(&c, &o);
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(CANDIDATE_RETRY_MS);
    call_upon("call two");
    candidate_wait(&other, &other.elected, 1);
    candidate_wait(&c, &c.elected, 2);
}

/* It bids once: then everything is as before. */
TEST(a_call_for_nobody_changes_nothing)
{
    start();
    candidate_lead(&c, &o);
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(CANDIDATE_RETRY_MS);
    call_upon("call three");
    call_upon("call one");
    pass_ms(3 * CANDIDATE_TTL_MS);
    ck_assert_int_eq(c.demoted, 0);
    ck_assert_int_eq(other.elected, 0);
    farm_wait_gone(&f, "k:redlock-bid");
}

TEST(who_does_not_campaign_hears_no_call)
{
    start();
    candidate_lead(&c, &o);
    candidate_new(&other, &p);
    pass_ms(CANDIDATE_RETRY_MS);
    call_upon("call two");
    pass_ms(2 * CANDIDATE_TTL_MS);
    candidate_campaign(&other);
    pass_ms(2 * CANDIDATE_TTL_MS);
    ck_assert_int_eq(c.demoted, 0);
}

TEST(who_is_not_fit_to_lead_hears_no_call)
{
    start();
    candidate_lead(&c, &o);
    p.healthy_cb = candidate_on_healthy;
    other.fit = 0;
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(CANDIDATE_RETRY_MS);
    call_upon("call two");
    pass_ms(2 * CANDIDATE_TTL_MS);
    other.fit = 1;
    pass_ms(4 * CANDIDATE_TTL_MS);
    ck_assert_int_eq(c.demoted, 0);
}

/* [L2] The old leader is told of its end before anybody else is elected. */
TEST(a_call_waits_for_the_old_leader_to_stop)
{
    start();
    o.stops_later = 1;
    candidate_lead(&c, &o);
    candidate_new(&other, &p);
    candidate_campaign(&other);
    pass_ms(CANDIDATE_RETRY_MS);
    call_upon("call two");
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(other.elected, 0);
    candidate_stopped(&c);
    candidate_wait(&other, &other.elected, 1);
}
