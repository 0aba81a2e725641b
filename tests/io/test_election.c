/* io/test_election.c - a candidate on five masters: what it is told, in which order, and what the
 * masters get before and after that [L1 to L4]. */
#include <redlock/error.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/candidate.h"
#include "io/held.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("election");
FIXTURE(NULL, farm_end_all);

#define MASTERS 5

static struct farm f;
static struct candidate c;
static struct redlock_election_options o;

static void start(void)
{
    candidate_start(&f, MASTERS);
    o = candidate_options(&c, &f);
}

static void start_leading(void)
{
    start();
    candidate_lead(&c, &o);
}

static void start_with_health(void)
{
    start();
    o.healthy_cb = candidate_on_healthy;
}

static void start_stopping_later(void)
{
    start();
    o.stops_later = 1;
    candidate_lead(&c, &o);
}

static bool is_leader(void)
{
    return redlock_election_is_leader(c.e) == 1;
}

static enum redlock_election_state state(void)
{
    return redlock_election_state(c.e);
}

/* The key is on all masters, or on none. */
static void must_have_key(bool has)
{
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", NULL), has ? 0 : MASTERS);
}

static uint64_t left_ms(uint64_t until_us)
{
    uint64_t now_us = redlock_clock_us();

    return until_us > now_us ? (until_us - now_us) / 1000 : 0;
}

/* ---- a life ---- */

/* [S11] It could only set keys that do not count, and observers would hear of a leader. Three
 * masters have restarted, or two, and another one is down. */
TEST_LOOP(a_candidate_asks_nobody_while_too_few_votes_count, 0, 2)
{
    size_t i, restarted = _i == 0 ? 3 : 2;

    farm_start_frozen(&f, MASTERS);
    for (i = 0; i < MASTERS; i++) {
        rlk_model_make_old(fake_model(f.nodes[i]));
    }
    f.options.quarantine = REDLOCK_QUARANTINE_STRICT;
    f.options.max_ttl_ms = CANDIDATE_TTL_MS;
    f.options.record = 0; /* the time of the quarantine alone */
    farm_open(&f);
    o = candidate_options(&c, &f);
    for (i = 0; i < restarted; i++) {
        rlk_model_restart(fake_model(f.nodes[i]));
        fake_hang_up(f.nodes[i]);
    }
    if (restarted == 2) {
        farm_down(&f, 2, 3);
        farm_wait(&f, 2, REDLOCK_NODE_DOWN);
    }
    candidate_pass_ms(&c, 1000);
    candidate_new(&c, &o);
    candidate_campaign(&c);
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
    for (i = 0; i < MASTERS; i++) {
        ck_assert_uint_eq(candidate_votes(&f, i), 0);
    }
    ck_assert_int_eq(redlock_lock_reason(redlock_election_lock(c.e)), REDLOCK_ENOQUORUM);
    candidate_pass_ms(&c, CANDIDATE_TTL_MS);
    ck_assert_int_eq(c.elected, 1);
    candidate_resign(&c);
    candidate_finish(&c);
}

TEST(elected_renewed_and_demoted)
{
    start();
    candidate_new(&c, &o);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_OBSERVER);
    ck_assert_ptr_null(redlock_election_lock(c.e));
    candidate_campaign(&c);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_CANDIDATE);
    ck_assert(!is_leader());
    candidate_wait(&c, &c.elected, 1);
    must_have_key(true);
    ck_assert_str_eq(strchr(rlk_model_get(fake_model(f.nodes[0]), "k"), ':'), ":leader one");
    ck_assert_uint_le(left_ms(redlock_election_deadline_us(c.e)), CANDIDATE_DEADLINE_MS);
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
    ck_assert_str_eq(c.order, "Em");
    ck_assert_uint_gt(left_ms(redlock_election_deadline_us(c.e)), CANDIDATE_THIRD_MS);
    candidate_resign(&c);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_STOPPING);
    ck_assert_str_eq(c.order, "Em");
    must_have_key(false);
    ck_assert_str_eq(c.order, "EmD");
    ck_assert_int_eq(c.demotion.reason, REDLOCK_OK);
    ck_assert_uint_gt(left_ms(c.demotion.stop_by_us), CANDIDATE_DEADLINE_MS);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_OBSERVER);
    candidate_finish(&c);
}

TEST(the_value_is_published)
{
    start();
    o.value = "10.0.0.1:80 and more";
    candidate_lead(&c, &o);
    ck_assert_str_eq(strchr(rlk_model_get(fake_model(f.nodes[0]), "k"), ':'),
                     ":leader one 10.0.0.1:80 and more");
}

