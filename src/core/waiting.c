/* waiting.c - chooses the queue masters, and decides from what they say when to check our position
 * and when to begin a round. */
#include "core/waiting.h"

#include "base/mask.h"
#include "base/time.h"
#include "core/lookout.h"

/* When a key has changed, how long to wait for a wake before a position check. */
#define CHANGED_US (2 * RLK_WAITING_ALONE_US)

/* waiting.h draws these. They are computed from the sets when something has changed. */
enum wake {
    WAKE_NONE,
    WAKE_ALONE,
    WAKE_CHECKING,
    WAKE_DENIED,
    WAKE_DUE
};

void rlk_waiting_init(struct rlk_waiting *w, const struct rlk_voters *voters, uint32_t hash)
{
    *w = (struct rlk_waiting){.voters = voters,
                              .hash = hash,
                              .pause_us = RLK_LOOKOUT_PAUSE_US,
                              .check_us = RLK_NEVER,
                              .go_us = RLK_NEVER,
                              .insist_us = RLK_NEVER};
}

unsigned rlk_waiting_first(const struct rlk_voters *voters, uint32_t hash)
{
    uint64_t left = voters->set;
    unsigned before;

    if (left == 0) {
        return 0;
    }
    for (before = hash % rlk_mask_count(left); before > 0; before--) {
        left &= left - 1;
    }
    return (unsigned)__builtin_ctzll(left);
}

static uint64_t lowest(uint64_t nodes, unsigned n)
{
    uint64_t left = nodes;

    for (; left != 0 && n > 0; n--) {
        left &= left - 1;
    }
    return nodes & ~left;
}

/* [W1] The first usable voters in the order of the key: all clients that see the same voters choose
 * the same queue masters. */
static uint64_t choose_queues(const struct rlk_waiting *w, uint64_t usable)
{
    uint64_t before = rlk_mask_bit(rlk_waiting_first(w->voters, w->hash)) - 1;
    uint64_t voters = usable & w->voters->set;
    uint64_t queues = lowest(voters & ~before, RLK_WAITING_QUEUES);

    return queues | lowest(voters & before, RLK_WAITING_QUEUES - rlk_mask_count(queues));
}

/* The index of a queue master in end_us. */
static unsigned slot(const struct rlk_waiting *w, unsigned node)
{
    return rlk_mask_count(w->queues & (rlk_mask_bit(node) - 1));
}

static void use_queues(struct rlk_waiting *w, uint64_t queues, uint64_t subscribed)
{
    unsigned i;

    for (i = 0; i < RLK_WAITING_QUEUES; i++) {
        w->end_us[i] = RLK_NEVER;
    }
    w->queues = queues;
    w->subscribed = queues & subscribed;
    w->asked &= w->subscribed;
    w->listed &= w->subscribed;
    w->next &= w->subscribed;
    w->crossed &= w->subscribed;
    w->denied &= w->subscribed;
    w->wakes &= queues;
}

/* [W4] A queue master reports a change of the key only to the waiter that is first there. Otherwise
 * the messages of a hand-over would grow with the number of waiters. */
static void ask_queue(struct rlk_waiting *w, uint64_t nodes, struct rlk_actions *out)
{
    if (nodes == 0) {
        return;
    }
    w->asked |= nodes;
    w->positions |= nodes;
    w->may_list |= nodes;
    out->wait = nodes;
    out->wait_yields = w->yields;
    out->track = nodes & w->next;
}

static void check_before(struct rlk_waiting *w, uint64_t time_us)
{
    w->check_us = rlk_time_min(w->check_us, time_us);
}

/* How many queue masters must wake us. */
static unsigned needed(const struct rlk_waiting *w)
{
    unsigned queues = rlk_mask_count(w->queues);

    return queues < RLK_WAITING_WAKES ? queues : RLK_WAITING_WAKES;
}

