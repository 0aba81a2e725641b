/* io/test_election_hand_over.c - a leader hands its leadership over to a candidate: when the
 * masters get the reservation [L2, H1], who is elected then, and what is refused. */
#include <redlock/error.h>
#include <stdio.h>
#include <string.h>

#include "io/candidate.h"
#include "io/scripts.h"
#include "io/waiter.h"
#include "lib/test.h"

SUITE("election-hand-over");

#define MASTERS 5

/* Long enough for any round trip, and less than the lock. */
#define WITHIN_MS (CANDIDATE_TTL_MS / 10)

static struct farm f;
static struct outcome got;
static struct redlock *managers[3];
static struct candidate c, others[2]; /* the leader; "two", which waits first, and "three" */
static struct redlock_election_options o;

static void end(void)
{
    size_t i;

    for (i = 1; i < N_ROWS(managers); i++) {
        if (managers[i]) {
            f.rl = managers[i];
            farm_close(&f);
        }
    }
    f.rl = managers[0];
    memset(managers, 0, sizeof(managers));
    farm_end_all();
}

FIXTURE(NULL, end);

static void start(void)
{
    waiter_start(&f, &got, MASTERS, 1);
    managers[0] = f.rl;
    o = candidate_options(&c, &f);
}

static void start_leading(void)
{
    start();
    candidate_lead(&c, &o);
}

static void start_stopping_later(void)
{
    start();
    o.stops_later = 1;
    candidate_lead(&c, &o);
}

static bool has_waiters(void *arg)
{
    size_t n = *(size_t *)arg, i, listed = 0;

    candidate_pass_ms(&c, 1);
    for (i = 0; i < MASTERS; i++) {
        listed += rlk_model_waiter(fake_model(f.nodes[i]), "k", (unsigned)n) != NULL;
    }
    return listed >= WAITER_HOSTS;
}

/* "two" and "three" wait to be elected, in this order. */
static void follow(void)
{
    static const char *const ids[] = {"two", "three"};
    size_t i;

    for (i = 0; i < N_ROWS(others); i++) {
        size_t n = i + 1;
        struct redlock_election_options p;

        farm_open(&f);
        managers[n] = f.rl;
        p = candidate_options(&others[i], &f);
        p.id = ids[i];
        candidate_new(&others[i], &p);
        candidate_campaign(&others[i]);
        loop_must_true(f.base, has_waiters, &n);
    }
    f.rl = managers[0];
}

static void hand_over(struct candidate *who)
{
    who->inside = true;
    ck_assert_int_eq(redlock_election_hand_over(who->e, "three", WITHIN_MS), REDLOCK_OK);
    who->inside = false;
    ck_assert_int_eq(redlock_election_is_leader(who->e), 0);
}

static size_t hand_overs(void)
{
    return scripts_count(&f, 0, &rlk_script_hand_over);
}

/* How many masters keep the key for "three". */
static size_t reserved(void)
{
    size_t i, n = 0;

    loop_settle(f.base);
    for (i = 0; i < MASTERS; i++) {
        const char *value = rlk_model_get(fake_model(f.nodes[i]), "k");

        n += value && strncmp(value, "for:", 4) == 0 && strcmp(value + 44, ":three") == 0;
    }
    return n;
}

/* ---- who is elected ---- */

TEST(the_named_candidate_is_elected_next)
{
    start_leading();
    follow();
    hand_over(&c);
    candidate_wait(&c, &c.demoted, 1);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_OK);
    candidate_wait(&others[1], &others[1].elected, 1);
    ck_assert_uint_gt(others[1].term, c.term);
    candidate_pass_ms(&c, 2 * WITHIN_MS);
    ck_assert_int_eq(others[0].elected, 0);
    ck_assert_int_eq(redlock_election_state(c.e), REDLOCK_ELECTION_OBSERVER);
    candidate_resign(&others[1]);
    candidate_wait(&others[0], &others[0].elected, 1);
}

TEST(others_are_elected_when_it_does_not_take_it)
{
    start_leading();
    follow();
    candidate_resign(&others[1]);
    loop_settle(f.base);
    hand_over(&c);
    candidate_wait(&c, &c.demoted, 1);
    ck_assert_uint_eq(reserved(), MASTERS);
    ck_assert_int_eq(others[0].elected, 0);
    candidate_pass_ms(&c, 2 * WITHIN_MS);
    ck_assert_int_eq(others[0].elected, 1);
}

/* ---- when the masters get it ---- */

static void must_hold_the_key(struct candidate *who)
{
    loop_settle(f.base);
    ck_assert_uint_eq(hand_overs(), 0);
    ck_assert_uint_eq(farm_count(&f, "k", redlock_lock_token(redlock_election_lock(who->e))),
                      MASTERS);
}

static void must_have_sent_nothing(struct candidate *who)
{
    (void)who;
    ck_assert_uint_eq(hand_overs(), 0);
}

TEST(handed_over_when_demoted_cb_has_returned)
{
    start_leading();
    c.on_demoted = must_have_sent_nothing;
    hand_over(&c);
    ck_assert_int_eq(c.demoted, 0);
    candidate_wait(&c, &c.demoted, 1);
    ck_assert_uint_eq(reserved(), MASTERS);
}

