/* election_model.c - see election_model.h. */
#include "election_model.h"

#include <string.h>

#include <redlock/error.h>

#include "base/time.h"
#include "fuzz.h"

/* A TIMER that comes so much of the lease after the end of the lead was not stepped in time. */
#define LATE_PARTS 10

/* For how many leases a call counts while the candidate does not ask. */
#define CALL_LEASES 2

void election_model_init(struct election_model *m, const struct rlk_election_config *config)
{
    memset(m, 0, sizeof(*m));
    m->config = *config;
    m->now_us = 1000000;
    m->deadline_us = RLK_NEVER;
    rlk_election_init(&m->e, config);
}

static bool is_asked(const struct election_model *m)
{
    return m->lock == ELECTION_MODEL_ASKED || m->lock == ELECTION_MODEL_CANCELED;
}

bool election_model_may(const struct election_model *m, enum rlk_election_event_kind kind)
{
    switch (kind) {
    case RLK_ELECTION_CAMPAIGN:
    case RLK_ELECTION_CLOSE:
        return !m->closed;
    case RLK_ELECTION_WON:
    case RLK_ELECTION_FAILED:
        return is_asked(m);
    case RLK_ELECTION_MOVED:
    case RLK_ELECTION_LOST:
    case RLK_ELECTION_SICK:
        return m->lock == ELECTION_MODEL_HELD;
    case RLK_ELECTION_REPORTED:
        return m->lead == ELECTION_MODEL_DEMOTED;
    case RLK_ELECTION_STOPPED:
        return m->lead == ELECTION_MODEL_STOPS || m->lead == ELECTION_MODEL_DEMOTED;
    case RLK_ELECTION_RESIGN:
    case RLK_ELECTION_HAND_OVER:
    case RLK_ELECTION_LED:
    case RLK_ELECTION_OUTRANKED:
    case RLK_ELECTION_CALLED:
    case RLK_ELECTION_TIMER:
        break;
    }
    return true;
}

/* ---- the rules of each action ---- */

static uint64_t margin_us(const struct election_model *m)
{
    return m->config.lease_us - m->config.renew_deadline_us;
}

static bool is_worth_it(const struct election_model *m, const struct rlk_election_event *ev)
{
    return ev->healthy && rlk_time_sub(ev->valid_until_us, margin_us(m)) > m->now_us;
}

static bool resigns(const struct rlk_election_event *ev)
{
    return ev->kind == RLK_ELECTION_RESIGN || ev->kind == RLK_ELECTION_HAND_OVER;
}

/* Why the lead is over at the time of this event, or because of it. */
static int expected_reason(const struct election_model *m, const struct rlk_election_event *ev,
                           uint64_t led_until_us)
{
    static const int fixed[RLK_ELECTION_EVENT_KINDS] = {[RLK_ELECTION_CLOSE] = REDLOCK_ECANCELED,
                                                        [RLK_ELECTION_SICK] = REDLOCK_EUNRENEWED,
                                                        [RLK_ELECTION_OUTRANKED] =
                                                            REDLOCK_EOUTRANKED};

    if (fixed[ev->kind] || resigns(ev)) {
        return fixed[ev->kind];
    }
    if (ev->kind == RLK_ELECTION_TIMER &&
        rlk_time_sub(m->now_us, led_until_us) > m->config.lease_us / LATE_PARTS) {
        return REDLOCK_ESUSPENDED;
    }
    return ev->reason ? ev->reason : REDLOCK_ENOQUORUM;
}

static void check_elected(struct election_model *m, const struct rlk_election_event *ev,
                          const struct rlk_election_actions *out)
{
    bool begins = ev->kind == RLK_ELECTION_WON && m->lock == ELECTION_MODEL_HELD && m->wants &&
                  is_worth_it(m, ev);

    FUZZ_CHECK(out->elected == begins, "a lock that was won, and is worth it, is a lead");
    if (!begins) {
        return;
    }
    FUZZ_CHECK(m->lead == ELECTION_MODEL_NO_LEAD, "[L3] elected after the last lead has stopped");
    m->lead = ELECTION_MODEL_LEADS;
    m->valid_until_us = ev->valid_until_us;
    m->elected++;
}

