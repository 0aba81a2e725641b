/* observer.c - decides from what the masters say which of them to look at next, and what is known.
 */
#include "core/observer.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/lookout.h"

/* A renewal makes the ttl longer by this part of it, at the least. */
#define RENEWAL_PARTS 16

void rlk_observer_init(struct rlk_observer *o, const struct rlk_voters *voters, uint64_t timeout_us)
{
    *o = (struct rlk_observer){.view.voters = voters,
                               .timeout_us = timeout_us,
                               .retry_us = RLK_NEVER,
                               .poll_us = RLK_NEVER,
                               .look_us = RLK_NEVER,
                               .pause_us = RLK_LOOKOUT_PAUSE_US};
}

/* ---- looks ---- */

/* [O1] One look at a node at a time: a change in the meantime leads to one more look. */
static void look(struct rlk_observer *o, uint64_t nodes, uint64_t now_us, struct rlk_actions *out)
{
    uint64_t begin = nodes & o->up & ~o->asked, left = begin;
    unsigned node;

    o->again |= nodes & o->asked;
    o->asked |= begin;
    out->look |= begin;
    RLK_MASK_EACH (node, left) {
        o->asked_us[node] = now_us;
    }
}

/* What the node has said no longer counts. */
static void clear_node(struct rlk_observer *o, unsigned node)
{
    o->view.answered &= ~rlk_mask_bit(node);
    o->view.held &= ~rlk_mask_bit(node);
    o->view.counter[node] = 0;
}

static void end_look(struct rlk_observer *o, unsigned node)
{
    o->asked &= ~rlk_mask_bit(node);
    o->unsent &= ~rlk_mask_bit(node);
}

static void on_start(struct rlk_observer *o, const struct rlk_event *ev, struct rlk_prng *prng,
                     struct rlk_actions *out)
{
    o->up = ev->ready;
    o->seen.kind = RLK_OBSERVER_UNKNOWN;
    o->since_us = ev->now_us;
    o->poll_us = rlk_lookout_next_us(RLK_OBSERVER_POLL_US, prng, ev->now_us);
    o->look_us = rlk_lookout_next_us(RLK_OBSERVER_LOOK_US, prng, ev->now_us);
    look(o, o->up, ev->now_us, out);
}

static void on_node_up(struct rlk_observer *o, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out)
{
    (void)prng;
    o->up |= rlk_mask_bit(ev->node);
    look(o, rlk_mask_bit(ev->node), ev->now_us, out);
}

/* [O4] */
static void on_node_down(struct rlk_observer *o, const struct rlk_event *ev, struct rlk_prng *prng,
                         struct rlk_actions *out)
{
    (void)prng;
    (void)out;
    clear_node(o, ev->node);
    end_look(o, ev->node);
    o->up &= ~rlk_mask_bit(ev->node);
    o->hears &= ~rlk_mask_bit(ev->node);
    o->again &= ~rlk_mask_bit(ev->node);
}

/* [O3] The node reports the next change. */
static void on_subscribed(struct rlk_observer *o, const struct rlk_event *ev, struct rlk_prng *prng,
                          struct rlk_actions *out)
{
    (void)prng;
    look(o, rlk_mask_bit(ev->node), ev->now_us, out);
}

/* [O3] A server whose table of tracked keys is full drops a key for each new one, and reports the
 * key that it dropped as changed. If we looked at it again, that would go on without end. */
static void on_changed(struct rlk_observer *o, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out)
{
    (void)prng;
    if (o->vain[ev->node] < RLK_OBSERVER_VAIN_LOOKS) {
        look(o, rlk_mask_bit(ev->node), ev->now_us, out);
    } else {
        o->hears &= ~rlk_mask_bit(ev->node);
    }
}

/* [O3] Messages over the subscriber connection may be lost. One that never came up has told us
 * nothing. */
static void on_unsubscribed(struct rlk_observer *o, const struct rlk_event *ev,
                            struct rlk_prng *prng, struct rlk_actions *out)
{
    uint64_t bit = rlk_mask_bit(ev->node) & o->hears;

    (void)prng;
    o->hears &= ~bit;
    look(o, bit, ev->now_us, out);
}

/* ---- answers ---- */

/* Whether the node has not changed since its last reply: its key was not even renewed. A ttl that
 * seems to have grown a little was read by a slower look. */
static bool is_vain(const struct rlk_observer *o, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node), ttl_us = ev->look.ttl_us;
    bool was_held = (o->view.held & bit) != 0;

    if ((o->view.answered & bit) == 0 || was_held != ev->look.held ||
        o->view.counter[ev->node] != ev->look.counter) {
        return false;
    }
    return !was_held ||
           (o->view.value[ev->node] == ev->look.value &&
            rlk_time_add(ev->now_us, ttl_us - ttl_us / RENEWAL_PARTS) <= o->view.end[ev->node]);
}