TEST(each_term_is_larger)
{
    int i;

    start_leading();
    for (i = 2; i <= 4; i++) {
        candidate_resign(&c);
        candidate_campaign(&c);
        candidate_wait(&c, &c.elected, i); /* its callback compares the terms */
    }
    ck_assert_str_eq(c.order, "EDEDEDE");
}

TEST(campaign_and_resign_twice_are_one)
{
    start_leading();
    candidate_campaign(&c);
    loop_settle(f.base);
    candidate_resign(&c);
    candidate_resign(&c);
    loop_settle(f.base);
    candidate_resign(&c);
    loop_settle(f.base);
    ck_assert_str_eq(c.order, "ED");
}

TEST(resigned_before_it_was_elected)
{
    start();
    candidate_new(&c, &o);
    candidate_campaign(&c);
    candidate_resign(&c);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_OBSERVER);
    farm_wait_gone(&f, "k");
    ck_assert_str_eq(c.order, "");
}

/* The lock that comes is released, and another one is asked for. */
TEST(resigned_and_campaigned_before_it_was_elected)
{
    start();
    candidate_new(&c, &o);
    candidate_campaign(&c);
    candidate_resign(&c);
    candidate_campaign(&c);
    candidate_wait(&c, &c.elected, 1);
    must_have_key(true);
    ck_assert_str_eq(c.order, "E");
}

/* ---- two candidates ---- */

TEST(of_two_one_leads)
{
    static struct candidate other;
    struct redlock_election_options p;

    start_leading();
    p = candidate_options(&other, &f);
    p.id = "two";
    candidate_new(&other, &p);
    candidate_campaign(&other);
    candidate_pass_ms(&c, 2 * CANDIDATE_TTL_MS);
    ck_assert_int_eq(other.elected, 0);
    ck_assert(is_leader());
    candidate_resign(&c);
    candidate_pass_ms(&c, CANDIDATE_RETRY_MS);
    candidate_wait(&other, &other.elected, 1);
    ck_assert_uint_gt(other.term, c.term);
    ck_assert_int_eq(c.demoted, 1);
}

/* ---- [L1] the end of a lead ---- */

/* Nobody calls it: the clock alone says so. */
TEST(the_clock_ends_the_lead_while_the_loop_does_not_run)
{
    start_leading();
    suspend_ms(CANDIDATE_DEADLINE_MS - 1000);
    ck_assert(is_leader());
    suspend_ms(2000);
    ck_assert(!is_leader());
    ck_assert_uint_eq(redlock_election_term(c.e), 0);
    ck_assert_str_eq(c.order, "E");
}

/* It is late, but the lock may be renewed all the same. */
TEST(suspended_for_longer_than_the_lead)
{
    start_leading();
    suspend_ms(CANDIDATE_DEADLINE_MS + CANDIDATE_RETRY_MS + 1000);
    loop_settle(f.base);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_ESUSPENDED);
}

TEST(suspended_for_longer_than_the_lock)
{
    start_leading();
    suspend_ms(CANDIDATE_TTL_MS + 1000);
    loop_settle(f.base);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_ESUSPENDED);
    candidate_wait(&c, &c.elected, 2);
}

static const struct {
    const char *claim;
    bool asks_health;
} cuts[] = {
    {"cut_off_from_its_masters", false},
    {"cut_off_from_its_masters_and_fit", true},
};

TEST_ROWS(the_lead_ends_before_the_lock, cuts)
{
    start();
    o.healthy_cb = cuts[_i].asks_health ? candidate_on_healthy : NULL;
    candidate_lead(&c, &o);
    farm_pause(&f, 0, MASTERS);
    candidate_pass_ms(&c, CANDIDATE_DEADLINE_MS - 100);
    ck_assert(is_leader());
    ck_assert_int_eq(c.demoted, 0);
    candidate_pass_ms(&c, 200);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_ENOQUORUM);
    ck_assert_uint_gt(left_ms(c.demotion.stop_by_us), CANDIDATE_THIRD_MS / 2);
    farm_go_on(&f, 0, MASTERS);
    candidate_pass_ms(&c, CANDIDATE_RETRY_MS);
    candidate_wait(&c, &c.elected, 2);
}

/* Two of five are enough to lose nothing. */
TEST(a_minority_that_is_stopped_does_not_matter)
{
    start_leading();
    farm_pause(&f, 0, 2);
    candidate_pass_ms(&c, 2 * CANDIDATE_TTL_MS);
    ck_assert(is_leader());
    ck_assert_int_eq(c.demoted, 0);
}

TEST(keys_that_are_deleted_end_the_lead)
{
    start_leading();
    held_del(&f, 0, MASTERS);
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_ELOST);
    ck_assert_uint_eq(c.demotion.stop_by_us, 0);
    candidate_wait(&c, &c.elected, 2);
}

