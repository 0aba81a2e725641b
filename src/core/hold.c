/* hold.c - a function for each event of a held lock, and the times of what is due next. */
#include "core/hold.h"

#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/backoff.h"

/* A renewal begins at a tenth of the ttl while a voter is present that counts only after the next
 * success. The first one after a win begins at a hundredth. */
#define SOON_PARTS 10
#define FIRST_PARTS 100
/* The back-off after a failed round: up to a hundredth of the ttl, doubling up to a tenth. */
#define RETRY_PARTS 100
/* The least wait before a restore after a win: contenders that split the votes release their keys
 * meanwhile. */
#define RESTORE_FLOOR_US 1000
/* A restore for less than this is not worth a command. */
#define RESTORE_LEAST_MS 10

void rlk_hold_init(struct rlk_hold *h, const struct rlk_hold_config *config,
                   const struct rlk_voters *voters, uint64_t *room)
{
    h->state = RLK_HOLD_IDLE;
    h->extension = RLK_EXTENSION_NONE;
    h->renewal = RLK_RENEWAL_COUNTED;
    h->reason = 0;
    h->extend_status = 0;
    h->renewals = h->failures = 0;
    h->queued = false;
    h->had_heartbeat = true;
    h->held_us = h->round_us = 0;
    h->round_ttl_us = h->wanted_ttl_us = 0;
    h->round_until_us = h->renew_us = h->restore_us = RLK_NEVER;
    h->config = *config;
    h->leases.voters = voters;
    h->leases.end_us = room;
}

void rlk_hold_grow(struct rlk_hold *h, unsigned nodes, uint64_t *room)
{
    if (h->state == RLK_HOLD_IDLE) {
        h->leases.end_us = room;
    } else {
        rlk_leases_grow(&h->leases, nodes, room);
    }
    h->config.nodes = (uint8_t)nodes;
}

uint64_t rlk_hold_valid_until_us(const struct rlk_hold *h)
{
    return h->state == RLK_HOLD_HELD ? h->leases.valid_until_us : 0;
}

/* Stop waiting for a heartbeat that would begin a renewal. */
static void stop_awaiting(struct rlk_hold *h)
{
    if (h->renewal == RLK_RENEWAL_AWAITS_HEARTBEAT) {
        h->renewal = RLK_RENEWAL_COUNTED;
    }
}

void rlk_hold_stop_renewing(struct rlk_hold *h)
{
    h->config.renew = false;
    stop_awaiting(h);
    h->renew_us = RLK_NEVER;
}

static void end_extension(struct rlk_hold *h, int status, struct rlk_actions *out)
{
    if (h->extension != RLK_EXTENSION_NONE) {
        h->extension = RLK_EXTENSION_NONE;
        h->extend_status = status;
        out->report_extended = true;
    }
}

static void lose_hold(struct rlk_hold *h, int reason, struct rlk_actions *out)
{
    h->state = RLK_HOLD_LOST;
    h->reason = reason;
    h->queued = false;
    out->report = true;
    end_extension(h, REDLOCK_ELOST, out);
}

static void begin_trouble(struct rlk_hold *h, int reason, struct rlk_actions *out)
{
    if (h->reason == 0) {
        h->reason = reason;
        out->report = true;
    }
}

/* ---- rounds ---- */

static bool may_renew(const struct rlk_hold *h, uint64_t now_us)
{
    return h->renewals < h->config.max_renewals &&
           rlk_time_add(now_us, h->config.ttl_us) <=
               rlk_time_add(h->held_us, h->config.max_hold_us);
}

/* No round has begun since the win. */
static bool is_first(const struct rlk_hold *h)
{
    return h->round_us <= h->held_us;
}

/* After a win, what is not urgent waits for votes that are still under way: four times as long as
 * the round took, and a tenth of the ttl at most. */
static uint64_t pause_us(const struct rlk_hold *h, uint64_t took_us, uint64_t least_us)
{
    return rlk_time_max(least_us, rlk_time_min(4 * took_us, h->config.ttl_us / SOON_PARTS));
}

