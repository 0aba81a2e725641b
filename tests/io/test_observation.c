/* io/test_observation.c - who holds a key, as an observation reports it: each change once, by the
 * push of the masters; and what it does about masters that do not push, or come and go. Linked with
 * the inside of the library, because nothing of the public API observes a key without an election.
 *
 * The clocks of the library and of the masters are stopped, so nothing is inspected and no key
 * expires unless a test lets time pass. */
#include <redlock/error.h>
#include <stdio.h>
#include <string.h>

#include "core/observer.h"
#include "io/farm.h"
#include "io/suspend.h"
#include "io/waiter.h"
#include "io/watch.h"
#include "lib/test.h"
#include "lock/manager.h"
#include "lock/observation.h"

SUITE("observation");
FIXTURE(NULL, farm_end_all);

#define MASTERS 5
#define COUNTER "k" RLK_COMMAND_COUNTER

/* A majority, and what is left of the masters. */
#define MOST 0, 3
#define ALL 0, MASTERS
#define REST 3, MASTERS

#define SETTLED_MS 6
#define POLLED_MS 1300
#define LOOKED_MS 6300

static struct farm f;
static struct outcome got;
static struct rlk_observation *observation;

/* What was reported: each with a letter: 'h'eld, 'f'ree, 'u'nknown, 'c'ancelled; and the last. */
static struct {
    char reports[64];
    size_t n;
    char token[300], leader[80];
    uint64_t fence, ttl_ms;
    bool ends; /* the callback ends it */
} seen;

static void on_observed(const struct redlock_query_result *result, int status, void *arg)
{
    ck_assert_ptr_eq(arg, &seen);
    ck_assert_uint_lt(seen.n + 1, sizeof(seen.reports));
    if (status == REDLOCK_ECANCELED) {
        ck_assert_ptr_null(result);
        seen.reports[seen.n++] = 'c';
        return;
    }
    ck_assert(status == 0 || status == REDLOCK_ENOQUORUM);
    ck_assert_int_eq(status != 0, result->unknown);
    ck_assert_uint_eq(result->waiters, 0);
    seen.reports[seen.n++] = status ? 'u' : result->held ? 'h' : 'f';
    snprintf(seen.token, sizeof(seen.token), "%s", result->held ? result->token : "");
    snprintf(seen.leader, sizeof(seen.leader), "%s", result->leader);
    seen.fence = result->fencing_token;
    seen.ttl_ms = result->ttl_ms;
    if (seen.ends) {
        rlk_observation_end(observation);
    }
}

static void observe(void)
{
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(rlk_observe(f.rl, "k", on_observed, &seen, &observation), 0);
}

/* Let time pass in small steps, and everything be answered in between. */
static void pass_ms(unsigned ms)
{
    for (; ms > 0; ms -= ms < 5 ? ms : 5) {
        suspend_ms(ms < 5 ? ms : 5);
        loop_settle(f.base);
    }
}

static bool is_watched(void *arg)
{
    size_t i;

    (void)arg;
    for (i = 0; i < f.n; i++) {
        if (rlk_subscriber_state(&f.rl->nodes[i]) != RLK_SUBSCRIBER_UP) {
            return false;
        }
    }
    return true;
}

static void start_with(int watch)
{
    waiter_start(&f, &got, MASTERS, watch);
    observe();
    if (watch) {
        loop_must_true(f.base, is_watched, NULL);
    }
    loop_settle(f.base);
    pass_ms(SETTLED_MS);
}

static void start(void)
{
    start_with(1);
    ck_assert_str_eq(seen.reports, "f");
}

static void give(size_t first, size_t last, const char *token, uint64_t ttl_ms)
{
    for (; first < last; first++) {
        rlk_model_set(fake_model(f.nodes[first]), "k", token, ttl_ms);
    }
    loop_settle(f.base);
}

static void take(size_t first, size_t last)
{
    for (; first < last; first++) {
        rlk_model_del(fake_model(f.nodes[first]), "k");
    }
    loop_settle(f.base);
}