/* When the key has expired on enough queue masters to wake us. */
static uint64_t key_end_us(const struct rlk_waiting *w)
{
    uint64_t first = RLK_NEVER, second = RLK_NEVER;
    unsigned i, queues = rlk_mask_count(w->queues);

    for (i = 0; i < queues; i++) {
        second = rlk_time_min(second, rlk_time_max(first, w->end_us[i]));
        first = rlk_time_min(first, w->end_us[i]);
    }
    return needed(w) < RLK_WAITING_WAKES ? first : second;
}

/* Choose the queue masters, and ask them for our queue position. */
static void check_position(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                           struct rlk_actions *out)
{
    bool expired = key_end_us(w) <= ev->now_us;

    if (ev->now_us >= w->unable_until_us) {
        w->unable = 0;
    }
    if (ev->now_us >= w->doubted_until_us) {
        w->doubted = 0;
    }
    w->pause_us = expired ? rlk_lookout_longer_us(w->pause_us) : RLK_LOOKOUT_PAUSE_US;
    use_queues(w, choose_queues(w, ev->subscribable & ~w->unable), ev->subscribed);
    w->checked = true;
    w->denied = 0;
    w->check_us = rlk_lookout_next_us(RLK_WAITING_PERIOD_US, prng, ev->now_us);
    ask_queue(w, w->subscribed, out);
}

void rlk_waiting_begin(struct rlk_waiting *w, bool yields, uint64_t now_us)
{
    w->vain |= w->wakes;
    rlk_waiting_stop(w);
    w->yields = yields;
    w->check_us = now_us;
}

bool rlk_waiting_is_vain(const struct rlk_waiting *w)
{
    return (w->wakes & w->vain) != 0;
}

void rlk_waiting_stop(struct rlk_waiting *w)
{
    w->subscribed = w->asked = w->listed = w->next = w->crossed = w->wakes = w->denied = 0;
    w->checked = false;
    w->position = 0;
    w->pause_us = RLK_LOOKOUT_PAUSE_US;
    w->check_us = w->go_us = w->insist_us = RLK_NEVER;
}

uint32_t rlk_waiting_position(const struct rlk_waiting *w)
{
    if (w->listed == 0) {
        return 0;
    }
    return w->next | w->wakes ? 1 : w->position;
}

static bool is_enough(const struct rlk_waiting *w, uint64_t nodes)
{
    return nodes != 0 && rlk_mask_count(nodes) >= needed(w);
}

/* [W3] A queue master that was wrong once may always be wrong: its wake counts only together with
 * another one. */
static uint64_t believed(const struct rlk_waiting *w)
{
    return w->wakes & ~w->doubted;
}

/* [W3] Whether the wake of one queue master is wrong, by what others have said since: two of them
 * deny it, or one does and somebody is before us there. */
static bool is_denied(const struct rlk_waiting *w)
{
    return is_enough(w, w->denied) || (w->denied != 0 && w->next == 0);
}

/* [W3] One queue master alone may be late or wrong: believe it after a check of the others. */
static enum wake wake_of(const struct rlk_waiting *w)
{
    if (w->wakes == 0) {
        return WAKE_NONE;
    }
    if (is_enough(w, w->wakes)) {
        return WAKE_DUE;
    }
    if (is_denied(w) || believed(w) == 0) {
        return WAKE_DENIED;
    }
    if (!w->checked) {
        return WAKE_ALONE;
    }
    return w->asked ? WAKE_CHECKING : WAKE_DUE;
}

/* [W3] After a denied wake the key may be missing on that queue master alone; then asking for the
 * lock is in vain. Or it is missing on most masters, and those that deny the wake are wrong. So
 * each waiter asks now and then, less often the more waiters are before it. (Those may be dead; a
 * queue master finds out only when it tries to wake them.) The time is kept while wakes come and
 * go, because each position check denies them again. */
