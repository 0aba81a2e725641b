/* test_election.c - the machine of a candidate: every event in every state that can be reached,
 * and random lives, beside the model of the fuzz target; and why a lead is over. */
#include <redlock/error.h>
#include <string.h>

#include "../fuzz/election_model.h"
#include "base/hash.h"
#include "base/prng.h"
#include "base/time.h"
#include "lib/test.h"

SUITE("election");

#define LEASE 1000u
#define DEADLINE 600u
#define RETRY 100u
#define DELAY 300u

static const struct {
    const char *claim;
    struct rlk_election_config config;
} configs[] = {
    {"every_event_in_every_state", {LEASE, DEADLINE, RETRY, 0, 1, false}},
    {"every_event_in_every_state_with_a_delay", {LEASE, DEADLINE, RETRY, DELAY, 1, false}},
    {"every_event_in_every_state_of_who_stops_later", {LEASE, DEADLINE, RETRY, 0, 1, true}},
    {"every_event_in_every_state_of_who_stops_later_with_a_delay",
     {LEASE, DEADLINE, RETRY, DELAY, 1, true}},
};

/* valid_until_us: from now. */
static const struct rlk_election_event events[] = {
    {.kind = RLK_ELECTION_CAMPAIGN},
    {.kind = RLK_ELECTION_RESIGN},
    {.kind = RLK_ELECTION_HAND_OVER},
    {.kind = RLK_ELECTION_CLOSE},
    {.kind = RLK_ELECTION_WON, .valid_until_us = LEASE, .healthy = true},
    {.kind = RLK_ELECTION_WON, .valid_until_us = LEASE},
    {.kind = RLK_ELECTION_WON, .valid_until_us = LEASE - DEADLINE, .healthy = true},
    {.kind = RLK_ELECTION_WON, .valid_until_us = LEASE - DEADLINE + 1, .healthy = true},
    {.kind = RLK_ELECTION_FAILED},
    {.kind = RLK_ELECTION_MOVED, .valid_until_us = LEASE},
    {.kind = RLK_ELECTION_MOVED, .valid_until_us = LEASE / 2, .reason = REDLOCK_ENOQUORUM},
    {.kind = RLK_ELECTION_MOVED, .valid_until_us = LEASE - DEADLINE, .reason = REDLOCK_ELIMIT},
    {.kind = RLK_ELECTION_MOVED, .valid_until_us = 0},
    {.kind = RLK_ELECTION_LOST, .reason = REDLOCK_ELOST},
    {.kind = RLK_ELECTION_SICK},
    {.kind = RLK_ELECTION_LED, .led = true},
    {.kind = RLK_ELECTION_LED, .led = true, .priority = 1},
    {.kind = RLK_ELECTION_LED},
    {.kind = RLK_ELECTION_OUTRANKED, .outranked = true},
    {.kind = RLK_ELECTION_OUTRANKED},
    {.kind = RLK_ELECTION_CALLED, .called = true},
    {.kind = RLK_ELECTION_CALLED},
    {.kind = RLK_ELECTION_REPORTED},
    {.kind = RLK_ELECTION_STOPPED},
    {.kind = RLK_ELECTION_TIMER},
    {.kind = RLK_ELECTION_TIMER, .reason = REDLOCK_ENOQUORUM},
};

/* When an event comes: now, at the deadline, just before it, or much later. */
enum when {
    NOW,
    JUST_BEFORE,
    AT_THE_DEADLINE,
    MUCH_LATER,
    WHENS
};

static void wait_until(struct election_model *m, enum when when)
{
    if (when == MUCH_LATER) {
        m->now_us += 2 * LEASE;
    } else if (when != NOW && m->deadline_us != RLK_NEVER && m->deadline_us > m->now_us) {
        m->now_us = m->deadline_us - (when == JUST_BEFORE);
    }
}

static void play(struct election_model *m, struct rlk_election_event ev)
{
    ev.valid_until_us += m->now_us;
    election_model_step(m, ev);
}

/* ---- all states ---- */

/* States are the same when their times are the same as seen from now, and what is counted does not
 * matter. */
struct seen {
    struct rlk_election e;
    enum election_model_lock lock;
    enum election_model_lead lead;
    bool renews, closed, stopped;
};

#define MOST_STATES 20000

static struct election_model states[MOST_STATES];
static struct seen seen[MOST_STATES];
static size_t n_states;

/* Where a state is by its hash, plus one; 0: nowhere. Twice as many slots as states, at least. */
#define SLOTS 65536u

static size_t slots[SLOTS];

static uint64_t from_now(const struct election_model *m, uint64_t time_us)
{
    return rlk_time_sub(time_us, m->now_us);
}

static struct seen as_seen(const struct election_model *m)
{
    struct seen s;