static void count_fence(size_t first, size_t last, const char *fence)
{
    for (; first < last; first++) {
        rlk_model_set(fake_model(f.nodes[first]), COUNTER, fence, 0);
    }
    loop_settle(f.base);
}

static void must_see(const char *reports)
{
    pass_ms(SETTLED_MS);
    ck_assert_str_eq(seen.reports, reports);
}

static size_t looks(void)
{
    return waiter_count(&f, "PTTL k");
}

/* Looks at which the masters were told to report the next change. */
static size_t tracked(void)
{
    return waiter_count(&f, "CLIENT CACHING");
}

/* ---- what is reported ---- */

CASE("reports");

TEST(each_change_is_reported_once)
{
    start();
    give(ALL, "a", 60000);
    must_see("fh");
    ck_assert_str_eq(seen.token, "a");
    take(ALL);
    must_see("fhf");
    ck_assert_str_eq(seen.token, "");
    give(ALL, "b", 60000);
    must_see("fhfh");
    ck_assert_str_eq(seen.token, "b");
}

TEST(a_majority_is_enough_and_needed)
{
    start();
    give(REST, "a", 60000);
    must_see("f");
    give(0, 1, "a", 60000);
    must_see("fh");
    take(0, 1);
    must_see("fhf");
}

/* The value is enough; now and then the ttl shows that it was a renewal. */
TEST(a_renewal_is_one_short_look_and_no_report)
{
    size_t full, all, values, i;

    start();
    count_fence(ALL, "7");
    give(ALL, "a", 60000);
    must_see("fh");
    full = looks();
    all = tracked();
    values = waiter_count(&f, "GET k");
    for (i = 1; i <= 3; i++) {
        give(ALL, "a", 60000 + 1000 * i);
    }
    must_see("fh");
    ck_assert_uint_eq(looks(), full);
    ck_assert_uint_eq(tracked(), all + 3 * MASTERS);
    ck_assert_uint_eq(waiter_count(&f, "GET k"), values + 3 * MASTERS);
    give(ALL, "a", 70000);
    ck_assert_uint_eq(looks(), full + MASTERS);
    ck_assert_uint_eq(seen.fence, 7);
}

/* Deleted and set again in one go: the master reports one change. */
TEST(another_value_is_no_renewal)
{
    start();
    give(ALL, "a", 60000);
    must_see("fh");
    give(ALL, "b", 3600000);
    must_see("fhh");
    ck_assert_str_eq(seen.token, "b");
    ck_assert_uint_gt(seen.ttl_ms, 3000000);
}

/* Of what it has not reported, nothing is asked anew; but its messages may be lost. */
TEST(a_change_that_was_not_reported_is_found_and_tracked_again)
{
    size_t n;

    start();
    give(ALL, "a", 3600000);
    must_see("fh");
    rlk_model_forget_tracked(fake_model(f.nodes[0]));
    rlk_model_forget_tracked(fake_model(f.nodes[1]));
    rlk_model_forget_tracked(fake_model(f.nodes[2]));
    n = tracked();
    give(ALL, "b", 3600000);
    must_see("fh");
    pass_ms(LOOKED_MS);
    must_see("fhh");
    ck_assert_uint_gt(tracked(), n + 2 + 2);
    give(ALL, "c", 3600000);
    must_see("fhhh");
}

/* The next one takes over before the settling is over. */
TEST(a_hand_over_is_never_reported_as_free)
{
    start();
    give(ALL, "a", 60000);
    must_see("fh");
    take(ALL);
    pass_ms(3);
    give(ALL, "b", 60000);
    must_see("fhh");
    ck_assert_str_eq(seen.token, "b");
}

TEST(the_fence_of_a_majority_is_reported)
{
    start();
    count_fence(MOST, "7");
    give(ALL, "a", 60000);
    must_see("fh");
    ck_assert_uint_eq(seen.fence, 7);
    count_fence(ALL, "8");
    must_see("fhh");
    ck_assert_uint_eq(seen.fence, 8);
}