/* [S7] When to begin a renewal so that the voters that are present count. */
static uint64_t soon_us(const struct rlk_hold *h)
{
    bool first = is_first(h) && !h->config.needs_heartbeat;
    uint64_t took_us = rlk_time_sub(h->held_us, h->round_us);
    uint64_t after_us = first ? pause_us(h, took_us, h->config.ttl_us / FIRST_PARTS)
                              : h->config.ttl_us / SOON_PARTS;

    return rlk_time_add(h->round_us, after_us);
}

/* It must be allowed then, and need no other heartbeat; and the last renewal is not used up. */
static bool may_renew_soon(const struct rlk_hold *h, uint64_t at_us)
{
    return (h->had_heartbeat || !h->config.needs_heartbeat) &&
           h->config.max_renewals - h->renewals > 1 && may_renew(h, at_us);
}

/* When the next renewal is due. */
static uint64_t next_renewal_us(const struct rlk_hold *h, uint64_t now_us)
{
    uint64_t present = h->leases.present & h->leases.voting;
    uint64_t ttl_us = h->config.ttl_us, part_us = ttl_us / RLK_HOLD_RENEW_PARTS;
    uint64_t early_us = part_us / 1000 * h->config.early_ppm / 1000;

    if (present & ~(h->leases.counted | h->leases.clock_suspect)) {
        uint64_t at_us = soon_us(h);

        if (may_renew_soon(h, rlk_time_max(now_us, at_us))) {
            return at_us;
        }
    }
    /* After an extension the lock may last longer than its present ttl. */
    return rlk_time_max(rlk_time_add(h->round_us, part_us - early_us),
                        rlk_time_sub(h->leases.valid_until_us, ttl_us - part_us + early_us));
}

/* Locks whose renewals are due at about the same time are renewed together, by one command. Never
 * later than it is due. */
static uint64_t join_others(const struct rlk_hold *h, uint64_t due_us)
{
    return h->config.together ? due_us - due_us % (h->config.ttl_us / RLK_HOLD_TOGETHER_PARTS)
                              : due_us;
}

static void plan_renewal(struct rlk_hold *h, uint64_t now_us)
{
    h->renew_us = h->config.renew ? join_others(h, next_renewal_us(h, now_us)) : RLK_NEVER;
}

/* A round has ended. The user's extension ends with it, or begins now if it had to wait. */
static void end_or_start_extension(struct rlk_hold *h, int status, uint64_t now_us,
                                   struct rlk_actions *out)
{
    if (h->extension == RLK_EXTENSION_NEXT) {
        h->renew_us = now_us;
    } else {
        end_extension(h, status, out);
    }
}

/* [S8] The restore begins a tenth of the ttl after the round began, at the latest: a node that does
 * not reply must not delay it until the next renewal. That is also true if the success was late. */
static void succeed(struct rlk_hold *h, uint64_t now_us, struct rlk_actions *out)
{
    if (h->extension == RLK_EXTENSION_UNDER_WAY) {
        h->config.ttl_us = h->round_ttl_us;
    }
    h->failures = 0;
    h->reason = 0;
    h->renewal = RLK_RENEWAL_COUNTED;
    h->round_until_us =
        rlk_time_min(h->round_until_us, rlk_time_add(h->round_us, h->config.ttl_us / SOON_PARTS));
    plan_renewal(h, now_us);
    end_or_start_extension(h, REDLOCK_OK, now_us, out);
}

static void fail_renewal(struct rlk_hold *h, uint64_t now_us, struct rlk_actions *out)
{
    uint64_t tenth_us = h->config.ttl_us / SOON_PARTS;
    uint64_t most_us = rlk_time_min(tenth_us, h->config.retry_us ? h->config.retry_us : tenth_us);
    uint64_t least_us = rlk_time_min(h->config.ttl_us / RETRY_PARTS, most_us);

    h->failures++;
    if (h->config.renew) {
        begin_trouble(h, REDLOCK_ENOQUORUM, out);
        h->renew_us =
            rlk_time_add(now_us, rlk_backoff_us(&h->config.prng, h->failures, least_us, most_us));
    }
    end_or_start_extension(h, REDLOCK_ENOQUORUM, now_us, out);
}

