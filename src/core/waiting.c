/* waiting.c - chooses the hosts, and turns what they say into the next look or our turn. */
#include "core/waiting.h"

#include "base/mask.h"
#include "base/time.h"
#include "core/lookout.h"

/* How long a change of the key is given to turn out to be a release. */
#define CHANGED_US (2 * RLK_WAITING_ALONE_US)

/* waiting.h draws these. They are computed from the sets when something has changed. */
enum turn {
    TURN_NONE,
    TURN_ALONE,
    TURN_LOOKING,
    TURN_DENIED,
    TURN_DUE
};

void rlk_waiting_init(struct rlk_waiting *w, unsigned nodes, uint32_t hash)
{
    *w = (struct rlk_waiting){.nodes = nodes,
                              .first = hash % nodes,
                              .pause_us = RLK_LOOKOUT_PAUSE_US,
                              .look_us = RLK_NEVER,
                              .go_us = RLK_NEVER};
}

/* [W1] The first usable nodes in the order of the key: all clients that see the same nodes choose
 * the same hosts. */
static uint64_t choose_hosts(const struct rlk_waiting *w, uint64_t usable)
{
    uint64_t hosts = 0;
    unsigned i, n = 0;

    for (i = 0; i < w->nodes && n < RLK_WAITING_HOSTS; i++) {
        uint64_t bit = rlk_mask_bit((w->first + i) % w->nodes);

        hosts |= usable & bit;
        n += (usable & bit) != 0;
    }
    return hosts;
}

/* Where a host has its entry in end_us. */
static unsigned slot(const struct rlk_waiting *w, unsigned node)
{
    return rlk_mask_count(w->hosts & (rlk_mask_bit(node) - 1));
}

static void use_hosts(struct rlk_waiting *w, uint64_t hosts, uint64_t subscribed)
{
    unsigned i;

    for (i = 0; i < RLK_WAITING_HOSTS; i++) {
        w->end_us[i] = RLK_NEVER;
    }
    w->hosts = hosts;
    w->subscribed = hosts & subscribed;
    w->asked &= w->subscribed;
    w->listed &= w->subscribed;
    w->next &= w->subscribed;
    w->crossed &= w->subscribed;
    w->denied &= w->subscribed;
    w->turn &= hosts;
}

/* [W4] A host reports every change of the key to whoever is next there, and to nobody else, or the
 * messages of a hand-over would grow with the number of waiters. */
static void ask_queue(struct rlk_waiting *w, uint64_t nodes, struct rlk_actions *out)
{
    if (nodes == 0) {
        return;
    }
    w->asked |= nodes;
    w->positions |= nodes;
    w->lists |= nodes;
    out->wait = nodes;
    out->wait_yields = w->yields;
    out->track = nodes & w->next;
}

static void look_before(struct rlk_waiting *w, uint64_t time_us)
{
    w->look_us = rlk_time_min(w->look_us, time_us);
}

/* How many hosts must say that it is our turn. */
static unsigned needed(const struct rlk_waiting *w)
{
    unsigned hosts = rlk_mask_count(w->hosts);

    return hosts < RLK_WAITING_TURNS ? hosts : RLK_WAITING_TURNS;
}

/* When so many hosts have let the key expire that it may be our turn. */
static uint64_t key_end_us(const struct rlk_waiting *w)
{
    uint64_t first = RLK_NEVER, second = RLK_NEVER;
    unsigned i, hosts = rlk_mask_count(w->hosts);

    for (i = 0; i < hosts; i++) {
        second = rlk_time_min(second, rlk_time_max(first, w->end_us[i]));
        first = rlk_time_min(first, w->end_us[i]);
    }
    return needed(w) < RLK_WAITING_TURNS ? first : second;
}

/* Ask the hosts, chosen anew, for our place. */
static void look(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
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
    use_hosts(w, choose_hosts(w, ev->subscribable & ~w->unable), ev->subscribed);
    w->checked = true;
    w->denied = 0;
    w->look_us = rlk_lookout_next_us(RLK_WAITING_LOOK_US, prng, ev->now_us);
    ask_queue(w, w->subscribed, out);
}