TEST(handed_over_when_it_has_stopped)
{
    start_stopping_later();
    hand_over(&c);
    candidate_wait(&c, &c.demoted, 1);
    must_hold_the_key(&c);
    candidate_pass_ms(&c, CANDIDATE_THIRD_MS);
    must_hold_the_key(&c);
    candidate_stopped(&c);
    ck_assert_uint_eq(reserved(), MASTERS);
}

static void stop_inside(struct candidate *who)
{
    candidate_stopped(who);
    must_have_sent_nothing(who);
}

TEST(handed_over_when_it_has_stopped_inside_demoted_cb)
{
    start_stopping_later();
    c.on_demoted = stop_inside;
    hand_over(&c);
    candidate_wait(&c, &c.demoted, 1);
    ck_assert_uint_eq(reserved(), MASTERS);
}

/* It is not fit to lead, and says who is. It stays a candidate itself. */
TEST(who_was_demoted_says_who_is_next_while_it_stops)
{
    start();
    o.stops_later = 1;
    o.healthy_cb = candidate_on_healthy;
    candidate_lead(&c, &o);
    c.fit = 0;
    candidate_pass_ms(&c, CANDIDATE_DEADLINE_MS);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_EUNRENEWED);
    hand_over(&c);
    candidate_campaign(&c);
    must_hold_the_key(&c);
    candidate_stopped(&c);
    ck_assert_uint_eq(reserved(), MASTERS);
    ck_assert_int_eq(redlock_election_state(c.e), REDLOCK_ELECTION_CANDIDATE);
}

TEST(the_last_call_counts)
{
    start_stopping_later();
    ck_assert_int_eq(redlock_election_hand_over(c.e, "two", 1), REDLOCK_OK);
    candidate_wait(&c, &c.demoted, 1);
    hand_over(&c);
    candidate_resign(&c);
    candidate_stopped(&c);
    ck_assert_uint_eq(reserved(), MASTERS);
}

TEST(a_free_hands_over)
{
    start_leading();
    hand_over(&c);
    candidate_free(&c);
    candidate_wait(&c, &c.freed, 1);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_uint_eq(reserved(), MASTERS);
}

TEST(a_close_hands_over)
{
    start_stopping_later();
    c.on_demoted = must_have_sent_nothing;
    hand_over(&c);
    managers[0] = NULL;
    candidate_close(&c);
    candidate_wait(&c, &c.closed, 1);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_uint_eq(reserved(), MASTERS);
}

/* ---- when it is not handed over ---- */

TEST(who_never_stops_hands_nothing_over)
{
    start_stopping_later();
    hand_over(&c);
    candidate_pass_ms(&c, 2 * CANDIDATE_TTL_MS);
    ck_assert_ptr_null(redlock_election_lock(c.e));
    candidate_stopped(&c);
    loop_settle(f.base);
    ck_assert_uint_eq(hand_overs(), 0);
}

/* Without leadership it resigns, and the next leadership does not remember. */
TEST(who_does_not_lead_resigns)
{
    start();
    candidate_new(&c, &o);
    hand_over(&c);
    candidate_campaign(&c);
    hand_over(&c);
    candidate_pass_ms(&c, 1000);
    ck_assert_int_eq(redlock_election_state(c.e), REDLOCK_ELECTION_OBSERVER);
    ck_assert_int_eq(c.elected, 0);
    candidate_campaign(&c);
    candidate_wait(&c, &c.elected, 1);
    candidate_resign(&c);
    candidate_wait(&c, &c.demoted, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(hand_overs(), 0);
    ck_assert_uint_eq(farm_count(&f, "k", NULL), MASTERS);
}

/* ---- what is refused ---- */

static char too_long[REDLOCK_MAX_ID + 2];

static struct {
    const char *claim, *to;
    uint32_t within_ms;
    const char *text;
} wrong[] = {
    {"no_id", NULL, 0, "to is NULL or empty; it must be the owner text of a waiter"},
    {"an_empty_id", "", 0, "to is NULL or empty; it must be the owner text of a waiter"},
    {"an_id_with_a_space", "node 2", 0,
     "the id of the successor has a byte that is not allowed; use printable ASCII without spaces"},
    {"an_id_that_is_too_long", too_long, 0,
     "the id of the successor is 65 bytes long; at most 64 are allowed"},
    {"its_own_id", "one", 0, "the id of the successor is that of this candidate; name another one"},
    {"a_time_that_is_too_long", "two", 86400001,
     "within_ms is 86400001; it must be 0 to 300000 (max_ttl_ms)"},
};

TEST_ROWS(a_hand_over_is_refused_and_it_leads_as_before, wrong)
{
    memset(too_long, 'b', sizeof(too_long) - 1);
    start_leading();
    ck_assert_int_eq(redlock_election_hand_over(c.e, wrong[_i].to, wrong[_i].within_ms),
                     REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_error_text(f.rl), wrong[_i].text);
    ck_assert_int_eq(redlock_election_is_leader(c.e), 1);
}
