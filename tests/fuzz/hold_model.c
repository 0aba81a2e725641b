/* hold_model.c - what the rules say about each event, computed anew at each step. */
#include "hold_model.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "base/time.h"
#include "fuzz.h"
#include "round_model.h"

/* One step, and what it must do. */
struct moment {
    const struct rlk_event *ev;
    const struct rlk_hold *before, *after;
    const struct rlk_actions *out;
    bool begins, fails,
        retries;         /* a round begins; the round fails; it fails and is tried again later */
    bool news, extended; /* something is to be reported */
    bool queue;          /* the hold enters the queue */
    int extended_status;
    uint64_t asks;
};

/* ---- counting ---- */

static bool has_vote(const struct hold_model *m, unsigned i)
{
    return m->voters.set >> i & 1;
}

static bool counts(const struct hold_model *m, unsigned i)
{
    const struct hold_model_node *n = &m->node[i];

    return n->since != 0 && n->since <= m->success_step && !n->clock_suspect && has_vote(m, i);
}

static unsigned majority(const struct hold_model *m)
{
    return round_model_majority(m->voters.size);
}

static unsigned count_counting(const struct hold_model *m)
{
    unsigned i, n = 0;

    for (i = 0; i < m->config.nodes; i++) {
        n += counts(m, i);
    }
    return n;
}

static unsigned count_kept(const struct hold_model *m)
{
    unsigned i, n = 0;

    for (i = 0; i < m->config.nodes; i++) {
        n += counts(m, i) && m->node[i].kept == m->round;
    }
    return n;
}

static bool is_any_open(const struct hold_model *m)
{
    unsigned i;

    for (i = 0; i < m->config.nodes && !m->node[i].open; i++) {
    }
    return i < m->config.nodes;
}

static bool is_soon(const struct hold_model *m)
{
    unsigned i;

    for (i = 0; i < m->config.nodes; i++) {
        if (m->node[i].since != 0 && !m->node[i].clock_suspect && has_vote(m, i) && !counts(m, i)) {
            return true;
        }
    }
    return false;
}

static int descending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x < *y) - (*x > *y);
}

uint64_t hold_model_until(const struct hold_model *m)
{
    unsigned i, n = 0;
    uint64_t ends[64];

    for (i = 0; i < m->config.nodes; i++) {
        if (counts(m, i)) {
            ends[n++] = m->node[i].end_us;
        }
    }
    qsort(ends, n, sizeof(ends[0]), descending);
    return n >= majority(m) ? ends[majority(m) - 1] : 0;
}

static bool is_under_way(const struct hold_model *m)
{
    return m->waiting && !m->success;
}

/* The drift in that time, rounded up, computed without a product beyond 64 bits. */
static uint64_t drift_of(const struct hold_model *m, uint64_t span_us)
{
    uint64_t ppm = m->config.drift_ppm;

    return span_us / 1000000 * ppm + (span_us % 1000000 * ppm + 999999) / 1000000 + 2000;
}

static uint64_t lease_end(const struct hold_model *m, uint64_t now_us)
{
    return rlk_time_add(now_us, rlk_time_sub(m->round_ttl_us, drift_of(m, m->round_ttl_us)));
}

/* There is time left for another try, and for reporting the trouble. */
static uint64_t patience_end_us(const struct hold_model *m)
{
    return rlk_time_add(m->asked_from_us, rlk_time_min(m->config.timeout_us, m->config.ttl_us / 3));
}

/* ---- what the step does ---- */

static void trouble(struct hold_model *m, struct moment *mo)
{
    mo->news = mo->news || !m->trouble;
    m->trouble = true;
}

static void end_extension(struct hold_model *m, struct moment *mo, int status)
{
    if (m->extending && !m->extend_next) {
        m->extending = false;
        mo->extended = true;
        mo->extended_status = status;
    }
}

static void fail(struct hold_model *m, struct moment *mo)
{
    m->waiting = false;
    m->failures++;
    mo->fails = true;
    if (m->config.renew) {
        trouble(m, mo);
    }
    end_extension(m, mo, REDLOCK_ENOQUORUM);
}