    memset(&s, 0, sizeof(s));
    s.e.state = m->e.state;
    s.e.wants = m->e.wants;
    s.e.outranked = m->e.outranked;
    s.e.called = m->e.called;
    s.e.called_until_us = m->e.called ? from_now(m, m->e.called_until_us) : 0;
    s.e.led_by_lower = m->e.led_by_lower;
    s.e.released = m->e.released;
    s.e.stopped = m->e.stopped;
    s.e.hands_over = m->hands_over;
    s.e.reason = m->lead == ELECTION_MODEL_NO_LEAD ? 0 : m->e.reason;
    s.e.leadership_until_us = from_now(m, m->e.leadership_until_us);
    s.e.valid_until_us = m->lead == ELECTION_MODEL_NO_LEAD ? 0 : from_now(m, m->e.valid_until_us);
    s.e.pause_us = m->e.state == RLK_ELECTION_PAUSED ? from_now(m, m->e.pause_us) : 0;
    s.e.config.stops_later = m->e.config.stops_later;
    s.lock = m->lock;
    s.lead = m->lead;
    s.renews = m->renews;
    s.closed = m->closed;
    s.stopped = m->stopped;
    return s;
}

static void add(const struct election_model *m)
{
    struct seen s = as_seen(m);
    static const struct rlk_hash_seed seed;
    uint64_t hash = rlk_hash(&seed, &s, sizeof(s)) % SLOTS;

    while (slots[hash]) {
        if (memcmp(&seen[slots[hash] - 1], &s, sizeof(s)) == 0) {
            return;
        }
        hash = (hash + 1) % SLOTS;
    }
    ck_assert_uint_lt(n_states, MOST_STATES);
    seen[n_states] = s;
    states[n_states++] = *m;
    slots[hash] = n_states;
}

static void try_everything(size_t state)
{
    struct election_model m;
    size_t i;
    int when;

    for (i = 0; i < N_ROWS(events); i++) {
        for (when = 0; when < WHENS; when++) {
            m = states[state];
            wait_until(&m, (enum when)when);
            if (election_model_may(&m, events[i].kind)) {
                play(&m, events[i]);
                add(&m);
            }
        }
    }
    m = states[state];
    election_model_end(&m);
}

TEST_ROWS(every_event_in_every_state, configs)
{
    struct election_model m;
    size_t i, by_state[RLK_ELECTION_STOPPING + 1] = {0};

    n_states = 0;
    memset(slots, 0, sizeof(slots));
    election_model_init(&m, &configs[_i].config);
    add(&m);
    for (i = 0; i < n_states; i++) {
        by_state[states[i].e.state]++;
        try_everything(i);
    }
    for (i = 0; i <= RLK_ELECTION_STOPPING; i++) {
        ck_assert_int_eq(by_state[i] > 0,
                         i != RLK_ELECTION_STOPPING || configs[_i].config.stops_later);
    }
}

/* ---- random lives ---- */

#define LIVES 2000
#define STEPS 200

static void live(struct rlk_prng *prng)
{
    struct rlk_election_config c = configs[rlk_prng_next(prng) % N_ROWS(configs)].config;
    struct election_model m;
    struct rlk_election_event ev;
    unsigned i;

    election_model_init(&m, &c);
    for (i = 0; i < STEPS; i++) {
        m.now_us += rlk_prng_next(prng) % (LEASE / 5);
        ev = events[rlk_prng_next(prng) % N_ROWS(events)];
        if (ev.valid_until_us && rlk_prng_next(prng) % 2) {
            ev.valid_until_us = rlk_prng_next(prng) % (2 * LEASE);
        }
        if (ev.kind != RLK_ELECTION_CLOSE && election_model_may(&m, ev.kind)) {
            play(&m, ev);
        }
    }
    election_model_end(&m);
}

TEST_LOOP(random_lives, 0, 4)
{
    struct rlk_prng prng;
    unsigned i;

    rlk_prng_seed(&prng, (uint64_t)_i);
    for (i = 0; i < LIVES; i++) {
        live(&prng);
    }
}

/* ---- calls ---- */

static void be(struct election_model *m, enum rlk_election_event_kind kind)
{
    play(m, (struct rlk_election_event){.kind = kind});
}

static void be_outranked(struct election_model *m, bool outranked)
{
    play(m, (struct rlk_election_event){.kind = RLK_ELECTION_OUTRANKED, .outranked = outranked});
}

static void be_called(struct election_model *m)
{
    play(m, (struct rlk_election_event){.kind = RLK_ELECTION_CALLED, .called = true});
}

/* It leads, resigns because somebody else bids, and that bid is over. */
static void hand_over(struct election_model *m)
{
    election_model_init(m, &configs[0].config);
    be(m, RLK_ELECTION_CAMPAIGN);
    play(m, (struct rlk_election_event){
                .kind = RLK_ELECTION_WON, .valid_until_us = LEASE, .healthy = true});
    be_outranked(m, true);
    be(m, RLK_ELECTION_REPORTED);
    be_outranked(m, false);
    ck_assert_int_eq(m->e.state, RLK_ELECTION_PAUSED);
}