TEST(the_delay_after_a_lead_that_was_lost)
{
    start();
    o.delay_ms = 3600000;
    candidate_lead(&c, &o);
    held_del(&f, 0, MASTERS);
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_CANDIDATE);
    ck_assert_ptr_null(redlock_election_lock(c.e));
    suspend_ms(3500000);
    candidate_pass_ms(&c, 80000);
    ck_assert_int_eq(c.elected, 1);
    candidate_pass_ms(&c, 20000);
    candidate_wait(&c, &c.elected, 2);
}

TEST(no_delay_after_a_resignation)
{
    start();
    o.delay_ms = 3600000;
    candidate_lead(&c, &o);
    candidate_resign(&c);
    candidate_campaign(&c);
    candidate_wait(&c, &c.elected, 2);
}

/* ---- healthy_cb ---- */

TEST(fit_before_the_lead_and_before_each_renewal)
{
    size_t i;

    start_with_health();
    candidate_lead(&c, &o);
    ck_assert_str_eq(c.order, "hE");
    for (i = 1; i <= 4; i++) {
        candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
        ck_assert_int_ge(c.asked, (int)candidate_renewals(&f, 0) + 1);
        ck_assert_int_eq(c.asked, c.moved + 1);
    }
    ck_assert_uint_ge(candidate_renewals(&f, 0), 3);
    ck_assert(is_leader());
}

TEST(not_fit_at_the_beginning)
{
    start_with_health();
    c.fit = 0;
    candidate_new(&c, &o);
    candidate_campaign(&c);
    candidate_wait(&c, &c.asked, 1);
    must_have_key(false);
    ck_assert_str_eq(c.order, "h");
    ck_assert_int_eq(state(), REDLOCK_ELECTION_CANDIDATE);
    candidate_pass_ms(&c, CANDIDATE_RETRY_MS - 100);
    ck_assert_int_eq(c.asked, 1);
    c.fit = 1;
    candidate_pass_ms(&c, 200);
    candidate_wait(&c, &c.elected, 1);
    ck_assert_str_eq(c.order, "hhhE");
}

/* It does not take the lock from others, only to give it up. */
TEST(not_fit_to_try_again)
{
    int i;

    start_with_health();
    c.fit = 0;
    candidate_new(&c, &o);
    candidate_campaign(&c);
    candidate_wait(&c, &c.asked, 1);
    for (i = 2; i < 5; i++) {
        candidate_pass_ms(&c, CANDIDATE_RETRY_MS);
        candidate_wait(&c, &c.asked, i);
        must_have_key(false);
    }
    ck_assert_int_eq(candidate_votes(&f, 0), 1);
    ck_assert_int_eq(redlock_election_failure(c.e), REDLOCK_EUNRENEWED);
}

/* No renewal is sent after the no. */
TEST(not_fit_at_a_renewal)
{
    start_with_health();
    candidate_lead(&c, &o);
    c.fit = 0;
    while (c.demoted == 0) {
        candidate_pass_ms(&c, 100);
        ck_assert_uint_eq(candidate_renewals(&f, 0), 0);
    }
    ck_assert_str_eq(c.order, "hEhD");
    ck_assert_int_eq(c.demotion.reason, REDLOCK_EUNRENEWED);
    ck_assert_uint_gt(left_ms(c.demotion.stop_by_us), CANDIDATE_THIRD_MS);
    must_have_key(false);
    candidate_pass_ms(&c, CANDIDATE_RETRY_MS - 200);
    ck_assert_int_eq(c.asked, 2); /* whoever is fit has time to take the lead */
}

/* The answers of the first renewal come too late for it, and prolong the lock. So it counts, and
 * the next one needs another yes; otherwise none would ever begin. */
TEST(fit_is_asked_again_while_masters_are_slow)
{
    int asked;

    start_with_health();
    o.renew_deadline_ms = CANDIDATE_TTL_MS - 2000;
    candidate_lead(&c, &o);
    farm_pause(&f, 0, MASTERS);
    candidate_pass_ms(&c, 2 * CANDIDATE_THIRD_MS + 500);
    farm_go_on(&f, 0, MASTERS);
    farm_pause(&f, 0, MASTERS);
    asked = c.asked;
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS + 500);
    ck_assert_int_eq(c.demoted, 0);
    ck_assert_int_gt(c.asked, asked);
    farm_go_on(&f, 0, MASTERS);
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
    ck_assert(is_leader());
    ck_assert_int_eq(c.demoted, 0);
}

/* ---- stops_later [L3, L4] ---- */