/* Whether a lead is over at this event. */
static bool is_over(const struct election_model *m, const struct rlk_election_event *ev)
{
    static const bool ends_it[RLK_ELECTION_EVENT_KINDS] = {[RLK_ELECTION_RESIGN] = true,
                                                           [RLK_ELECTION_HAND_OVER] = true,
                                                           [RLK_ELECTION_CLOSE] = true,
                                                           [RLK_ELECTION_SICK] = true,
                                                           [RLK_ELECTION_LOST] = true};

    if (ev->kind == RLK_ELECTION_OUTRANKED) {
        return ev->outranked;
    }
    if (ev->kind == RLK_ELECTION_MOVED || ev->kind == RLK_ELECTION_TIMER) {
        return rlk_time_sub(m->valid_until_us, margin_us(m)) <= m->now_us;
    }
    return ends_it[ev->kind];
}

static void check_demoted(struct election_model *m, const struct rlk_election_event *ev,
                          const struct rlk_election_actions *out, uint64_t led_until_us)
{
    bool ends = m->lead == ELECTION_MODEL_LEADS && is_over(m, ev);

    FUZZ_CHECK(out->demoted == ends, "[L1, L5] a lead that is over ends, and no other");
    if (ends) {
        FUZZ_CHECK(m->e.reason == expected_reason(m, ev, led_until_us), "it says why");
        m->reason = m->e.reason;
        m->lead = ELECTION_MODEL_DEMOTED;
        m->stopped = false;
        m->demoted++;
    }
}

static void check_moved(const struct election_model *m, const struct rlk_election_event *ev,
                        const struct rlk_election_actions *out, uint64_t led_until_us)
{
    bool moves = ev->kind == RLK_ELECTION_MOVED && m->lead == ELECTION_MODEL_LEADS &&
                 m->e.leadership_until_us != led_until_us;

    FUZZ_CHECK(out->moved == moves, "another deadline of the lead is reported");
}

static void check_release(struct election_model *m, const struct rlk_election_actions *out)
{
    bool hands_over = out->release && m->hands_over && m->lead == ELECTION_MODEL_NO_LEAD;

    FUZZ_CHECK(out->hand_over == hands_over,
               "[L2] a lock is handed over when the application has stopped, and never else");
    if (out->release) {
        FUZZ_CHECK(m->lock == ELECTION_MODEL_HELD || m->lock == ELECTION_MODEL_LOST,
                   "what is released was won, and not released before");
        FUZZ_CHECK(m->lead != ELECTION_MODEL_LEADS && m->lead != ELECTION_MODEL_DEMOTED,
                   "[L2] the end of the lead was reported before");
        FUZZ_CHECK(m->lead != ELECTION_MODEL_STOPS || m->valid_until_us <= m->now_us,
                   "[L4] who stops later keeps the lock until it must have stopped");
        m->lock = ELECTION_MODEL_NO_LOCK;
        m->hands_over = false;
        m->released++;
    }
    FUZZ_CHECK(m->lock != ELECTION_MODEL_HELD || m->lead != ELECTION_MODEL_NO_LEAD,
               "a lock that is no lead is released");
}

static void check_acquire(struct election_model *m, const struct rlk_election_actions *out)
{
    if (out->cancel) {
        FUZZ_CHECK(m->lock == ELECTION_MODEL_ASKED, "what is cancelled was asked for");
        FUZZ_CHECK(!m->wants || m->outranked, "a candidate does not cancel");
        m->lock = ELECTION_MODEL_CANCELED;
    }
    if (out->acquire) {
        FUZZ_CHECK(m->lock == ELECTION_MODEL_NO_LOCK, "one lock at a time");
        FUZZ_CHECK(m->lead == ELECTION_MODEL_NO_LEAD, "[L3] the last lead has stopped");
        FUZZ_CHECK(m->wants && !m->closed, "only a candidate asks");
        FUZZ_CHECK(!m->outranked, "[L5] who is outranked does not ask");
        m->lock = ELECTION_MODEL_ASKED;
        m->renews = true;
    }
    FUZZ_CHECK(m->lock != ELECTION_MODEL_ASKED || (m->wants && !m->outranked),
               "who does not want the lead any more cancels");
}

/* ---- what is true between the steps ---- */

static void check_lead(const struct election_model *m)
{
    bool leads = m->lead == ELECTION_MODEL_LEADS;

    FUZZ_CHECK(m->e.leadership_until_us ==
                   (leads ? rlk_time_sub(m->valid_until_us, margin_us(m)) : 0),
               "[L1] the lead ends before the lock, and nobody relies on it afterwards");
    FUZZ_CHECK(m->demoted + leads == m->elected, "[L2] each lead that began ends, once");
    FUZZ_CHECK(m->lead != ELECTION_MODEL_STOPS || m->lock == ELECTION_MODEL_NO_LOCK || !m->renews,
               "[L4] who stops does not renew");
    if (m->lead == ELECTION_MODEL_DEMOTED || m->lead == ELECTION_MODEL_STOPS) {
        FUZZ_CHECK(m->e.valid_until_us == m->valid_until_us,
                   "the application knows until when it must have stopped");
    }
}