/* [S8] A node that lost our key is restored at once. After a win the wait is longer: a node may
 * have refused us for the key of a contender that releases soon. */
static uint64_t restore_delay_us(const struct rlk_hold *h, uint64_t now_us)
{
    uint64_t took_us = rlk_time_sub(now_us, h->round_us);

    return is_first(h) ? pause_us(h, took_us, RESTORE_FLOOR_US) : 0;
}

/* All replies are in, or the time for them is over. */
static void end_round(struct rlk_hold *h, uint64_t now_us, struct rlk_actions *out)
{
    h->round_until_us = RLK_NEVER;
    if (!h->leases.success) {
        fail_renewal(h, now_us, out);
    } else if (h->leases.present != rlk_mask_all(h->config.nodes)) {
        h->restore_us = rlk_time_add(now_us, restore_delay_us(h, now_us));
    }
}

static uint64_t end_us(const struct rlk_hold *h, uint64_t now_us)
{
    return rlk_time_add(now_us, rlk_validity_lease_us(h->round_ttl_us, h->config.drift_ppm));
}

static void extend(struct rlk_hold *h, uint64_t nodes, struct rlk_actions *out)
{
    out->extend = nodes;
    out->ttl_ms = (uint32_t)(h->round_ttl_us / 1000);
}

/* Wait for replies for at most a third of the ttl: that leaves time for another round, and for a
 * notification to the user before the end. */
static void begin_round(struct rlk_hold *h, uint64_t ttl_us, const struct rlk_event *ev,
                        struct rlk_actions *out)
{
    uint64_t patience_us =
        rlk_time_min(h->config.timeout_us, h->config.ttl_us / RLK_HOLD_RENEW_PARTS);
    uint64_t nodes = rlk_leases_reach(&h->leases, ev->ready, ev->backlogged);

    h->renew_us = h->restore_us = RLK_NEVER;
    h->round_us = ev->now_us;
    h->round_ttl_us = ttl_us;
    h->round_until_us = rlk_time_add(ev->now_us, patience_us);
    extend(h, rlk_leases_begin(&h->leases, nodes, end_us(h, ev->now_us)), out);
    if (h->leases.unanswered == 0) {
        end_round(h, ev->now_us, out); /* there is no node to ask */
    }
}

/* The ttl of a restore: what is left of the validity, so that all keys of the lock expire together.
 * 0: too little is left. */
static uint32_t restore_for_ms(const struct rlk_hold *h, uint64_t now_us)
{
    uint64_t left_ms = rlk_time_sub(rlk_hold_valid_until_us(h), now_us) / 1000;

    return left_ms >= RESTORE_LEAST_MS ? (uint32_t)left_ms : 0;
}

static uint64_t restore_end_us(const struct rlk_hold *h, uint32_t ttl_ms, uint64_t now_us)
{
    uint64_t ttl_us = rlk_time_from_ms(ttl_ms);

    return rlk_time_add(now_us, rlk_validity_lease_us(ttl_us, h->config.drift_ppm));
}

static void restore(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    uint32_t ttl_ms = restore_for_ms(h, ev->now_us);

    h->restore_us = RLK_NEVER;
    if (ttl_ms > 0) {
        out->restore =
            rlk_leases_restore(&h->leases, ev->ready, restore_end_us(h, ttl_ms, ev->now_us));
        out->ttl_ms = ttl_ms;
    }
}

uint32_t rlk_hold_restore_again(struct rlk_hold *h, unsigned node, uint64_t now_us)
{
    uint32_t ttl_ms = restore_for_ms(h, now_us);

    if (ttl_ms > 0) {
        rlk_leases_ask_again(&h->leases, node, restore_end_us(h, ttl_ms, now_us));
    }
    return ttl_ms;
}

/* ---- renewing ---- */