static void ask_to_keep(struct hold_model *m, struct moment *mo, unsigned i)
{
    struct hold_model_node *n = &m->node[i];

    if (i < m->config.nodes && n->touched && !n->open && n->round != m->round) {
        n->open = n->keep = true;
        n->round = m->round;
        n->asked_us = lease_end(m, m->begun_us);
        mo->asks |= UINT64_C(1) << i;
    }
}

static void begin(struct hold_model *m, struct moment *mo, uint64_t ttl_us, bool by_itself)
{
    unsigned i;

    m->round++;
    m->begun_us = m->asked_from_us = mo->ev->now_us;
    m->round_ttl_us = ttl_us;
    m->success = false;
    m->waiting = true;
    m->by_itself = by_itself;
    m->renew_us = RLK_NEVER;
    mo->begins = true;
    mo->fails = false;
    for (i = 0; i < m->config.nodes; i++) {
        if (mo->ev->ready >> i & 1) {
            ask_to_keep(m, mo, i);
        }
    }
    if (!is_any_open(m)) {
        fail(m, mo);
    }
}

/* A renewal counts when it succeeded, in time or by late answers that made the lock live longer. */
static void credit(struct hold_model *m)
{
    if (m->by_itself && !m->credited) {
        m->credited = true;
        m->paid = false;
        m->renewals++;
    }
}

static void succeed(struct hold_model *m, struct moment *mo)
{
    unsigned i;

    for (i = 0; i < m->config.nodes; i++) {
        m->node[i].data_replaced = false;
    }
    m->success = true;
    m->config.ttl_us = m->extending && !m->extend_next ? m->round_ttl_us : m->config.ttl_us;
    m->successes++;
    m->success_step = m->step;
    m->restored = false;
    m->failures = 0;
    m->trouble = m->waits = m->paid = false;
    credit(m);
    end_extension(m, mo, REDLOCK_OK);
}

static void confirm(struct hold_model *m, struct hold_model_node *n)
{
    n->end_us = n->since ? rlk_time_max(n->end_us, n->asked_us) : n->asked_us;
    n->since = n->since ? n->since : m->step;
}

static void take_vote(struct hold_model *m, struct hold_model_node *n, enum rlk_vote vote)
{
    if (vote == RLK_VOTE_YES || vote == RLK_VOTE_QUARANTINED) {
        confirm(m, n);
    } else if (vote == RLK_VOTE_NO && !n->restored) {
        n->touched = false;
    }
}

static void take_answer(struct hold_model *m, struct hold_model_node *n, enum rlk_answer answer)
{

    if (answer == RLK_ANSWER_OURS) {
        confirm(m, n);
        n->kept = !n->clock_suspect && n->round == m->round ? m->round : n->kept;
    } else if (answer != RLK_ANSWER_UNKNOWN) {
        n->since = 0;
        n->taken = answer == RLK_ANSWER_TAKEN ? m->round : n->taken;
    }
}

/* [S11] A node that can be relied on again is like one that has our key since just now. A node that
 * cannot be relied on has never said anything, and was asked nothing. */
static void time_it(struct hold_model *m, struct hold_model_node *n, bool clock_suspect)
{
    n->since = n->clock_suspect && !clock_suspect && n->since ? m->step : n->since;
    n->clock_suspect = clock_suspect;
    if (clock_suspect) {
        n->end_us = n->asked_us = 0;
    }
}

/* [S7] A key that the node has now may not have been there before. An outstanding answer is about
 * the present data. */
static void exchange(struct hold_model_node *n)
{
    n->since = 0;
    n->end_us = 0;
    n->data_replaced = true;
}

/* Nodes for which a heal has to be planned. A node that lost the key since the success is first
 * asked to keep it. */
static uint64_t data_replaced(const struct hold_model *m)
{
    uint64_t nodes = 0;
    unsigned i;

    for (i = 0; i < m->config.nodes; i++) {
        nodes |= (uint64_t)m->node[i].data_replaced << i;
    }
    return nodes;
}

/* [S11] Every lease ends sooner, also leases that are still to be confirmed. */
static void suspend(struct hold_model *m, uint64_t by_us)
{
    unsigned i;

    for (i = 0; i < m->config.nodes; i++) {
        m->node[i].end_us = rlk_time_sub(m->node[i].end_us, by_us);
        m->node[i].asked_us = rlk_time_sub(m->node[i].asked_us, by_us);
    }
}