void rlk_waiting_begin(struct rlk_waiting *w, bool yields, uint64_t now_us)
{
    w->vain |= w->turn;
    rlk_waiting_stop(w);
    w->yields = yields;
    w->look_us = now_us;
}

bool rlk_waiting_is_vain(const struct rlk_waiting *w)
{
    return (w->turn & w->vain) != 0;
}

void rlk_waiting_stop(struct rlk_waiting *w)
{
    w->subscribed = w->asked = w->listed = w->next = w->crossed = w->turn = w->denied = 0;
    w->checked = false;
    w->position = 0;
    w->pause_us = RLK_LOOKOUT_PAUSE_US;
    w->look_us = w->go_us = RLK_NEVER;
}

uint32_t rlk_waiting_position(const struct rlk_waiting *w)
{
    if (w->listed == 0) {
        return 0;
    }
    return w->next | w->turn ? 1 : w->position;
}

static bool is_enough(const struct rlk_waiting *w, uint64_t nodes)
{
    return nodes != 0 && rlk_mask_count(nodes) >= needed(w);
}

/* [W3] A host that was wrong may be wrong all the time: its turn counts with that of another one.
 */
static uint64_t believed(const struct rlk_waiting *w)
{
    return w->turn & ~w->doubted;
}

/* [W3] Whether a turn that one host announces is wrong, by what others have said since: two of them
 * deny it, or one does and somebody is before us there. */
static bool is_denied(const struct rlk_waiting *w)
{
    return is_enough(w, w->denied) || (w->denied != 0 && w->next == 0);
}

/* [W3] One host alone may be late or wrong: it is believed after a look at the others. */
static enum turn turn_of(const struct rlk_waiting *w)
{
    if (w->turn == 0) {
        return TURN_NONE;
    }
    if (is_enough(w, w->turn)) {
        return TURN_DUE;
    }
    if (is_denied(w) || believed(w) == 0) {
        return TURN_DENIED;
    }
    if (!w->checked) {
        return TURN_ALONE;
    }
    return w->asked ? TURN_LOOKING : TURN_DUE;
}

/* [W3] The key of a denied turn may be missing on that host alone; then asking for the lock is in
 * vain, and whoever is next does it now and then. It may also be missing on most masters, and the
 * others are wrong. */
static uint64_t turn_us(const struct rlk_waiting *w, enum turn turn, struct rlk_prng *prng,
                        uint64_t now_us)
{
    switch (turn) {
    case TURN_ALONE:
        return rlk_time_add(now_us,
                            RLK_WAITING_ALONE_US + rlk_prng_upto(prng, RLK_WAITING_ALONE_US));
    case TURN_LOOKING:
        return rlk_time_add(now_us, RLK_WAITING_CHECK_US);
    case TURN_DENIED:
        return w->next ? rlk_lookout_next_us(RLK_WAITING_LOOK_US, prng, now_us) : RLK_NEVER;
    case TURN_DUE:
        return now_us;
    case TURN_NONE:
        break;
    }
    return RLK_NEVER;
}

/* A turn that has its time keeps it, unless it is due now. */
static void update_go(struct rlk_waiting *w, uint64_t now_us, struct rlk_prng *prng)
{
    enum turn turn = turn_of(w);

    if (turn == TURN_NONE) {
        w->go_us = RLK_NEVER;
    } else if (turn == TURN_DUE || w->go_us == RLK_NEVER) {
        w->go_us = rlk_time_min(w->go_us, turn_us(w, turn, prng, now_us));
    }
}

/* [W4] */
static void look_as_next(struct rlk_waiting *w, struct rlk_prng *prng, uint64_t now_us)
{
    look_before(w, rlk_time_add(now_us, RLK_WAITING_NEXT_US +
                                            rlk_prng_upto(prng, RLK_WAITING_NEXT_US / 4)));
}