static uint64_t expected_deadline_us(const struct election_model *m)
{
    if (m->lead == ELECTION_MODEL_LEADS) {
        return m->e.leadership_until_us;
    }
    if (m->lead == ELECTION_MODEL_STOPS && m->lock != ELECTION_MODEL_NO_LOCK) {
        return m->valid_until_us;
    }
    return m->e.state == RLK_ELECTION_PAUSED && !m->outranked ? m->e.pause_us : RLK_NEVER;
}

static void check_progress(const struct election_model *m)
{
    bool idle = m->lead == ELECTION_MODEL_NO_LEAD && m->lock == ELECTION_MODEL_NO_LOCK;

    FUZZ_CHECK((m->e.state == RLK_ELECTION_PAUSED) == (idle && m->wants), "a candidate waits");
    FUZZ_CHECK((m->e.state == RLK_ELECTION_IDLE) == (idle && !m->wants), "an observer does not");
    FUZZ_CHECK(m->deadline_us == expected_deadline_us(m), "a timer when something is due");
    FUZZ_CHECK(m->e.state != RLK_ELECTION_PAUSED || m->outranked || m->deadline_us > m->now_us,
               "no pause that is over");
    FUZZ_CHECK(m->won == m->released + (m->lock >= ELECTION_MODEL_HELD),
               "each lock that was won is released once");
}

/* The model before a step. */
struct before {
    enum election_model_lock lock;
    enum election_model_lead lead;
    uint64_t led_until_us;
};

/* How long a candidate does not ask after this step has ended a try or a lead. */
static uint64_t pause_us(const struct election_model *m, const struct before *before)
{
    const struct rlk_election_config *c = &m->config;

    if (before->lead == ELECTION_MODEL_NO_LEAD) {
        return before->lock == ELECTION_MODEL_CANCELED ? 0 : c->retry_us;
    }
    switch (m->reason) {
    case REDLOCK_OK:
        return 0;
    case REDLOCK_EUNRENEWED:
    case REDLOCK_EOUTRANKED:
        return rlk_time_max(c->delay_us, c->retry_us);
    default:
        return c->delay_us;
    }
}

static void check_pause(const struct election_model *m, const struct before *before)
{
    bool tried = before->lock != ELECTION_MODEL_NO_LOCK && m->elected == m->demoted;
    bool has_ended = (tried || before->lead != ELECTION_MODEL_NO_LEAD) &&
                     m->lead == ELECTION_MODEL_NO_LEAD &&
                     (m->lock == ELECTION_MODEL_NO_LOCK || m->lock == ELECTION_MODEL_ASKED) &&
                     before->lock != m->lock;
    uint64_t for_us = pause_us(m, before);

    if (!has_ended || !m->wants) {
        return;
    }
    FUZZ_CHECK((m->lock == ELECTION_MODEL_ASKED) == (for_us == 0 && !m->outranked),
               "a candidate asks again at once, or pauses");
    FUZZ_CHECK(for_us == 0 || m->e.pause_us == rlk_time_add(m->now_us, for_us),
               "a pause lasts as configured");
}

/* ---- a step ---- */

/* Its lead began, and its lock was not released yet. */
static bool has_led(const struct election_model *m)
{
    return m->lead != ELECTION_MODEL_NO_LEAD && m->lock != ELECTION_MODEL_NO_LOCK;
}

static void take_in_wish(struct election_model *m, const struct rlk_election_event *ev)
{
    if (ev->kind == RLK_ELECTION_CAMPAIGN) {
        m->wants = true;
    } else if (resigns(ev) || ev->kind == RLK_ELECTION_CLOSE) {
        m->wants = false;
        m->hands_over = ev->kind == RLK_ELECTION_HAND_OVER ? has_led(m) : m->hands_over;
        m->closed = m->closed || ev->kind == RLK_ELECTION_CLOSE;
    } else if (ev->kind == RLK_ELECTION_OUTRANKED) {
        m->outranked = ev->outranked;
    } else if (ev->kind == RLK_ELECTION_CALLED) {
        m->called = ev->called;
        m->called_until_us = rlk_time_add(m->now_us, CALL_LEASES * m->config.lease_us);
    } else if (ev->kind == RLK_ELECTION_LED && ev->led) {
        m->led_by_lower = ev->priority < m->config.priority;
    }
}