static uint64_t insist_us(struct rlk_waiting *w, struct rlk_prng *prng, uint64_t now_us)
{
    uint64_t place = w->next || w->position == 0 ? 1 : w->position;
    uint64_t period_us = place * RLK_WAITING_PERIOD_US;

    if (w->insist_us > rlk_time_add(now_us, period_us / 4 * 5)) {
        w->insist_us = rlk_lookout_next_us(period_us, prng, now_us);
    }
    return w->insist_us;
}

static uint64_t wake_due_us(struct rlk_waiting *w, enum wake wake, struct rlk_prng *prng,
                            uint64_t now_us)
{
    switch (wake) {
    case WAKE_ALONE:
        return rlk_time_add(now_us,
                            RLK_WAITING_ALONE_US + rlk_prng_upto(prng, RLK_WAITING_ALONE_US));
    case WAKE_CHECKING:
        return rlk_time_add(now_us, RLK_WAITING_CHECK_US);
    case WAKE_DENIED:
        return insist_us(w, prng, now_us);
    case WAKE_DUE:
        return now_us;
    case WAKE_NONE:
        break;
    }
    return RLK_NEVER;
}

/* A wake that has a due time keeps it, unless it is due now. */
static void update_go(struct rlk_waiting *w, uint64_t now_us, struct rlk_prng *prng)
{
    enum wake wake = wake_of(w);

    if (wake == WAKE_NONE) {
        w->go_us = RLK_NEVER;
    } else if (wake == WAKE_DUE || w->go_us == RLK_NEVER) {
        w->go_us = rlk_time_min(w->go_us, wake_due_us(w, wake, prng, now_us));
    }
}

/* [W4] */
static void check_as_next(struct rlk_waiting *w, struct rlk_prng *prng, uint64_t now_us)
{
    check_before(w, rlk_time_add(now_us, RLK_WAITING_NEXT_US +
                                             rlk_prng_upto(prng, RLK_WAITING_NEXT_US / 4)));
}

static void on_next(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng)
{
    uint64_t bit = rlk_mask_bit(ev->node) & w->subscribed;

    if (bit) {
        w->next |= bit;
        check_as_next(w, prng, ev->now_us);
    }
}

/* [W4] Each waiter leaves so much time to those before it: they may be dead or suspended. */
static uint64_t time_of_those_before_us(const struct rlk_waiting *w)
{
    return w->next ? 0 : (w->position - UINT64_C(1)) * RLK_WAITING_BEHIND_US;
}

/* [W4] A ttl may stay 0 for a while, and a woken waiter may not ask. So these checks become rare.
 * And two waiters that wake each other must not check alternately, so the pauses are random. */
static void check_at_key_end(struct rlk_waiting *w, struct rlk_prng *prng, uint64_t now_us)
{
    uint64_t pause_us = w->pause_us + rlk_prng_upto(prng, w->pause_us - RLK_LOOKOUT_PAUSE_US);
    uint64_t end_us = rlk_lookout_expired_us(key_end_us(w), rlk_time_add(now_us, pause_us));

    check_before(w, rlk_time_add(end_us, time_of_those_before_us(w)));
}

/* What the queue masters said before no longer counts. */
static void clear_nodes(struct rlk_waiting *w, uint64_t bit)
{
    w->listed &= ~bit;
    w->next &= ~bit;
    w->denied &= ~bit;
}

static void on_wake(struct rlk_waiting *w, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node) & w->queues;

    clear_nodes(w, bit);
    w->crossed |= bit & w->asked;
    w->wakes |= bit;
    w->yields = false;
}

static void update_next(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    if (ev->position != 1) {
        w->next &= ~bit;
    } else if (!(w->next & bit)) {
        on_next(w, ev, prng);
    }
}

/* [W3] A wake that turns out to be wrong is no longer due. */
static void deny(struct rlk_waiting *w, uint64_t bit, uint64_t now_us)
{
    bool was_denied = is_denied(w);

    w->wakes &= ~bit;
    w->denied |= bit;
    if (!was_denied && is_denied(w)) {
        w->go_us = RLK_NEVER;
    }
    if (is_denied(w) && w->checked && believed(w)) {
        w->doubted |= w->wakes;
        w->doubted_until_us = rlk_time_add(now_us, RLK_WAITING_PERIOD_US);
    }
}