static void on_next(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng)
{
    uint64_t bit = rlk_mask_bit(ev->node) & w->subscribed;

    if (bit) {
        w->next |= bit;
        look_as_next(w, prng, ev->now_us);
    }
}

/* [W4] A ttl may stay 0 for a while, and whoever is woken may not come. So these looks become
 * seldom; and waiters who wake each other must not look in turns. */
static void look_at_key_end(struct rlk_waiting *w, struct rlk_prng *prng, uint64_t now_us)
{
    uint64_t pause_us = w->pause_us + rlk_prng_upto(prng, w->pause_us - RLK_LOOKOUT_PAUSE_US);

    if (w->next) {
        look_before(w, rlk_lookout_expired_us(key_end_us(w), rlk_time_add(now_us, pause_us)));
    }
}

/* What the host said before no longer counts. */
static void clear_nodes(struct rlk_waiting *w, uint64_t bit)
{
    w->listed &= ~bit;
    w->next &= ~bit;
    w->denied &= ~bit;
}

static void on_queue_turn(struct rlk_waiting *w, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node) & w->hosts;

    clear_nodes(w, bit);
    w->crossed |= bit & w->asked;
    w->turn |= bit;
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

/* [W3] A turn that is found to be wrong is no longer due. */
static void deny(struct rlk_waiting *w, uint64_t bit, uint64_t now_us)
{
    bool was_denied = is_denied(w);

    w->turn &= ~bit;
    w->denied |= bit;
    if (!was_denied && is_denied(w)) {
        w->go_us = RLK_NEVER;
    }
    if (is_denied(w) && w->checked && believed(w)) {
        w->doubted |= w->turn;
        w->doubted_until_us = rlk_time_add(now_us, RLK_WAITING_LOOK_US);
    }
}

/* [W3] Answers come over another connection than wakes. The answer to a question that was under way
 * when the turn came may be older, so it does not deny the turn. */
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
    look_at_key_end(w, prng, ev->now_us);
}

/* A node that cannot list us is no host: another one takes its place. */
static void on_unable(struct rlk_waiting *w, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    clear_nodes(w, bit);
    w->unable |= bit;
    w->unable_until_us = rlk_time_add(ev->now_us, RLK_WAITING_LOOK_US);
    look_before(w, rlk_time_add(ev->now_us, RLK_WAITING_ALONE_US));
}

/* Every answer counts, also when a later question is under way: a host may have taken us out of its
 * list with the first answer, or with the last. A host whose subscriber connection is down may list
 * us, but could not wake us. */
static void on_position(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    if ((w->hosts & bit) == 0) {
        return;
    }
    w->asked &= ~bit;
    if (ev->turn) {
        on_queue_turn(w, ev);
    } else if (!ev->listed) {
        on_unable(w, ev);
    } else if (w->subscribed & bit) {
        on_listed(w, ev, prng);
    }
}

/* [W3] What the host says is news: what others have said before does not confirm it or deny it. */
static void on_news(struct rlk_waiting *w)
{
    if (believed(w) == 0) {
        w->checked = false;
        w->denied = 0;
    }
}

/* [W4] After a release its node also says whose turn it is. A look before that comes when the node
 * has taken us out of its list: it would wake whoever is behind us. So wait until a turn would have
 * been checked. */
static void on_changed(struct rlk_waiting *w, const struct rlk_event *ev)
{
    on_news(w);
    if (w->subscribed & rlk_mask_bit(ev->node)) {
        look_before(w, rlk_time_add(ev->now_us, CHANGED_US));
    }
}

/* [W5] What its subscriber connection was to tell us may be lost. */
static void on_unsubscribed(struct rlk_waiting *w, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    if (w->hosts & bit) {
        w->crossed &= ~bit;
        clear_nodes(w, bit);
        w->subscribed &= ~bit;
        w->asked &= ~bit;
        look_before(w, rlk_time_add(ev->now_us, RLK_WAITING_ALONE_US));
    }
}

/* [W5] There are no lists any more: everybody who looks before the lock is taken again finds that
 * it is its turn. Several hosts may say so. */