/* After a suspension that did not end the lock everything that is planned is due sooner. */
static void plan_sooner(struct hold_model *m, uint64_t by_us)
{
    m->held_us = rlk_time_sub(m->held_us, by_us);
    m->begun_us = rlk_time_sub(m->begun_us, by_us);
    m->renew_us = m->renew_us == RLK_NEVER ? RLK_NEVER : rlk_time_sub(m->renew_us, by_us);
}

static void hear(struct hold_model *m, struct moment *mo)
{
    const struct rlk_event *ev = mo->ev;
    struct hold_model_node *n = &m->node[ev->node];
    uint64_t until_us = hold_model_until(m);

    if (ev->kind == RLK_EVENT_VOTE ? ev->vote != RLK_VOTE_UNKNOWN
                                   : ev->answer != RLK_ANSWER_UNKNOWN) {
        time_it(m, n, ev->clock_suspect);
    }
    if (n->open && ev->kind == RLK_EVENT_VOTE) {
        n->open = false;
        take_vote(m, n, ev->vote);
    } else if (n->open) {
        n->open = false;
        take_answer(m, n, ev->answer);
        if (hold_model_until(m) > until_us) {
            credit(m);
        }
    }
    if (count_counting(m) < majority(m)) {
        return; /* lost */
    }
    if (!m->success && m->round > 0 && count_kept(m) >= majority(m)) {
        succeed(m, mo);
    }
    if (is_under_way(m)) {
        ask_to_keep(m, mo, ev->node);
    }
    if (is_under_way(m) && !is_any_open(m)) {
        fail(m, mo);
    }
}

/* These count from the last success on, if they have our key. */
static void count_present(struct hold_model *m, uint64_t nodes)
{
    unsigned i;

    for (i = 0; i < m->config.nodes; i++) {
        struct hold_model_node *n = &m->node[i];

        if ((nodes >> i & 1) && !n->clock_suspect && n->since > m->success_step) {
            n->since = m->success_step;
        }
    }
}

/* A new voter that is known to have our key counts at once; all do, if there are too few else. */
static void change_voters(struct hold_model *m, struct moment *mo)
{
    uint64_t joined = m->present->set & ~m->voters.set;

    count_present(m, joined);
    m->voters = *m->present;
    if (count_counting(m) < majority(m)) {
        count_present(m, m->voters.set);
    }
    if (count_counting(m) >= majority(m) && !m->success && m->round > 0 &&
        count_kept(m) >= majority(m)) {
        succeed(m, mo);
    }
}

static bool is_allowed(const struct hold_model *m, uint64_t now_us)
{
    return m->renewals < m->config.max_renewals &&
           (m->config.max_hold_us == RLK_NEVER ||
            rlk_time_add(now_us, m->config.ttl_us) <=
                rlk_time_add(m->held_us, m->config.max_hold_us));
}

/* [S13] When the trouble of a queued hold is reported, once: when a third of the ttl is left. */
static uint64_t queue_trouble_us(const struct hold_model *m)
{
    bool reported = m->trouble || !m->config.renew || m->renew_us == RLK_NEVER;

    return reported ? RLK_NEVER : rlk_time_sub(hold_model_until(m), m->config.ttl_us / 3);
}

/* When a queued hold wants to be woken. */
static uint64_t queue_due_us(const struct hold_model *m, uint64_t now_us)
{
    return m->renew_us > now_us ? m->renew_us : queue_trouble_us(m);
}

static void enter_queue(struct hold_model *m, struct moment *mo)
{
    m->queued = mo->queue = true;
    if (queue_due_us(m, mo->ev->now_us) <= mo->ev->now_us) {
        trouble(m, mo);
    }
}

static void renew(struct hold_model *m, struct moment *mo)
{
    bool heartbeat_missing = m->config.needs_heartbeat && !m->had_heartbeat && !m->paid;

    if (mo->ev->full && (m->extend_next || (is_allowed(m, mo->ev->now_us) && !heartbeat_missing))) {
        enter_queue(m, mo);
        return;
    }
    m->renew_us = RLK_NEVER;
    mo->fails = false;
    if (m->extend_next) {
        m->extend_next = false;
        begin(m, mo, m->wanted_ttl_us, false);
    } else if (!is_allowed(m, mo->ev->now_us)) {
        m->waits = false;
        trouble(m, mo);
    } else if (heartbeat_missing) {
        m->waits = true;
        trouble(m, mo);
    } else {
        m->had_heartbeat = false;
        m->paid = true;
        m->credited = false;
        begin(m, mo, m->config.ttl_us, true);
    }
}