TEST(the_lock_stays_until_it_has_stopped)
{
    size_t renewals;

    start_stopping_later();
    candidate_resign(&c);
    ck_assert_int_eq(redlock_election_stopped(c.e), REDLOCK_ESTATE);
    candidate_wait(&c, &c.demoted, 1);
    candidate_campaign(&c);
    renewals = candidate_renewals(&f, 0);
    candidate_pass_ms(&c, CANDIDATE_DEADLINE_MS);
    must_have_key(true);
    ck_assert_uint_eq(candidate_renewals(&f, 0), renewals);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_STOPPING);
    candidate_stopped(&c);
    ck_assert_int_eq(redlock_election_stopped(c.e), REDLOCK_ESTATE);
    candidate_wait(&c, &c.elected, 2);
    ck_assert_str_eq(c.order, "EDE");
}

TEST(who_never_stops_keeps_the_lock_until_it_ends)
{
    start_stopping_later();
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
    farm_pause(&f, 0, MASTERS);
    candidate_pass_ms(&c, CANDIDATE_DEADLINE_MS);
    ck_assert_int_eq(c.demoted, 1);
    farm_go_on(&f, 0, MASTERS);
    candidate_pass_ms(&c, CANDIDATE_TTL_MS);
    must_have_key(false);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_STOPPING);
    ck_assert_ptr_null(redlock_election_lock(c.e));
    ck_assert_int_eq(c.elected, 1);
    candidate_stopped(&c);
    candidate_wait(&c, &c.elected, 2);
}

/* A renewal that is in flight when the lead ends is the last. */
TEST(a_renewal_in_flight_is_the_last)
{
    size_t renewals;

    start_stopping_later();
    farm_pause(&f, 0, MASTERS);
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
    candidate_resign(&c);
    candidate_wait(&c, &c.demoted, 1);
    farm_go_on(&f, 0, MASTERS);
    loop_settle(f.base);
    renewals = candidate_renewals(&f, 0);
    candidate_pass_ms(&c, CANDIDATE_DEADLINE_MS);
    ck_assert_uint_eq(candidate_renewals(&f, 0), renewals);
    ck_assert_int_eq(c.moved, 0);
    candidate_pass_ms(&c, CANDIDATE_TTL_MS);
    must_have_key(false);
}

static void stop_inside(struct candidate *who)
{
    candidate_stopped(who);
    ck_assert_int_eq(redlock_election_stopped(who->e), REDLOCK_ESTATE);
}

TEST(it_may_have_stopped_inside_demoted_cb)
{
    start_stopping_later();
    c.on_demoted = stop_inside;
    candidate_resign(&c);
    candidate_wait(&c, &c.demoted, 1);
    must_have_key(false);
    ck_assert_int_eq(state(), REDLOCK_ELECTION_OBSERVER);
}

static void stop_refused(struct candidate *who)
{
    ck_assert_int_eq(redlock_election_stopped(who->e), REDLOCK_ESTATE);
}

TEST(without_stops_later_there_is_nothing_to_stop)
{
    start();
    c.on_elected = c.on_demoted = stop_refused;
    candidate_lead(&c, &o);
    ck_assert_int_eq(redlock_election_stopped(c.e), REDLOCK_ESTATE);
    candidate_resign(&c);
    ck_assert_int_eq(redlock_election_stopped(c.e), REDLOCK_ESTATE);
    candidate_wait(&c, &c.demoted, 1);
    ck_assert_int_eq(redlock_election_stopped(c.e), REDLOCK_ESTATE);
}

/* ---- a forked child ---- */

static int refusals_in_child(void)
{
    struct redlock_leader leader = {.size = sizeof(leader)};
    struct redlock_election *made = NULL;
    int n = 0;

    n += redlock_election_new(f.rl, &o, &made) == REDLOCK_EFORK;
    n += redlock_election_campaign(c.e) == REDLOCK_EFORK;
    n += redlock_election_resign(c.e) == REDLOCK_EFORK;
    n += redlock_election_hand_over(c.e, "two", 0) == REDLOCK_EFORK;
    n += redlock_election_stopped(c.e) == REDLOCK_EFORK;
    n += redlock_election_free(c.e, NULL, NULL) == REDLOCK_EFORK;
    n += redlock_election_leader(c.e, &leader) == REDLOCK_EFORK;
    n += redlock_election_is_leader(c.e) == 0;
    n += redlock_election_deadline_us(c.e) == 0;
    n += redlock_election_term(c.e) == 0;
    return n;
}

TEST(a_forked_child_does_not_lead)
{
    int status = -1;
    pid_t child;

    start_leading();
    child = fork();
    if (child == 0) {
        _exit(refusals_in_child());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 10);
    ck_assert(is_leader());
}