/* The counters of a new holder follow its keys. */
TEST(a_new_holder_is_not_reported_with_the_fence_of_the_former)
{
    start();
    count_fence(ALL, "7");
    give(ALL, "a", 60000);
    must_see("fh");
    give(ALL, "b", 60000);
    pass_ms(3);
    ck_assert_str_eq(seen.reports, "fh");
    count_fence(ALL, "8");
    must_see("fhh");
    ck_assert_str_eq(seen.token, "b");
    ck_assert_uint_eq(seen.fence, 8);
}

TEST(a_leader_of_this_manager_is_observed)
{
    struct redlock_request request = outcome_request("k");

    start();
    request.fencing = 1;
    request.owner = "leader me 10.0.0.1";
    got = farm_must_acquire_as(&f, &request);
    loop_settle(f.base);
    must_see("fh");
    ck_assert_str_eq(seen.leader, "me");
    ck_assert_uint_eq(seen.fence, redlock_lock_fencing_token(got.lock));
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    loop_settle(f.base);
    must_see("fhf");
}

/* Only the first 8 KiB are kept. */
TEST(long_values_of_different_length_are_different_holders)
{
    static char value[9002];

    start();
    memset(value, 'v', sizeof(value) - 2);
    give(ALL, value, 60000);
    must_see("fh");
    value[sizeof(value) - 2] = 'v';
    give(ALL, value, 60000);
    must_see("fhh");
}

TEST(all_who_observe_a_key_are_told)
{
    struct rlk_observation *other;

    start();
    ck_assert_int_eq(rlk_observe(f.rl, "k", on_observed, &seen, &other), 0);
    loop_settle(f.base);
    must_see("ff");
    give(ALL, "a", 60000);
    must_see("ffhh");
    rlk_observation_end(other);
    take(ALL);
    must_see("ffhhf");
}

TEST(with_a_prefix_the_key_is_found)
{
    farm_start_frozen(&f, MASTERS);
    f.options.key_prefix = "p:";
    f.options.subscribe = 1;
    farm_open(&f);
    observe();
    loop_must_true(f.base, is_watched, NULL);
    loop_settle(f.base);
    must_see("f");
    for (size_t i = 0; i < MASTERS; i++) {
        rlk_model_set(fake_model(f.nodes[i]), "p:k", "a", 60000);
    }
    loop_settle(f.base);
    must_see("fh");
}

/* ---- when it looks ---- */

CASE("looks");

/* Where there was nothing, the value and its ttl are asked for only when there is something. */
TEST(masters_that_push_are_not_polled)
{
    size_t n, all, told;

    start();
    n = waiter_count(&f, "EXISTS");
    told = tracked();
    all = looks();
    pass_ms(60000);
    ck_assert_uint_eq(tracked(), told);
    n = waiter_count(&f, "EXISTS") - n;
    ck_assert_uint_ge(n, (size_t)MASTERS * 60000 / LOOKED_MS);
    ck_assert_uint_le(n, (size_t)MASTERS * 60000 / 3700);
    ck_assert_uint_eq(looks(), all);
    give(ALL, "a", 60000);
    must_see("fh");
    ck_assert_uint_eq(looks(), all + MASTERS);
}

TEST(a_change_meanwhile_is_one_more_look)
{
    size_t n;
    int i;

    start();
    give(ALL, "a", 60000);
    must_see("fh");
    n = looks();
    fake_on(f.nodes[0], "PTTL", FAKE_STALL, NULL);
    for (i = 0; i < 10; i++) {
        give(0, 1, "a", 60000);
    }
    ck_assert_uint_eq(looks(), n + 1);
    fake_behave(f.nodes[0]);
    fake_go_on(f.nodes[0]);
    loop_settle(f.base);
    ck_assert_uint_le(looks(), n + 2);
    must_see("fh");
}

/* The masters say nothing of the end of a key. */
TEST(an_expired_key_is_noticed_at_its_end)
{
    size_t i, n;

    start();
    give(ALL, "a", 100);
    must_see("fh");
    n = looks();
    pass_ms(80);
    ck_assert_uint_eq(looks(), n);
    for (i = 0; i < MASTERS; i++) {
        fake_model(f.nodes[i])->clock_us += 200000;
    }
    pass_ms(20);
    must_see("fhf");
}