/* [W3] Replies and wakes come over different connections. The reply to a question that was under
 * way when the wake came may be older than the wake, so it does not deny the wake. */
static void on_listed(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    w->yields = false;
    w->listed |= bit;
    w->vain &= ~bit;
    w->position = ev->position;
    w->end_us[slot(w, ev->node)] = rlk_time_add(ev->now_us, ev->left_us);
    update_next(w, ev, prng);
    if (w->crossed & bit) {
        w->crossed &= ~bit;
    } else {
        deny(w, bit, ev->now_us);
    }
    check_at_key_end(w, prng, ev->now_us);
}

/* A node that cannot list us is no queue master: another one takes its place. */
static void on_unable(struct rlk_waiting *w, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    clear_nodes(w, bit);
    w->unable |= bit;
    w->unable_until_us = rlk_time_add(ev->now_us, RLK_WAITING_PERIOD_US);
    check_before(w, rlk_time_add(ev->now_us, RLK_WAITING_ALONE_US));
}

/* Every reply counts, even when a later question is under way: a queue master may have taken us out
 * of its queue with the first reply, or with the last. One whose subscriber connection is down may
 * list us, but could not wake us. */
static void on_position(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    if ((w->queues & bit) == 0) {
        return;
    }
    w->asked &= ~bit;
    if (ev->woken) {
        on_wake(w, ev);
    } else if (!ev->listed) {
        on_unable(w, ev);
    } else if (w->subscribed & bit) {
        on_listed(w, ev, prng);
    }
}

/* [W3] What the queue master says is news: what others said before neither confirms nor denies it.
 */
static void on_news(struct rlk_waiting *w)
{
    if (believed(w) == 0) {
        w->checked = false;
        w->denied = 0;
    }
}

/* [W4] After a release the node also wakes its first waiter, and takes it out of the queue. If we
 * checked our position before that wake arrives, we would wake the waiter behind us. So wait until
 * a wake would have been checked. */
static void on_changed(struct rlk_waiting *w, const struct rlk_event *ev)
{
    on_news(w);
    if (w->subscribed & rlk_mask_bit(ev->node)) {
        check_before(w, rlk_time_add(ev->now_us, CHANGED_US));
    }
}

/* [H3] The key is free for us; or it ends when the reservation does, which is soon. Nobody takes us
 * out of a queue for that. */
static void on_reserved(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng)
{
    if (ev->woken) {
        on_news(w);
        on_wake(w, ev);
    } else if (w->listed & rlk_mask_bit(ev->node)) {
        w->end_us[slot(w, ev->node)] = rlk_time_add(ev->now_us, ev->left_us);
        check_at_key_end(w, prng, ev->now_us);
    }
}

/* [W5] Messages over its subscriber connection may be lost. */
static void on_unsubscribed(struct rlk_waiting *w, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    if (w->queues & bit) {
        w->crossed &= ~bit;
        clear_nodes(w, bit);
        w->subscribed &= ~bit;
        w->asked &= ~bit;
        check_before(w, rlk_time_add(ev->now_us, RLK_WAITING_ALONE_US));
    }
}

/* [W5] All queues are gone: each waiter that checks before the lock is taken again is woken.
 * Several queue masters may say that their keys have changed. */
static void check_after_flush(struct rlk_waiting *w, struct rlk_prng *prng, uint64_t now_us)
{
    if (w->check_us > rlk_time_add(now_us, RLK_WAITING_FLUSHED_US)) {
        w->check_us = rlk_time_add(now_us, rlk_prng_upto(prng, RLK_WAITING_FLUSHED_US));
    }
}

/* A node whose subscriber connection comes up may be needed, if there are too few queue masters.
 * Perhaps it can list us again. If its subscriber connection was up already, all keys there may
 * have changed. */