/* Whether a renewal has begun, and is not counted yet. */
static bool is_renewal_open(const struct rlk_hold *h)
{
    return h->renewal == RLK_RENEWAL_BEGUN || h->renewal == RLK_RENEWAL_OVERTAKEN;
}

static bool lacks_heartbeat(const struct rlk_hold *h)
{
    return h->config.needs_heartbeat && !h->had_heartbeat && !is_renewal_open(h);
}

/* A renewal is due. Cancel it if it is not allowed; an extension by the user is always allowed. */
static void check_renewal(struct rlk_hold *h, uint64_t now_us, struct rlk_actions *out)
{
    bool allowed = may_renew(h, now_us);

    if (h->extension == RLK_EXTENSION_NEXT || (allowed && !lacks_heartbeat(h))) {
        return;
    }
    stop_awaiting(h);
    if (allowed) {
        h->renewal = RLK_RENEWAL_AWAITS_HEARTBEAT;
    }
    h->renew_us = RLK_NEVER;
    begin_trouble(h, REDLOCK_EUNRENEWED, out);
}

static void begin_extension(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    h->extension = RLK_EXTENSION_UNDER_WAY;
    h->renewal = is_renewal_open(h) ? RLK_RENEWAL_OVERTAKEN : h->renewal;
    begin_round(h, h->wanted_ttl_us, ev, out);
}

static void renew(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    if (h->extension == RLK_EXTENSION_NEXT) {
        begin_extension(h, ev, out);
    } else {
        h->had_heartbeat = false;
        h->renewal = RLK_RENEWAL_BEGUN;
        begin_round(h, h->config.ttl_us, ev, out);
    }
}

/* ---- the queue ---- */

/* When a queued renewal counts as trouble: when a third of the ttl is left. */
static uint64_t queue_trouble_us(const struct rlk_hold *h)
{
    if (h->reason || !h->config.renew || h->renew_us == RLK_NEVER) {
        return RLK_NEVER;
    }
    return rlk_time_sub(h->leases.valid_until_us, h->config.ttl_us / RLK_HOLD_RENEW_PARTS);
}

/* When a queued machine has to be stepped: a queued restore must not hide that a renewal is due. */
static uint64_t queue_due_us(const struct rlk_hold *h, uint64_t now_us)
{
    return h->renew_us > now_us ? h->renew_us : queue_trouble_us(h);
}

/* [S13] The nodes have no capacity: the round or restore that is due is queued. */
static void enter_queue(struct rlk_hold *h, uint64_t now_us, struct rlk_actions *out)
{
    h->queued = true;
    out->queue = true;
    if (queue_due_us(h, now_us) <= now_us) {
        begin_trouble(h, REDLOCK_ELIMIT, out);
    }
}

static bool is_under_way(const struct rlk_hold *h)
{
    return h->round_until_us != RLK_NEVER && !h->leases.success;
}

static void heartbeat(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    (void)out;
    h->had_heartbeat = true;
    if (h->renewal == RLK_RENEWAL_AWAITS_HEARTBEAT && !is_under_way(h)) {
        h->renew_us = ev->now_us;
    }
    stop_awaiting(h);
}

static void on_extend(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    h->wanted_ttl_us = ev->ttl_us;
    h->extension = RLK_EXTENSION_NEXT;
    if (is_under_way(h)) {
        return;
    }
    if (ev->full) {
        h->renew_us = ev->now_us;
        enter_queue(h, ev->now_us, out);
    } else {
        begin_extension(h, ev, out);
    }
}

/* ---- events ---- */

/* A renewal counts as soon as it makes the lock last longer, even if the replies are too late for
 * the round to succeed. */
static void count_renewal(struct rlk_hold *h)
{
    if (h->renewal == RLK_RENEWAL_BEGUN) {
        h->renewal = RLK_RENEWAL_COUNTED;
        h->renewals++;
    }
}