/* [L5] A call is answered by one try to be elected, unless somebody else outranks that. */
static void take_in_end_of_call(struct election_model *m, const struct rlk_election_event *ev)
{
    bool has_ended = ev->kind == RLK_ELECTION_WON || ev->kind == RLK_ELECTION_FAILED;

    if (m->lock == ELECTION_MODEL_ASKED ? has_ended : m->called_until_us <= m->now_us) {
        m->called = false;
    }
}

/* A win that was cancelled is a lock all the same. */
static void take_in_lock(struct election_model *m, const struct rlk_election_event *ev)
{
    if (ev->kind == RLK_ELECTION_WON) {
        m->lock = m->lock == ELECTION_MODEL_CANCELED ? ELECTION_MODEL_LOST : ELECTION_MODEL_HELD;
        m->won++;
    } else if (ev->kind == RLK_ELECTION_FAILED) {
        m->lock = ELECTION_MODEL_NO_LOCK;
    } else if (ev->kind == RLK_ELECTION_LOST) {
        m->lock = ELECTION_MODEL_LOST;
    }
}

/* What the application was told when it began to stop is final. */
static void take_in_validity(struct election_model *m, const struct rlk_election_event *ev)
{
    bool leads = m->lead == ELECTION_MODEL_LEADS, demoted = m->lead == ELECTION_MODEL_DEMOTED;

    if (ev->kind == RLK_ELECTION_LOST && (leads || demoted)) {
        m->valid_until_us = 0;
    } else if (ev->kind == RLK_ELECTION_MOVED && leads) {
        m->valid_until_us = ev->valid_until_us;
    } else if (ev->kind == RLK_ELECTION_MOVED && demoted) {
        m->valid_until_us = rlk_time_min(m->valid_until_us, ev->valid_until_us);
    }
}

static void take_in_stop(struct election_model *m, const struct rlk_election_event *ev)
{
    bool later = m->config.stops_later && !m->closed && !m->stopped;

    if (ev->kind == RLK_ELECTION_REPORTED) {
        m->lead = later ? ELECTION_MODEL_STOPS : ELECTION_MODEL_NO_LEAD;
    } else if (ev->kind == RLK_ELECTION_STOPPED || ev->kind == RLK_ELECTION_CLOSE) {
        m->stopped = true;
        m->lead = m->lead == ELECTION_MODEL_STOPS ? ELECTION_MODEL_NO_LEAD : m->lead;
    }
}

static void take_in(struct election_model *m, const struct rlk_election_event *ev)
{
    take_in_end_of_call(m, ev);
    take_in_wish(m, ev);
    take_in_lock(m, ev);
    take_in_validity(m, ev);
    take_in_stop(m, ev);
}

void election_model_step(struct election_model *m, struct rlk_election_event ev)
{
    struct before before = {m->lock, m->lead, m->e.leadership_until_us};
    struct rlk_election_actions out;

    memset(&out, 0xff, sizeof(out)); /* every field must be written */
    ev.now_us = m->now_us;
    rlk_election_step(&m->e, &ev, &out);
    take_in(m, &ev);
    m->renews = m->renews && !out.stop_renewing;
    check_elected(m, &ev, &out);
    check_demoted(m, &ev, &out, before.led_until_us);
    check_moved(m, &ev, &out, before.led_until_us);
    check_release(m, &out);
    check_acquire(m, &out);
    m->called = m->called && m->wants && m->lead != ELECTION_MODEL_LEADS;
    FUZZ_CHECK(out.bids == (m->lock == ELECTION_MODEL_ASKED && (m->led_by_lower || m->called)),
               "[L5] a candidate that asks bids while somebody leads who has a lower priority, or "
               "when it is called upon");
    m->deadline_us = out.deadline_us;
    check_lead(m);
    check_progress(m);
    check_pause(m, &before);
}

static void end_step(struct election_model *m, enum rlk_election_event_kind kind)
{
    if (election_model_may(m, kind)) {
        election_model_step(m, (struct rlk_election_event){.kind = kind});
    }
}

void election_model_end(struct election_model *m)
{
    end_step(m, RLK_ELECTION_RESIGN);
    end_step(m, RLK_ELECTION_FAILED);
    end_step(m, RLK_ELECTION_REPORTED);
    fuzz_move_to(&m->now_us, m->deadline_us);
    end_step(m, RLK_ELECTION_TIMER);
    FUZZ_CHECK(m->lock == ELECTION_MODEL_NO_LOCK, "no lock outlives the election");
    end_step(m, RLK_ELECTION_STOPPED);
    FUZZ_CHECK(m->e.state == RLK_ELECTION_IDLE && m->elected == m->demoted, "everything has ended");
}
