/* live/test_observation.c - who holds a key on real masters, as an observer hears it. Linked with
 * the inside of the library, because nothing of the public API observes a key without an election.
 */
#include <stdio.h>
#include <string.h>

#include <event2/event.h>
#include <redlock/error.h>

#include "lib/test.h"
#include "live/site.h"
#include "lock/manager.h"
#include "lock/observation.h"

SUITE("observation");

#define MASTERS 5

/* The first manager observes, the second one leads. */
static struct site s;
static struct rlk_observation *observation;

/* What was reported: 'h'eld, 'f'ree or 'u'nknown each, and the last holder; the looks so far. */
static struct {
    char reports[32];
    size_t n, looks;
    char leader[80], value[160];
    uint64_t fence;
} seen;

static void on_observed(const struct redlock_query_result *result, int status, void *arg)
{
    (void)arg;
    ck_assert_uint_lt(seen.n + 1, sizeof(seen.reports));
    seen.reports[seen.n++] = status ? 'u' : result->held ? 'h' : 'f';
    if (status == 0 && result->held) {
        snprintf(seen.leader, sizeof(seen.leader), "%s", result->leader);
        snprintf(seen.value, sizeof(seen.value), "%s", result->value);
        seen.fence = result->fencing_token;
    }
}

static void on_traced(const struct redlock_trace *ev, void *arg)
{
    (void)arg;
    seen.looks += ev->kind == REDLOCK_TRACE_SENT && ev->question == REDLOCK_QUESTION_HOLDER;
}

static bool is_reported(void *arg)
{
    return seen.n >= *(size_t *)arg;
}

/* Wait until so much has been reported, and not more. */
static void must_see(const char *reports)
{
    size_t n = strlen(reports);

    loop_must_true(s.base, is_reported, &n);
    loop_settle(s.base);
    ck_assert_str_eq(seen.reports, reports);
}

static bool is_watched(void *arg)
{
    size_t i;

    (void)arg;
    for (i = 0; i < MASTERS; i++) {
        if (rlk_subscriber_state(&s.rl[0]->nodes[i]) != RLK_SUBSCRIBER_UP) {
            return false;
        }
    }
    return true;
}

static void ask_all(const char *command)
{
    size_t i;

    for (i = 0; i < MASTERS; i++) {
        master_ask(s.masters[i], command);
    }
}

static void open_site(void)
{
    memset(&seen, 0, sizeof(seen));
    s.options.trace_cb = on_traced;
    site_open(&s);
    ck_assert_int_eq(rlk_observe(s.rl[0], "k", on_observed, NULL, &observation), 0);
    must_see("f");
}

static void start(void)
{
    site_start(&s, MASTERS, NULL);
    open_site();
    loop_must_true(s.base, is_watched, NULL);
    loop_settle(s.base);
}

static void end(void)
{
    rlk_observation_end(observation);
    site_end(&s);
}

static struct outcome lead(const char *owner)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    request.owner = owner;
    request.fencing = 1;
    got = site_acquire_with(&s, 1, &request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    return got;
}

static bool tracks(void)
{
    return rlk_subscriber_tracks(&s.rl[0]->nodes[0]);
}

FIXTURE(NULL, end);

/* A look at each master for each change of the key and of the counter, one more for both at most,
 * and nothing else: masters that are polled every second would be looked at more often. */
TEST(each_leader_is_reported_with_its_term)
{
    struct outcome got;
    size_t before;

    start();
    before = seen.looks;
    got = lead("leader a 10.0.0.1:80");
    must_see("fh");
    ck_assert_str_eq(seen.leader, "a");
    ck_assert_str_eq(seen.value, "10.0.0.1:80");
    ck_assert_uint_eq(seen.fence, redlock_lock_fencing_token(got.lock));
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    must_see("fhf");
    got = lead("leader b");
    must_see("fhfh");
    ck_assert_str_eq(seen.leader, "b");
    ck_assert_str_eq(seen.value, "");
    ck_assert_uint_eq(seen.fence, redlock_lock_fencing_token(got.lock));
    if (tracks()) {
        ck_assert_uint_le(seen.looks - before, (size_t)3 * 3 * MASTERS);
    }
}

static const struct {
    const char *claim, *begin, *end;
} changes[] = {
    {"a_client_of_another_library_is_reported", "SET k x PX 60000", "DEL k"},
    {"a_key_that_expires_is_reported", "SET k x PX 150", NULL},
    {"an_end_by_flushall_is_reported", "SET k x PX 60000", "FLUSHALL"},
    {"an_end_by_another_ttl_is_reported", "SET k x PX 60000", "PEXPIRE k 1"},
    {"a_key_that_is_renamed_is_reported", "SET k x PX 60000", "RENAME k j"},
};

TEST_ROWS(a_change_that_we_did_not_make, changes)
{
    start();
    ask_all(changes[_i].begin);
    must_see("fh");
    if (changes[_i].end) {
        ask_all(changes[_i].end);
    }
    must_see("fhf");
}

static void kill_some(size_t first, size_t last)
{
    for (; first < last; first++) {
        master_kill(s.masters[first]);
        watch_for_error(s.base, s.rl[0], first, "");
    }
}

TEST(masters_that_are_killed_are_missed_and_found_again)
{
    size_t i;

    start();
    ask_all("SET k x PX 6000000");
    must_see("fh");
    kill_some(0, 2);
    site_time_out(&s);
    ck_assert_str_eq(seen.reports, "fh");
    kill_some(2, 3);
    site_time_out(&s);
    must_see("fhu");
    for (i = 0; i < 3; i++) {
        master_restart(s.masters[i]);
    }
    must_see("fhuf");
}

static const char *const rights[] = {"~* +@all allchannels -client|tracking",
                                     "~* +@all allchannels -exists", "~* +@all resetchannels",
                                     "~* +@all allchannels -client|caching"};

TEST_LOOP(who_may_not_track_polls, 0, N_ROWS(rights))
{
    site_start(&s, MASTERS, NULL);
    if (!site_user(&s, rights[_i])) {
        site_end(&s);
        return;
    }
    open_site();
    ask_all("SET k x PX 60000");
    must_see("fh");
    ask_all("DEL k");
    must_see("fhf");
}