TEST(a_key_that_outlives_its_end_is_looked_at_less_and_less)
{
    size_t n;

    start();
    give(ALL, "a", 100);
    must_see("fh");
    farm_on(&f, 0, MASTERS, "PTTL", FAKE_REPLY, ":0\r\n");
    n = looks();
    pass_ms(1100);
    ck_assert_uint_le(looks() - n, (size_t)MASTERS * 35);
    ck_assert_uint_ge(looks() - n, (size_t)MASTERS * 20);
    ck_assert_str_eq(seen.reports, "fh");
}

TEST(after_a_flush_all_masters_are_looked_at)
{
    size_t i;

    start();
    give(ALL, "a", 60000);
    must_see("fh");
    for (i = 0; i < MASTERS; i++) {
        rlk_model_flush(fake_model(f.nodes[i]));
    }
    loop_settle(f.base);
    must_see("fhf");
    for (i = 0; i < MASTERS; i++) { /* there is no news, but nothing is tracked any more */
        rlk_model_flush(fake_model(f.nodes[i]));
    }
    must_see("fhf");
    give(ALL, "b", 60000);
    must_see("fhfh");
}

static const struct {
    const char *claim, *command;
} denials[] = {
    {"without_a_watch_masters_are_polled", NULL},
    {"without_tracking_masters_are_polled", "CLIENT TRACKING"},
    {"without_caching_masters_are_polled", "CLIENT CACHING"},
    {"without_exists_masters_are_polled", "EXISTS"},
};

TEST_ROWS(a_master_that_does_not_push, denials)
{
    size_t i, n;

    waiter_start(&f, &got, MASTERS, denials[_i].command != NULL);
    for (i = 0; denials[_i].command && i < MASTERS; i++) {
        fake_on(f.nodes[i], denials[_i].command, FAKE_REPLY, "-NOPERM no\r\n");
    }
    observe();
    loop_settle(f.base);
    must_see("f");
    n = looks();
    give(ALL, "a", 60000);
    pass_ms(POLLED_MS);
    ck_assert_str_eq(seen.reports, "fh");
    pass_ms(10000);
    ck_assert_uint_ge(looks() - n, (size_t)MASTERS * 8);
    ck_assert_uint_le(looks() - n, (size_t)MASTERS * 22);
}

/* Two masters push, and three do not: a change at the two is a reason to look at the three. */
TEST(a_change_elsewhere_is_a_reason_to_look)
{
    waiter_start(&f, &got, MASTERS, 1);
    farm_on(&f, 0, 3, "CLIENT CACHING", FAKE_REPLY, "-NOPERM no\r\n");
    observe();
    loop_must_true(f.base, is_watched, NULL);
    loop_settle(f.base);
    must_see("f");
    farm_set(&f, 0, MASTERS, "k", "a", 60000);
    loop_settle(f.base);
    ck_assert_str_eq(seen.reports, "fh");
}

/* ---- masters that come and go ---- */

CASE("masters");

TEST(too_few_masters_are_a_state_after_the_timeout)
{
    size_t i;

    start();
    give(ALL, "a", 3600000);
    must_see("fh");
    farm_down(&f, 0, 3);
    loop_settle(f.base);
    pass_ms(FARM_NEVER_MS / 2);
    ck_assert_str_eq(seen.reports, "fh");
    pass_ms(FARM_NEVER_MS);
    ck_assert_str_eq(seen.reports, "fhu");
    farm_up(&f, 0, 3);
    pass_ms(3000);
    for (i = 0; i < 3; i++) {
        farm_wait(&f, i, REDLOCK_NODE_UP);
    }
    loop_settle(f.base);
    must_see("fhuh");
}