/* What follows from a reply. */
static void after_answer(struct rlk_hold *h, bool had_success, const struct rlk_event *ev,
                         struct rlk_actions *out)
{
    if (!rlk_leases_possible(&h->leases)) {
        lose_hold(h, REDLOCK_ELOST, out);
        return;
    }
    if (is_under_way(h)) {
        extend(h, rlk_leases_join(&h->leases, ev->node, end_us(h, h->round_us)), out);
    } else if (h->leases.success && !had_success) {
        count_renewal(h);
        succeed(h, ev->now_us, out);
    } else if (h->leases.success && h->renew_us != RLK_NEVER &&
               h->extension != RLK_EXTENSION_NEXT) {
        plan_renewal(h, ev->now_us);
    }
    if (h->round_until_us != RLK_NEVER && h->leases.unanswered == 0) {
        end_round(h, ev->now_us, out);
    }
}

/* A node may no longer count. */
static void lose_or_replan(struct rlk_hold *h, uint64_t now_us, struct rlk_actions *out)
{
    if (!rlk_leases_possible(&h->leases)) {
        lose_hold(h, REDLOCK_ELOST, out);
    } else if (h->leases.success && h->renew_us != RLK_NEVER &&
               h->extension != RLK_EXTENSION_NEXT) {
        plan_renewal(h, now_us);
    }
}

/* [S11] When a reply was lost, the clock is as suspect as it was before. */
static void update_clock(struct rlk_hold *h, const struct rlk_event *ev, bool answered)
{
    if (answered) {
        rlk_leases_suspect_clock(&h->leases, ev->node, ev->clock_suspect);
    }
}

static uint64_t shift_back(uint64_t time_us, uint64_t by_us)
{
    return time_us == RLK_NEVER ? RLK_NEVER : rlk_time_sub(time_us, by_us);
}

/* [S11] The client was suspended: everything began longer ago than our clock says, so the next
 * renewal is due sooner. */
static void shift_plan(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    (void)out;
    h->held_us = shift_back(h->held_us, ev->by_us);
    h->round_us = shift_back(h->round_us, ev->by_us);
    h->renew_us = shift_back(h->renew_us, ev->by_us);
}

/* TIMER and DEQUEUED. */
static void on_hold_timer(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    h->queued = false;
    if (h->round_until_us <= ev->now_us) {
        end_round(h, ev->now_us, out);
    }
    if (h->renew_us <= ev->now_us) {
        check_renewal(h, ev->now_us, out);
    }
    if (rlk_time_min(h->renew_us, h->restore_us) > ev->now_us) {
        return;
    }
    if (ev->full) {
        enter_queue(h, ev->now_us, out);
    } else if (h->renew_us <= ev->now_us) {
        renew(h, ev, out);
    } else {
        restore(h, ev, out);
    }
}

/* Whether the lock was lost because the client was suspended: it missed a step that was due a tenth
 * of the ttl before the end; or the masters' clocks show it [S11]. */
static bool was_suspended(const struct rlk_hold *h, const struct rlk_event *ev)
{
    uint64_t due_us = is_under_way(h) ? h->round_until_us
                      : h->queued     ? queue_due_us(h, ev->now_us)
                                      : h->renew_us;

    return ev->kind == RLK_EVENT_SUSPENDED ||
           rlk_time_add(due_us, h->config.ttl_us / SOON_PARTS) <= h->leases.valid_until_us;
}

static int why_over(const struct rlk_hold *h, const struct rlk_event *ev)
{
    if (was_suspended(h, ev)) {
        return REDLOCK_ESUSPENDED;
    }
    if (h->queued && h->renew_us <= ev->now_us) {
        return REDLOCK_ELIMIT;
    }
    return h->failures > 0 || !h->leases.success ? REDLOCK_ENOQUORUM : REDLOCK_EUNRENEWED;
}

/* [S3, S9] The clock decides first, whatever the event is. */
static bool is_hold_over(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    if (h->leases.valid_until_us > ev->now_us) {
        return false;
    }
    lose_hold(h, why_over(h, ev), out);
    return true;
}