/* A back-off may be 0: then the next try begins in the same step. */
static void be_woken(struct hold_model *m, struct moment *mo)
{
    uint64_t now_us = mo->ev->now_us;
    unsigned failures = m->failures;

    m->queued = false;
    if (is_under_way(m) && now_us >= patience_end_us(m)) {
        fail(m, mo);
        if (m->extend_next || (m->config.renew && (mo->after->renew_us == RLK_NEVER ||
                                                   mo->after->failures == failures + 2))) {
            m->renew_us = now_us;
        }
    }
    if (m->renew_us <= now_us) {
        renew(m, mo);
    }
    if (mo->ev->full && !m->queued && mo->after->restore_us <= now_us) {
        enter_queue(m, mo);
    }
}

static void want_more(struct hold_model *m, struct moment *mo)
{
    m->wanted_ttl_us = mo->ev->ttl_us;
    m->extending = true;
    m->asked_extended++;
    m->extend_next = mo->ev->full || is_under_way(m);
    if (!m->extend_next) {
        begin(m, mo, mo->ev->ttl_us, false);
    } else if (!is_under_way(m)) {
        m->renew_us = mo->ev->now_us;
        enter_queue(m, mo);
    }
}

static void take_heartbeat(struct hold_model *m, struct moment *mo)
{
    m->had_heartbeat = true;
    if (m->waits && !is_under_way(m)) {
        m->renew_us = mo->ev->now_us;
    }
    m->waits = false;
}

/* ---- what the step must do ---- */

static void check_lost(struct hold_model *m, struct moment *mo, int reason)
{
    m->lost = true;
    m->reported_lost++;
    FUZZ_CHECK(mo->after->state == RLK_HOLD_LOST,
               "[S9] lost when its time is over, and permanently");
    FUZZ_CHECK(mo->after->reason == reason, "the loss has its reason");
    FUZZ_CHECK(mo->out->report && m->reported_lost == 1, "[S9] the loss is reported, once");
    FUZZ_CHECK(mo->out->report_extended == (m->extending || mo->extended),
               "the extension ends with the lock");
    FUZZ_CHECK(!mo->out->report_extended || mo->extended ||
                   mo->after->extend_status == REDLOCK_ELOST,
               "and is told as lost");
    FUZZ_CHECK(mo->out->extend == 0 && mo->out->restore == 0, "a lost lock asks for nothing");
    FUZZ_CHECK(mo->out->deadline_us == RLK_NEVER, "a lost lock needs no timer");
    FUZZ_CHECK(rlk_hold_valid_until_us(mo->after) == 0, "a lost lock is not valid");
    m->reported_extended += mo->out->report_extended;
}

/* The suspension is the reason of the loss when the next thing was due a tenth of the ttl before
 * the end, or earlier. */
static int why_over(const struct hold_model *m, const struct rlk_event *ev)
{
    uint64_t due_us = is_under_way(m) ? patience_end_us(m)
                      : m->queued     ? queue_due_us(m, ev->now_us)
                                      : m->renew_us;

    if (ev->kind == RLK_EVENT_SUSPENDED ||
        rlk_time_add(due_us, m->config.ttl_us / 10) <= hold_model_until(m)) {
        return REDLOCK_ESUSPENDED;
    }
    if (m->queued && m->renew_us <= ev->now_us) {
        return REDLOCK_ELIMIT;
    }
    return m->failures || !m->success ? REDLOCK_ENOQUORUM : REDLOCK_EUNRENEWED;
}

static void check_asked(const struct hold_model *m, const struct moment *mo)
{
    FUZZ_CHECK(
        mo->out->extend == mo->asks,
        "[S7] asked to keep it: nodes that may have it, are ready and have answered, once a round");
    FUZZ_CHECK(mo->asks == 0 || mo->out->ttl_ms == m->round_ttl_us / 1000, "for the whole ttl");
    FUZZ_CHECK(mo->asks == 0 || mo->out->restore == 0, "kept or restored, not both");
}