TEST(a_master_that_is_stuck_does_not_count)
{
    start();
    give(ALL, "a", 3600000);
    must_see("fh");
    farm_pause(&f, 0, 3);
    pass_ms(LOOKED_MS + 2 * FARM_NEVER_MS + 100);
    ck_assert_str_eq(seen.reports, "fhu");
    farm_go_on(&f, 0, 3);
    loop_settle(f.base);
    must_see("fhuh");
}

TEST(a_minority_that_goes_changes_nothing)
{
    start();
    count_fence(MOST, "7");
    give(ALL, "a", 3600000);
    must_see("fh");
    fake_down(f.nodes[0]);
    fake_down(f.nodes[1]);
    loop_settle(f.base);
    pass_ms(2 * FARM_NEVER_MS);
    ck_assert_str_eq(seen.reports, "fh");
}

/* ---- the beginning and the end ---- */

CASE("ends");

TEST(it_waits_for_masters_that_are_being_connected)
{
    farm_start_frozen(&f, MASTERS);
    f.options.subscribe = 1;
    farm_open_at_once(&f);
    observe();
    loop_must_true(f.base, is_watched, NULL);
    loop_settle(f.base);
    must_see("f");
}

TEST(after_the_end_nothing_is_reported)
{
    start();
    give(ALL, "a", 60000);
    rlk_observation_end(observation);
    pass_ms(100);
    ck_assert_str_eq(seen.reports, "fh");
    take(ALL);
    pass_ms(LOOKED_MS);
    ck_assert_str_eq(seen.reports, "fh");
}

TEST(a_report_that_is_due_is_dropped_by_the_end)
{
    waiter_start(&f, &got, MASTERS, 0);
    observe();
    rlk_observation_end(observation);
    rlk_observation_end(NULL);
    pass_ms(100);
    ck_assert_str_eq(seen.reports, "");
}

TEST(its_callback_may_end_it)
{
    start();
    seen.ends = true;
    give(ALL, "a", 60000);
    must_see("fh");
    take(ALL);
    must_see("fh");
}

TEST(a_close_cancels_it)
{
    start();
    give(ALL, "a", 60000);
    must_see("fh");
    suspend_unfreeze();
    farm_close(&f);
    ck_assert_str_eq(seen.reports, "fhc");
}

TEST(an_end_after_the_close_has_begun_is_silent)
{
    int closed = 0;

    start();
    ck_assert_int_eq(redlock_close(f.rl, watch_on_closed, &closed), 0);
    rlk_observation_end(observation);
    ck_assert_int_eq(rlk_observe(f.rl, "k", on_observed, &seen, &observation), REDLOCK_ESTATE);
    f.rl = NULL;
    suspend_unfreeze();
    loop_must(f.base, &closed);
    ck_assert_str_eq(seen.reports, "f");
}

TEST(wrong_keys_and_too_many_are_refused)
{
    static struct rlk_observation *many[RLK_OBSERVATION_MAX];
    static char key[REDLOCK_MAX_KEY + 2];
    size_t i;

    waiter_start(&f, &got, 1, 0);
    memset(key, 'k', sizeof(key) - 1);
    ck_assert_int_eq(rlk_observe(f.rl, "", on_observed, &seen, many), REDLOCK_EINVAL);
    ck_assert_int_eq(rlk_observe(f.rl, key, on_observed, &seen, many), REDLOCK_EINVAL);
    ck_assert_int_eq(rlk_observe(NULL, "k", on_observed, &seen, many), REDLOCK_EINVAL);
    for (i = 0; i < RLK_OBSERVATION_MAX; i++) {
        ck_assert_int_eq(rlk_observe(f.rl, "k", on_observed, &seen, &many[i]), 0);
    }
    ck_assert_int_eq(rlk_observe(f.rl, "k", on_observed, &seen, &observation), REDLOCK_ELIMIT);
    ck_assert_ptr_nonnull(strstr(redlock_error_text(f.rl), "free one first"));
    for (i = 0; i < RLK_OBSERVATION_MAX; i++) {
        rlk_observation_end(many[i]);
    }
    loop_settle(f.base);
    ck_assert_int_eq(rlk_observe(f.rl, "k", on_observed, &seen, &observation), 0);
}