static void on_subscribed(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                          struct rlk_actions *out)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    w->unable &= ~bit;
    on_news(w);
    if (w->subscribed & bit) {
        check_after_flush(w, prng, ev->now_us);
    } else if (w->queues & bit) {
        w->subscribed |= bit;
        ask_queue(w, bit, out);
    } else if (rlk_mask_count(w->queues) < RLK_WAITING_QUEUES) {
        check_before(w, ev->now_us);
    }
}

/* [W1] Nodes without a vote are not queue masters any more. The check that is due now chooses
 * others. */
static void on_voters(struct rlk_waiting *w, const struct rlk_event *ev)
{
    use_queues(w, w->queues & w->voters->set, w->subscribed);
    check_before(w, ev->now_us);
}

/* [W7] A woken waiter is in no queue, unless a question that was under way then enters it again. */
void rlk_waiting_hear(struct rlk_waiting *w, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    if (ev->kind == RLK_EVENT_WOKEN) {
        w->may_list &= ~bit | w->asked;
    } else if (ev->kind == RLK_EVENT_POSITION) {
        w->may_list = ev->listed ? w->may_list | bit : w->may_list & ~bit;
    }
}

void rlk_waiting_step(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                      struct rlk_actions *out)
{
    if (ev->kind == RLK_EVENT_POSITION) {
        on_position(w, ev, prng);
    } else if (ev->kind == RLK_EVENT_WOKEN) {
        on_news(w);
        on_wake(w, ev);
    } else if (ev->kind == RLK_EVENT_NEXT) {
        on_next(w, ev, prng);
    } else if (ev->kind == RLK_EVENT_RESERVED) {
        on_reserved(w, ev, prng);
    } else if (ev->kind == RLK_EVENT_CHANGED) {
        on_changed(w, ev);
    } else if (ev->kind == RLK_EVENT_SUBSCRIBED) {
        on_subscribed(w, ev, prng, out);
    } else if (ev->kind == RLK_EVENT_UNSUBSCRIBED) {
        on_unsubscribed(w, ev);
    } else if (ev->kind == RLK_EVENT_VOTERS) {
        on_voters(w, ev);
    }
    update_go(w, ev->now_us, prng);
}

/* Whether a wake may begin a round without one more position check. */
static bool is_settled(const struct rlk_waiting *w)
{
    return w->checked || is_enough(w, w->wakes);
}

/* [W3] Only one queue master has sent a wake that is due now: check the others. */
static void check_wake(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out)
{
    w->go_us = rlk_time_add(ev->now_us, RLK_WAITING_CHECK_US);
    check_position(w, ev, prng, out);
}

void rlk_waiting_timer(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out)
{
    if (ev->now_us >= w->go_us && !is_settled(w)) {
        check_wake(w, ev, prng, out);
    } else if (ev->now_us >= w->check_us) {
        check_position(w, ev, prng, out);
    }
    update_go(w, ev->now_us, prng);
}

void rlk_waiting_check_again(struct rlk_waiting *w, uint64_t now_us)
{
    if (w->wakes) {
        w->wakes = 0;
        w->check_us = now_us;
    }
}

bool rlk_waiting_is_woken(const struct rlk_waiting *w, uint64_t now_us)
{
    return now_us >= w->go_us && is_settled(w);
}

uint64_t rlk_waiting_poll_us(const struct rlk_waiting *w, uint64_t poll_us, uint64_t unlisted_us)
{
    if (is_enough(w, w->listed | w->wakes)) {
        return RLK_NEVER;
    }
    if (is_enough(w, w->listed | w->wakes | w->asked)) {
        return rlk_time_max(poll_us, rlk_time_add(unlisted_us, RLK_WAITING_ANSWER_US));
    }
    return poll_us;
}

uint64_t rlk_waiting_deadline(const struct rlk_waiting *w, uint64_t hold_us)
{
    uint64_t go_us = is_settled(w) ? rlk_time_max(w->go_us, hold_us) : w->go_us;

    return rlk_time_min(w->check_us, go_us);
}