static void count_vain(struct rlk_observer *o, const struct rlk_event *ev)
{
    uint8_t *vain = &o->vain[ev->node];

    *vain = is_vain(o, ev) ? (uint8_t)rlk_time_min(*vain + 1U, RLK_OBSERVER_VAIN_LOOKS) : 0;
}

/* Whether the node has said something else before. */
static bool is_news(const struct rlk_observer *o, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);
    bool was_held = (o->view.held & bit) != 0;

    return (o->view.answered & bit) != 0 &&
           (was_held != ev->look.held || (was_held && o->view.value[ev->node] != ev->look.value));
}

static void take_look(struct rlk_observer *o, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    o->view.answered |= bit;
    o->view.held = ev->look.held ? o->view.held | bit : o->view.held & ~bit;
    o->view.value[ev->node] = ev->look.value;
    o->view.end[ev->node] = rlk_time_add(ev->now_us, ev->look.ttl_us);
    o->view.counter[ev->node] = ev->look.counter;
    o->hears = ev->look.hears ? o->hears | bit : o->hears & ~bit;
}

/* [O3] Keep the last reply for now: only a look that takes too long ends it. */
static void on_unsent(struct rlk_observer *o, const struct rlk_event *ev, struct rlk_prng *prng)
{
    o->unsent |= rlk_mask_bit(ev->node);
    o->retry_us =
        rlk_time_min(o->retry_us, rlk_lookout_next_us(RLK_OBSERVER_RETRY_US, prng, ev->now_us));
}

/* [O3] Masters that report no changes are looked at when another one has changed. */
static void on_looked(struct rlk_observer *o, const struct rlk_event *ev, struct rlk_prng *prng,
                      struct rlk_actions *out)
{
    uint64_t bit = rlk_mask_bit(ev->node), more = o->again & bit;

    if ((o->asked & bit) == 0) {
        return;
    }
    if (ev->look.unsent) {
        on_unsent(o, ev, prng);
        return;
    }
    end_look(o, ev->node);
    o->again &= ~bit;
    if (!ev->look.answered) {
        clear_node(o, ev->node);
        o->hears &= ~bit;
    } else {
        more |= is_news(o, ev) ? o->up & ~o->hears & ~bit : 0;
        count_vain(o, ev);
        take_look(o, ev);
    }
    look(o, more, ev->now_us, out);
}

/* ---- time ---- */

/* [O2] When to look at the nodes that have the holder's key, because no majority can have it any
 * more then; RLK_NEVER: not before they have replied. */
static uint64_t end_us(const struct rlk_observer *o)
{
    if (!o->holder.held || (o->holder.nodes & ~o->asked) == 0) {
        return RLK_NEVER;
    }
    return rlk_lookout_expired_us(o->holder.end, o->end_look_us);
}

/* [O2] A ttl may stay 0 for a while, so these looks become rare. */
static void look_at_end(struct rlk_observer *o, uint64_t now_us, struct rlk_actions *out)
{
    look(o, o->holder.nodes & ~o->asked, now_us, out);
    o->end_look_us = rlk_time_add(now_us, o->pause_us);
    o->pause_us = rlk_lookout_longer_us(o->pause_us);
}

/* [O4] When the answer of a node no longer counts, because the next one takes too long. */
static uint64_t late_us(const struct rlk_observer *o, unsigned node)
{
    return rlk_time_add(o->asked_us[node], o->timeout_us);
}

static void clear_late(struct rlk_observer *o, uint64_t now_us)
{
    uint64_t left = o->asked & o->view.answered;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (now_us >= late_us(o, node)) {
            clear_node(o, node);
        }
    }
}

static void retry(struct rlk_observer *o, struct rlk_actions *out)
{
    out->look |= o->unsent;
    o->unsent = 0;
    o->retry_us = RLK_NEVER;
}

static void on_observer_timer(struct rlk_observer *o, const struct rlk_event *ev,
                              struct rlk_prng *prng, struct rlk_actions *out)
{
    clear_late(o, ev->now_us);
    if (ev->now_us >= o->retry_us) {
        retry(o, out);
    }
    if (ev->now_us >= end_us(o)) {
        look_at_end(o, ev->now_us, out);
    }
    if (ev->now_us >= o->poll_us) {
        o->poll_us = rlk_lookout_next_us(RLK_OBSERVER_POLL_US, prng, ev->now_us);
        look(o, o->up & ~o->hears, ev->now_us, out);
    }
    if (ev->now_us >= o->look_us) {
        o->look_us = rlk_lookout_next_us(RLK_OBSERVER_LOOK_US, prng, ev->now_us);
        memset(o->vain, 0, sizeof(o->vain));
        look(o, o->up, ev->now_us, out);
    }
}