static uint64_t deadline(const struct rlk_hold *h, uint64_t now_us)
{
    if (h->state != RLK_HOLD_HELD) {
        return RLK_NEVER;
    }
    return rlk_time_min(rlk_time_min(h->round_until_us, h->leases.valid_until_us),
                        h->queued ? queue_due_us(h, now_us)
                                  : rlk_time_min(h->renew_us, h->restore_us));
}

void rlk_hold_start(struct rlk_hold *h, const struct rlk_round *won, uint64_t now_us,
                    struct rlk_actions *out)
{
    *out = (struct rlk_actions){0};
    rlk_leases_init(&h->leases, h->config.nodes, h->leases.voters, won, h->leases.end_us);
    if (h->config.adopted) {
        rlk_leases_adopt(&h->leases);
    }
    h->state = RLK_HOLD_HELD;
    h->held_us = now_us;
    h->round_us = won->started_us;
    h->round_until_us = rlk_time_add(now_us, h->config.timeout_us);
    succeed(h, now_us, out);
    if (h->leases.unanswered == 0) {
        end_round(h, now_us, out);
    }
    out->deadline_us = deadline(h, now_us);
}

static void vote(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    bool had_success = h->leases.success;

    update_clock(h, ev, ev->vote != RLK_VOTE_UNKNOWN);
    rlk_leases_voted(&h->leases, ev->node, ev->vote);
    after_answer(h, had_success, ev, out);
}

static void on_hold_reply(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    bool had_success = h->leases.success;
    uint64_t until_us = h->leases.valid_until_us;

    update_clock(h, ev, ev->answer != RLK_ANSWER_UNKNOWN);
    rlk_leases_answered(&h->leases, ev->node, ev->answer);
    if (h->leases.valid_until_us > until_us) {
        count_renewal(h);
    }
    after_answer(h, had_success, ev, out);
}

static void quarantine(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    if (ev->data_replaced) {
        rlk_leases_replace_data(&h->leases, ev->node);
        lose_or_replan(h, ev->now_us, out);
    }
}

static void suspect_clock(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    rlk_leases_suspect_clock(&h->leases, ev->node, true);
    lose_or_replan(h, ev->now_us, out);
}

/* [S1] The round under way may be a success by now. */
static void change_voters(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    bool had_success = h->leases.success;

    rlk_leases_recount(&h->leases);
    if (!h->leases.success || had_success || !rlk_leases_possible(&h->leases)) {
        lose_or_replan(h, ev->now_us, out);
        return;
    }
    count_renewal(h);
    succeed(h, ev->now_us, out);
    if (h->leases.unanswered == 0) {
        end_round(h, ev->now_us, out);
    }
}

static void (*const steps[RLK_EVENT_KINDS])(struct rlk_hold *, const struct rlk_event *,
                                            struct rlk_actions *) = {
    [RLK_EVENT_VOTE] = vote,
    [RLK_EVENT_KEPT] = on_hold_reply,
    [RLK_EVENT_TIMER] = on_hold_timer,
    [RLK_EVENT_DEQUEUED] = on_hold_timer,
    [RLK_EVENT_EXTEND] = on_extend,
    [RLK_EVENT_HEARTBEAT] = heartbeat,
    [RLK_EVENT_QUARANTINED] = quarantine,
    [RLK_EVENT_CLOCK_SUSPECT] = suspect_clock,
    [RLK_EVENT_SUSPENDED] = shift_plan,
    [RLK_EVENT_VOTERS] = change_voters,
};

void rlk_hold_step(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    *out = (struct rlk_actions){0};
    out->deadline_us = RLK_NEVER;
    if (h->state == RLK_HOLD_HELD && ev->kind == RLK_EVENT_SUSPENDED) {
        rlk_leases_shift(&h->leases, ev->by_us);
    }
    if (h->state != RLK_HOLD_HELD || is_hold_over(h, ev, out)) {
        return;
    }
    if (steps[ev->kind]) {
        steps[ev->kind](h, ev, out);
    }
    out->deadline_us = deadline(h, ev->now_us);
}