static bool is_wake_up(const struct moment *mo)
{
    return mo->ev->kind == RLK_EVENT_TIMER || mo->ev->kind == RLK_EVENT_DEQUEUED;
}

/* The nodes that a heal at this moment is for. */
static uint64_t lacking(const struct hold_model *m, uint64_t ready)
{
    uint64_t nodes = 0;
    unsigned i;

    for (i = 0; i < m->config.nodes; i++) {
        const struct hold_model_node *n = &m->node[i];
        bool taken = n->taken != 0 && n->taken == m->round;

        nodes |= (uint64_t)(n->since == 0 && !n->open && !taken) << i & ready;
    }
    return nodes;
}

static void note_restore(struct hold_model *m, const struct moment *mo, uint64_t left_ms)
{
    uint64_t drift_us = drift_of(m, left_ms * 1000);
    unsigned i;

    FUZZ_CHECK(mo->out->ttl_ms == left_ms, "[S8] for what is left of the validity");
    for (i = 0; i < m->config.nodes; i++) {
        struct hold_model_node *n = &m->node[i];

        if (mo->out->restore >> i & 1) {
            n->touched = n->restored = n->open = true;
            n->keep = false;
            n->asked_us = rlk_time_add(mo->ev->now_us, rlk_time_sub(left_ms * 1000, drift_us));
        }
    }
}

/* The hold chooses the time of the heal. But after each success it must heal once: when all answers
 * are in, or the time for them is over. A heal that waits for room has not been done, and is still
 * planned. One that has nothing to do waits for no room: a node that loses our key later is
 * restored after the next success. */
static void check_heal(struct hold_model *m, const struct moment *mo)
{
    uint64_t now_us = mo->ev->now_us, restore_us = mo->after->restore_us;
    uint64_t left_ms = rlk_time_sub(hold_model_until(m), now_us) / 1000;
    bool due = is_wake_up(mo) && !mo->begins && m->success && restore_us == RLK_NEVER &&
               (mo->before->restore_us <= now_us || mo->before->round_until_us <= now_us);

    FUZZ_CHECK(mo->out->restore == 0 || !m->restored, "[S8] restored once for each success");
    FUZZ_CHECK(
        mo->out->restore == (due && left_ms >= 10 ? lacking(m, mo->ev->ready) : 0),
        "[S8] restored: nodes that do not have our key, are ready and have answered, after a "
        "success");
    m->restored = m->restored || due;
    if (mo->out->restore) {
        note_restore(m, mo, left_ms);
    }
    FUZZ_CHECK(restore_us == RLK_NEVER || (m->success && !m->restored),
               "no heal without a success");
    FUZZ_CHECK(!m->success || m->restored || is_any_open(m) || lacking(m, ~data_replaced(m)) == 0 ||
                   restore_us <= rlk_time_add(now_us, rlk_time_max(1000, m->config.ttl_us / 10)),
               "[S8] after each success");
}

static uint64_t retry_bound(const struct hold_model *m)
{
    uint64_t bound_us = m->config.ttl_us / 100;
    unsigned i;

    for (i = 1; i < m->failures && bound_us < m->config.ttl_us / 10; i++) {
        bound_us *= 2;
    }
    return rlk_time_min(bound_us, m->config.ttl_us / 10);
}

/* A hold that renews together with others begins a little sooner: at a multiple of the 512th part
 * of its ttl. */
static uint64_t begin_of(const struct hold_model *m, uint64_t due_us)
{
    uint64_t part_us = m->config.ttl_us / 512;

    return m->config.together ? due_us / part_us * part_us : due_us;
}

/* When a renewal begins early for the nodes that do not count yet. */
static uint64_t soon_us(const struct hold_model *m)
{
    uint64_t after_us = m->config.ttl_us / 10, took_us = rlk_time_sub(m->held_us, m->begun_us);

    if (m->begun_us <= m->held_us && !m->config.needs_heartbeat) {
        after_us = rlk_time_max(m->config.ttl_us / 100, rlk_time_min(4 * took_us, after_us));
    }
    return rlk_time_add(m->begun_us, after_us);
}