/* ---- what is known ---- */

static bool is_same_holder(const struct rlk_observer_state *a, const struct rlk_observer_state *b)
{
    return a->kind == b->kind && a->value == b->value;
}

static bool is_same_state(const struct rlk_observer_state *a, const struct rlk_observer_state *b)
{
    return is_same_holder(a, b) && a->fence == b->fence;
}

/* [O6] The counters of a majority may be unknown for a while; a holder keeps its fencing token. */
static struct rlk_observer_state state(const struct rlk_observer *o)
{
    struct rlk_observer_state s = {.kind = RLK_OBSERVER_HELD};

    if (!o->holder.held) {
        s.kind = o->holder.unknown ? RLK_OBSERVER_UNKNOWN : RLK_OBSERVER_FREE;
        return s;
    }
    s.value = o->view.value[__builtin_ctzll(o->holder.nodes)];
    s.fence = o->holder.fence;
    if (is_same_holder(&s, &o->last_held)) {
        s.fence = rlk_time_max(s.fence, o->last_held.fence);
    }
    return s;
}

/* [O5] How long it must have been so. [O6] A new holder whose fencing token is not above that of
 * the one before has just taken the keys, and its counters follow. */
static uint64_t patience_us(const struct rlk_observer *o)
{
    const struct rlk_observer_state *last = &o->last_held;

    if (o->seen.kind == RLK_OBSERVER_UNKNOWN) {
        return o->timeout_us;
    }
    if (o->seen.kind == RLK_OBSERVER_FREE) {
        return RLK_OBSERVER_SETTLE_US;
    }
    return o->seen.fence > 0 && o->seen.fence <= last->fence && o->seen.value != last->value
               ? RLK_OBSERVER_SETTLE_US
               : 0;
}

static uint64_t report_us(const struct rlk_observer *o)
{
    return is_same_state(&o->seen, &o->reported) ? RLK_NEVER
                                                 : rlk_time_add(o->since_us, patience_us(o));
}

/* After each event: any may change what is known. VOTERS has no step of its own. */
static void update(struct rlk_observer *o, uint64_t now_us)
{
    struct rlk_observer_state now;

    rlk_holder_find(&o->view, &o->holder);
    now = state(o);
    if (!is_same_state(&now, &o->seen)) {
        o->seen = now;
        o->since_us = now_us;
    }
    if (o->holder.end > now_us) {
        o->end_look_us = 0;
        o->pause_us = RLK_LOOKOUT_PAUSE_US;
    }
}

/* reports: the driver will send a DELIVER. */
static uint64_t deadline(const struct rlk_observer *o, bool reports)
{
    uint64_t us = rlk_time_min(rlk_time_min(o->look_us, o->retry_us), end_us(o));
    uint64_t left = o->asked & o->view.answered;
    unsigned node;

    us = rlk_time_min(us, reports ? RLK_NEVER : report_us(o));
    us = rlk_time_min(us, o->up & ~o->hears ? o->poll_us : RLK_NEVER);
    RLK_MASK_EACH (node, left) {
        us = rlk_time_min(us, late_us(o, node));
    }
    return us;
}

static void deliver_state(struct rlk_observer *o)
{
    o->reported = o->seen;
    o->last_held = o->seen.kind == RLK_OBSERVER_HELD ? o->seen : o->last_held;
}

static void (*const steps[RLK_EVENT_KINDS])(struct rlk_observer *, const struct rlk_event *,
                                            struct rlk_prng *, struct rlk_actions *) = {
    [RLK_EVENT_START] = on_start,          [RLK_EVENT_NODE_UP] = on_node_up,
    [RLK_EVENT_LOOKED] = on_looked,        [RLK_EVENT_NODE_DOWN] = on_node_down,
    [RLK_EVENT_CHANGED] = on_changed,      [RLK_EVENT_SUBSCRIBED] = on_subscribed,
    [RLK_EVENT_TIMER] = on_observer_timer, [RLK_EVENT_UNSUBSCRIBED] = on_unsubscribed,
};

void rlk_observer_step(struct rlk_observer *o, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out)
{
    *out = (struct rlk_actions){0};
    if (ev->kind < RLK_EVENT_KINDS && steps[ev->kind]) {
        steps[ev->kind](o, ev, prng, out);
    }
    update(o, ev->now_us);
    out->report = ev->now_us >= report_us(o);
    if (out->report && ev->kind == RLK_EVENT_DELIVER) {
        deliver_state(o);
    }
    out->deadline_us = deadline(o, out->report);
}