TEST(who_pauses_answers_a_call_when_it_asks_again)
{
    struct election_model m;

    hand_over(&m);
    be_called(&m);
    m.now_us = m.deadline_us;
    be(&m, RLK_ELECTION_TIMER);
    ck_assert_int_eq(m.e.state, RLK_ELECTION_ASKING);
    ck_assert(m.e.called);
}

/* Somebody else was called upon just before. */
TEST(who_leaves_answers_a_call_when_it_asks_again)
{
    struct election_model m;

    election_model_init(&m, &configs[0].config);
    be(&m, RLK_ELECTION_CAMPAIGN);
    be_called(&m);
    be_outranked(&m, true);
    ck_assert_int_eq(m.e.state, RLK_ELECTION_LEAVING);
    be_called(&m);
    be(&m, RLK_ELECTION_FAILED);
    ck_assert_int_eq(m.e.state, RLK_ELECTION_PAUSED);
    be_outranked(&m, false);
    ck_assert_int_eq(m.e.state, RLK_ELECTION_ASKING);
    ck_assert(m.e.called);
}

TEST(an_old_call_is_not_answered)
{
    struct election_model m;

    hand_over(&m);
    be_outranked(&m, true);
    be_called(&m);
    m.now_us += 2 * LEASE;
    be_outranked(&m, false);
    ck_assert_int_eq(m.e.state, RLK_ELECTION_ASKING);
    ck_assert(!m.e.called);
}

TEST(a_call_before_a_resignation_is_not_answered)
{
    struct election_model m;

    hand_over(&m);
    be_called(&m);
    be(&m, RLK_ELECTION_RESIGN);
    be(&m, RLK_ELECTION_CAMPAIGN);
    ck_assert_int_eq(m.e.state, RLK_ELECTION_ASKING);
    ck_assert(!m.e.called);
}

TEST(a_call_is_answered_once)
{
    struct election_model m;

    hand_over(&m);
    be_called(&m);
    m.now_us = m.deadline_us;
    be(&m, RLK_ELECTION_TIMER);
    be(&m, RLK_ELECTION_FAILED);
    ck_assert(!m.e.called);
}

/* ---- why a lead is over ---- */

static const struct {
    const char *claim;
    uint64_t late_us; /* how long after the end of the lead the event comes */
    struct rlk_election_event ev;
    int reason;
} reasons[] = {
    {"nothing_is_known_to_be_wrong", 0, {.kind = RLK_ELECTION_TIMER}, REDLOCK_ENOQUORUM},
    {"renewals_fail", 0, {.kind = RLK_ELECTION_TIMER, .reason = REDLOCK_ELIMIT}, REDLOCK_ELIMIT},
    {"a_timer_that_is_a_little_late",
     LEASE / 10,
     {.kind = RLK_ELECTION_TIMER, .reason = REDLOCK_ENOQUORUM},
     REDLOCK_ENOQUORUM},
    {"a_timer_that_is_late",
     LEASE / 10 + 1,
     {.kind = RLK_ELECTION_TIMER, .reason = REDLOCK_ENOQUORUM},
     REDLOCK_ESUSPENDED},
    {"a_late_renewal_in_vain",
     LEASE / 10 + 1,
     {.kind = RLK_ELECTION_MOVED, .valid_until_us = 1, .reason = REDLOCK_ENOQUORUM},
     REDLOCK_ENOQUORUM},
    {"a_loss_says_why",
     0,
     {.kind = RLK_ELECTION_LOST, .reason = REDLOCK_ESUSPENDED},
     REDLOCK_ESUSPENDED},
    {"a_resignation_after_the_end", LEASE, {.kind = RLK_ELECTION_RESIGN}, REDLOCK_OK},
    {"a_hand_over", 0, {.kind = RLK_ELECTION_HAND_OVER}, REDLOCK_OK},
    {"a_close_after_the_end", LEASE, {.kind = RLK_ELECTION_CLOSE}, REDLOCK_ECANCELED},
    {"no_health", 0, {.kind = RLK_ELECTION_SICK}, REDLOCK_EUNRENEWED},
    {"a_higher_priority",
     0,
     {.kind = RLK_ELECTION_OUTRANKED, .outranked = true},
     REDLOCK_EOUTRANKED},
};

TEST_ROWS(why_a_lead_is_over, reasons)
{
    struct election_model m;

    election_model_init(&m, &configs[0].config);
    play(&m, (struct rlk_election_event){.kind = RLK_ELECTION_CAMPAIGN});
    play(&m, (struct rlk_election_event){
                 .kind = RLK_ELECTION_WON, .valid_until_us = LEASE, .healthy = true});
    ck_assert_uint_eq(m.deadline_us, m.now_us + DEADLINE);
    m.now_us = m.deadline_us + reasons[_i].late_us;
    play(&m, reasons[_i].ev);
    ck_assert_int_eq(m.e.state, RLK_ELECTION_DEMOTED);
    ck_assert_int_eq(m.e.reason, reasons[_i].reason);
}