/* When the lock is renewed after a success. */
static bool is_plan(const struct hold_model *m, uint64_t at_us, uint64_t now_us)
{
    bool soon = is_soon(m) && is_allowed(m, rlk_time_max(now_us, soon_us(m))) &&
                m->renewals + 1 < m->config.max_renewals;
    uint64_t rest_us = m->config.ttl_us - m->config.ttl_us / 3;

    if (!m->config.renew) {
        return at_us == RLK_NEVER;
    }
    return at_us == begin_of(m, rlk_time_max(rlk_time_add(m->begun_us, m->config.ttl_us / 3),
                                             rlk_time_sub(hold_model_until(m), rest_us))) ||
           (soon && at_us == begin_of(m, soon_us(m)));
}

static void check_plan(struct hold_model *m, const struct moment *mo, bool succeeded)
{
    uint64_t now_us = mo->ev->now_us, at_us = mo->after->renew_us;

    if (m->extend_next && (succeeded || mo->fails)) {
        FUZZ_CHECK(at_us == now_us, "an extension that waits begins when the round is over");
    } else if (succeeded) {
        FUZZ_CHECK(is_plan(m, at_us, now_us), "renewed at a third of the ttl");
    } else if (mo->fails && m->config.renew) {
        FUZZ_CHECK(at_us >= now_us && at_us <= rlk_time_add(now_us, retry_bound(m)),
                   "tried again with a back-off under its bound");
    } else {
        bool may_replan = m->success && m->renew_us != RLK_NEVER && !m->extend_next &&
                          mo->ev->kind != RLK_EVENT_SUSPENDED;

        FUZZ_CHECK(at_us == m->renew_us || (may_replan && is_plan(m, at_us, now_us)),
                   "the plan stays as it is");
    }
    m->renew_us = at_us;
}

static void check_reported(struct hold_model *m, const struct moment *mo)
{
    FUZZ_CHECK(mo->out->report == mo->news, "reported once in each trouble, and not otherwise");
    FUZZ_CHECK((rlk_hold_trouble(mo->after) != 0) == m->trouble,
               "in trouble from a failure to a success");
    FUZZ_CHECK(mo->out->report_extended == mo->extended, "the end of an extension is reported");
    FUZZ_CHECK(!mo->extended || mo->after->extend_status == mo->extended_status, "as it was");
    FUZZ_CHECK(mo->out->queue == mo->queue && mo->after->queued == m->queued,
               "[S13] a hold without room is queued");
    m->reported_extended += mo->extended;
}

static void check_times(const struct hold_model *m, const struct moment *mo)
{
    const struct rlk_hold *h = mo->after;
    uint64_t until_us = hold_model_until(m);
    uint64_t due_us =
        m->queued ? queue_due_us(m, mo->ev->now_us) : rlk_time_min(h->renew_us, h->restore_us);

    FUZZ_CHECK(h->state == RLK_HOLD_HELD, "held until its time is over");
    FUZZ_CHECK(rlk_hold_valid_until_us(h) == until_us,
               "[S2, S7] valid until the majority-th largest end of those that count");
    due_us = rlk_time_min(due_us, rlk_time_min(h->round_until_us, until_us));
    FUZZ_CHECK(mo->out->deadline_us == due_us, "woken for whatever is next");
    FUZZ_CHECK(!is_under_way(m) || h->round_until_us == patience_end_us(m),
               "answers are waited for that long");
}

/* Which states go together (core/hold.h). */
static void check_states(const struct hold_model *m, const struct rlk_hold *h)
{
    bool awaits = h->renewal == RLK_RENEWAL_AWAITS_HEARTBEAT;

    FUZZ_CHECK(h->extension == (!m->extending    ? RLK_EXTENSION_NONE
                                : m->extend_next ? RLK_EXTENSION_NEXT
                                                 : RLK_EXTENSION_UNDER_WAY),
               "an extension waits for its own round");
    FUZZ_CHECK(h->extension != RLK_EXTENSION_UNDER_WAY ||
                   (is_under_way(m) && h->renewal != RLK_RENEWAL_BEGUN),
               "an extension has the round that is under way");
    FUZZ_CHECK(awaits == m->waits, "a renewal waits for a heartbeat");
    FUZZ_CHECK(!awaits || (m->trouble && !m->had_heartbeat), "and that is trouble");
}