static void look_after_flush(struct rlk_waiting *w, struct rlk_prng *prng, uint64_t now_us)
{
    if (w->look_us > rlk_time_add(now_us, RLK_WAITING_FLUSHED_US)) {
        w->look_us = rlk_time_add(now_us, rlk_prng_upto(prng, RLK_WAITING_FLUSHED_US));
    }
}

/* A node whose subscriber connection comes up may be wanted, if there are too few hosts. What made
 * it unable to list us may be over. When its subscriber connection is up already, all keys there
 * may have changed. */
static void on_subscribed(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                          struct rlk_actions *out)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    w->unable &= ~bit;
    on_news(w);
    if (w->subscribed & bit) {
        look_after_flush(w, prng, ev->now_us);
    } else if (w->hosts & bit) {
        w->subscribed |= bit;
        ask_queue(w, bit, out);
    } else if (rlk_mask_count(w->hosts) < RLK_WAITING_HOSTS) {
        look_before(w, ev->now_us);
    }
}

/* [W7] Whoever is woken is in no list, unless a question that was under way then lists it again. */
void rlk_waiting_hear(struct rlk_waiting *w, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    if (ev->kind == RLK_EVENT_TURN) {
        w->lists &= ~bit | w->asked;
    } else if (ev->kind == RLK_EVENT_POSITION) {
        w->lists = ev->listed ? w->lists | bit : w->lists & ~bit;
    }
}

void rlk_waiting_step(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                      struct rlk_actions *out)
{
    if (ev->kind == RLK_EVENT_POSITION) {
        on_position(w, ev, prng);
    } else if (ev->kind == RLK_EVENT_TURN) {
        on_news(w);
        on_queue_turn(w, ev);
    } else if (ev->kind == RLK_EVENT_NEXT) {
        on_next(w, ev, prng);
    } else if (ev->kind == RLK_EVENT_CHANGED) {
        on_changed(w, ev);
    } else if (ev->kind == RLK_EVENT_SUBSCRIBED) {
        on_subscribed(w, ev, prng, out);
    } else if (ev->kind == RLK_EVENT_UNSUBSCRIBED) {
        on_unsubscribed(w, ev);
    }
    update_go(w, ev->now_us, prng);
}

/* Whether a turn may begin a round without one more look. */
static bool is_settled(const struct rlk_waiting *w)
{
    return w->checked || is_enough(w, w->turn);
}

/* [W3] Only one host has announced a turn that is due now: look. */
static void check_turn(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out)
{
    w->go_us = rlk_time_add(ev->now_us, RLK_WAITING_CHECK_US);
    look(w, ev, prng, out);
}

void rlk_waiting_timer(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out)
{
    if (ev->now_us >= w->go_us && !is_settled(w)) {
        check_turn(w, ev, prng, out);
    } else if (ev->now_us >= w->look_us) {
        look(w, ev, prng, out);
    }
    update_go(w, ev->now_us, prng);
}

void rlk_waiting_renew(struct rlk_waiting *w, uint64_t now_us)
{
    if (w->turn) {
        w->turn = 0;
        w->look_us = now_us;
    }
}

bool rlk_waiting_is_turn(const struct rlk_waiting *w, uint64_t now_us)
{
    return now_us >= w->go_us && is_settled(w);
}

uint64_t rlk_waiting_poll_us(const struct rlk_waiting *w, uint64_t poll_us, uint64_t unlisted_us)
{
    if (is_enough(w, w->listed | w->turn)) {
        return RLK_NEVER;
    }
    if (is_enough(w, w->listed | w->turn | w->asked)) {
        return rlk_time_max(poll_us, rlk_time_add(unlisted_us, RLK_WAITING_ANSWER_US));
    }
    return poll_us;
}

uint64_t rlk_waiting_deadline(const struct rlk_waiting *w, uint64_t hold_us)
{
    uint64_t go_us = is_settled(w) ? rlk_time_max(w->go_us, hold_us) : w->go_us;

    return rlk_time_min(w->look_us, go_us);
}