static void do_step(struct hold_model *m, struct moment *mo)
{
    const struct rlk_event *ev = mo->ev;

    if (ev->kind == RLK_EVENT_VOTE || ev->kind == RLK_EVENT_KEPT) {
        hear(m, mo);
    } else if (is_wake_up(mo)) {
        be_woken(m, mo);
    } else if (ev->kind == RLK_EVENT_EXTEND) {
        want_more(m, mo);
    } else if (ev->kind == RLK_EVENT_HEARTBEAT) {
        take_heartbeat(m, mo);
    } else if (ev->kind == RLK_EVENT_CLOCK_SUSPECT) {
        time_it(m, &m->node[ev->node], true);
    } else if (ev->kind == RLK_EVENT_SUSPENDED) {
        plan_sooner(m, ev->by_us);
    } else if (ev->kind == RLK_EVENT_VOTERS) {
        change_voters(m, mo);
    } else if (ev->kind == RLK_EVENT_QUARANTINED && ev->data_replaced) {
        exchange(&m->node[ev->node]);
    }
}

static void check_over(const struct moment *mo)
{
    const struct rlk_actions *out = mo->out;

    FUZZ_CHECK(memcmp(mo->before, mo->after, sizeof(*mo->after)) == 0, "[S9] a loss is final");
    FUZZ_CHECK(!out->report && !out->report_extended, "nothing is reported after a loss");
    FUZZ_CHECK(out->extend == 0 && out->restore == 0, "nothing is asked for after a loss");
    FUZZ_CHECK(out->deadline_us == RLK_NEVER, "nothing is waited for after a loss");
}

void hold_model_follow(struct hold_model *m, const struct rlk_event *ev,
                       const struct rlk_hold *before, const struct rlk_hold *after,
                       const struct rlk_actions *out)
{
    struct moment mo = {.ev = ev, .before = before, .after = after, .out = out};
    unsigned successes = m->successes;

    m->step++;
    FUZZ_CHECK(!out->fresh && out->release == 0, "it keeps, and no more");
    if (m->lost) {
        check_over(&mo);
        return;
    }
    if (ev->kind == RLK_EVENT_SUSPENDED) {
        suspend(m, ev->by_us);
    }
    if (hold_model_until(m) <= ev->now_us) {
        check_lost(m, &mo, why_over(m, ev));
        return;
    }
    do_step(m, &mo);
    if (count_counting(m) < majority(m)) {
        check_lost(m, &mo, REDLOCK_ELOST);
        return;
    }
    check_asked(m, &mo);
    check_heal(m, &mo);
    check_plan(m, &mo, m->successes != successes);
    check_reported(m, &mo);
    check_times(m, &mo);
    check_states(m, after);
}

static void take_over(struct hold_model *m, const struct rlk_round *won)
{
    unsigned i;

    for (i = 0; i < m->config.nodes; i++) {
        struct hold_model_node *n = &m->node[i];
        uint64_t bit = UINT64_C(1) << i;

        n->touched = (won->asked & bit) && !(won->no & bit);
        n->open = n->touched && !((won->yes | won->unknown) & bit);
        n->asked_us = won->end_us[i];
        time_it(m, n, won->clock_suspect & bit);
        if ((won->yes | won->quarantined) & bit) {
            confirm(m, n);
            n->since += won->quarantined & bit ? 1 : 0; /* from the next success on */
        }
    }
}

void hold_model_start(struct hold_model *m, const struct rlk_hold_config *config,
                      const struct rlk_voters *voters, const struct rlk_round *won, uint64_t now_us,
                      const struct rlk_hold *after, const struct rlk_actions *out)
{
    struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = now_us};
    struct moment mo = {.ev = &ev, .before = after, .after = after, .out = out};

    memset(m, 0, sizeof(*m));
    m->config = *config;
    m->present = voters;
    m->voters = *voters;
    m->step = m->success_step = 1;
    m->success = m->waiting = m->had_heartbeat = true;
    m->held_us = now_us;
    m->begun_us = m->asked_from_us = won->started_us;
    take_over(m, won);
    FUZZ_CHECK(out->extend == 0 && out->restore == 0, "a lock that begins asks for nothing");
    check_heal(m, &mo);
    check_plan(m, &mo, true);
    check_reported(m, &mo);
    check_times(m, &mo);
}
