/* observation.c - drives the observer of a key: asks the masters, and reports to the user.
 *
 * The replies are kept twice: in the look, while they come in, and in `known`, which is the last
 * complete answer of each master. Only that is reported. */
#include "lock/observation.h"

#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/time.h"
#include "core/observer.h"
#include "lock/look.h"
#include "lock/manager.h"
#include "lock/result.h"
#include "net/clock.h"
#include "node/capacity.h"
#include "node/claim.h"

/* [O1] After so many looks in a row at the value alone, one reads the ttl, too: it tells a key that
 * is renewed from one that is reported without a change [O3]. */
#define MOST_BRIEF 3

/* What a master tracks, as bits. */
enum {
    TRACKS_KEY = 1,
    TRACKS_COUNTER = 2,
    TRACKS_BOTH = 3
};

/* What one master has said. */
struct answer {
    struct rlk_look look;
    struct rlk_found known;
    uint8_t tracked; /* of these it will report the next change */
    bool armed;      /* by the last look: it tracked both already */
    uint8_t brief;   /* looks in a row that found the value that was known, and read no more */
};

struct rlk_observation {
    struct rlk_operation operation;
    struct redlock *rl;
    struct rlk_observer observer;
    struct rlk_observed_link observed;
    struct rlk_call report;
    struct rlk_timer timer;
    rlk_observation_cb *cb;
    void *arg;
    bool ended;                /* the user has ended it, or the manager is closing */
    uint64_t subscribed;       /* nodes whose subscriber connections it wants */
    struct rlk_look_user user; /* one reference until its operation is over */
    struct answer answers[];
};

static void on_unused(struct rlk_look_user *user)
{
    struct rlk_observation *o = RLK_CONTAINER(user, struct rlk_observation, user);
    unsigned i;

    for (i = 0; i < o->rl->options.room; i++) {
        rlk_found_clear(&o->answers[i].look.found);
        rlk_found_clear(&o->answers[i].known);
    }
    rlk_claim_unref(user->key);
    rlk_free(o);
}

/* ---- asking ---- */

static void step_observation(struct rlk_observation *o, const struct rlk_event *ev);

/* [O1] A master reports one change of what it tracks. Where it has reported nothing since, it need
 * not be told to track; where only the key has changed, that was a renewal in most cases, and the
 * value is enough. Where nobody bids for long, most looks find nothing. */
static enum rlk_look_part part_of(const struct answer *a)
{
    const struct redlock_query_node *last = &a->known.public;

    if (last->reply == REDLOCK_REPLY_FREE && last->counter == 0) {
        return RLK_LOOK_EXISTS;
    }
    return last->reply == REDLOCK_REPLY_HELD && a->tracked == TRACKS_COUNTER &&
                   a->brief < MOST_BRIEF
               ? RLK_LOOK_VALUE
               : RLK_LOOK_ALL;
}

/* Looks do not wait in the send queue: an observation has only one at a time on each master. What
 * a master says of a change counts from now on. */
static bool ask_node(struct rlk_observation *o, unsigned node, uint64_t now_us)
{
    struct rlk_node *n = &o->rl->nodes[node];
    struct answer *a = &o->answers[node];
    bool can_track = rlk_subscriber_tracks(n);
    bool tracks = can_track && a->tracked != TRACKS_BOTH;
    enum rlk_look_part part = can_track ? part_of(a) : RLK_LOOK_ALL;

    if (!rlk_capacity_is_free_to_wait(n) || !rlk_look_begin(&a->look, n, tracks, part, now_us)) {
        return false;
    }
    a->armed = can_track && !tracks;
    a->tracked = can_track ? TRACKS_BOTH : 0;
    return true;
}

static void ask_all(struct rlk_observation *o, uint64_t nodes, uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_LOOKED, .now_us = now_us, .look = {.unsent = true}};
    uint64_t unsent = 0;

    RLK_MASK_EACH (ev.node, nodes) {
        unsent |= ask_node(o, ev.node, now_us) ? 0 : rlk_mask_bit(ev.node);
    }
    RLK_MASK_EACH (ev.node, unsent) {
        step_observation(o, &ev);
    }
}

static void step_observation(struct rlk_observation *o, const struct rlk_event *ev)
{
    struct rlk_actions out;

    if (o->ended) {
        return;
    }
    rlk_observer_step(&o->observer, ev, &o->rl->prng, &out);
    rlk_timer_set(&o->rl->loop.timers, &o->timer, out.deadline_us);
    if (out.report) {
        rlk_turn_report(&o->rl->loop.turn, &o->report);
    }
    ask_all(o, out.look, ev->now_us);
}

static void on_observation_timer(struct rlk_timer *t, uint64_t now_us)
{
    const struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = now_us};

    step_observation(RLK_CONTAINER(t, struct rlk_observation, timer), &ev);
}

/* ---- answers ---- */

/* The number of a value that was cut is made from its beginning and its length. */
static uint64_t number_of(const struct rlk_observation *o, const struct rlk_found *f)
{
    return rlk_observed_number(&o->rl->observed, f->value, f->len) + f->full_len - f->len;
}

static void keep(struct answer *a)
{
    rlk_found_clear(&a->known);
    a->known = a->look.found;
    memset(&a->look.found, 0, sizeof(a->look.found));
}

/* A look at the value alone has not read the ttl: it ends no sooner than it did. */
static void keep_end(struct rlk_observation *o, unsigned node, uint64_t now_us)
{
    struct redlock_query_node *f = &o->answers[node].known.public;
    uint64_t end_us = o->observer.view.end[node];

    f->ttl_ms = end_us == RLK_NEVER ? UINT64_MAX : rlk_time_sub(end_us, now_us) / 1000;
}

/* [O3] The master said before that it would report a change, and this look finds one that it has
 * not reported. */
static bool is_unreported(const struct rlk_observation *o, const struct rlk_event *ev)
{
    const struct rlk_holder_view *v = &o->observer.view;
    const struct answer *a = &o->answers[ev->node];
    uint64_t bit = rlk_mask_bit(ev->node);

    return a->armed && a->tracked == TRACKS_BOTH && (v->answered & bit) != 0 &&
           (((v->held & bit) != 0) != ev->look.held || v->counter[ev->node] != ev->look.counter ||
            (ev->look.held && v->value[ev->node] != ev->look.value));
}

static void take_answer(struct rlk_observation *o, struct rlk_event *ev)
{
    struct answer *a = &o->answers[ev->node];
    struct redlock_query_node *f = &a->known.public;
    bool is_brief = a->look.part == RLK_LOOK_VALUE;
    bool tells = a->look.tracked || a->armed;

    keep(a);
    ev->look.answered = f->reply != REDLOCK_REPLY_NONE;
    ev->look.held = f->reply == REDLOCK_REPLY_HELD && !rlk_claim_reserved_for(a->known.token)[0];
    if (is_brief && ev->look.held) {
        keep_end(o, ev->node, ev->now_us);
    }
    a->brief = is_brief ? (uint8_t)(a->brief + 1) : 0;
    ev->look.value = ev->look.held ? number_of(o, &a->known) : 0;
    ev->look.ttl_us = rlk_time_from_ms(f->ttl_ms);
    ev->look.counter = f->counter;
    ev->look.hears = tells && rlk_subscriber_tracks(&o->rl->nodes[ev->node]);
    a->tracked = ev->look.answered && ev->look.hears ? a->tracked : 0;
}

/* The subscriber connection may have gone down since the question. */
static void on_looked(struct rlk_look_user *user, struct rlk_node *n, uint64_t now_us)
{
    struct rlk_observation *o = RLK_CONTAINER(user, struct rlk_observation, user);
    struct rlk_event ev = {.kind = RLK_EVENT_LOOKED, .node = n->index, .now_us = now_us};
    bool unreported;

    if (n->link.state != RLK_LINK_UP) {
        ev.kind = RLK_EVENT_NODE_DOWN;
        o->answers[n->index].tracked = 0;
        step_observation(o, &ev);
        return;
    }
    take_answer(o, &ev);
    unreported = is_unreported(o, &ev);
    step_observation(o, &ev);
    if (unreported) {
        o->answers[n->index].tracked = 0;
        ev.kind = RLK_EVENT_CHANGED;
        step_observation(o, &ev);
    }
}

/* ---- reporting ---- */

/* Answers that no longer count are not shown, and the remaining times are those of now. */
static void refresh(struct rlk_observation *o, uint64_t now_us)
{
    const struct rlk_holder_view *v = &o->observer.view;
    unsigned i;

    for (i = 0; i < o->rl->options.n_nodes; i++) {
        struct rlk_found *f = &o->answers[i].known;

        if ((v->answered & rlk_mask_bit(i)) == 0) {
            rlk_found_lose(f);
        } else if ((v->held & rlk_mask_bit(i)) && v->end[i] != RLK_NEVER) {
            f->public.ttl_ms = rlk_time_sub(v->end[i], now_us) / 1000;
        }
    }
}

/* The observer knows the fencing token, and whether enough masters have replied, better than the
 * result of one look at each. */
static void on_result(const struct redlock_query_result *found, int status, void *arg)
{
    const struct rlk_observation *o = arg;
    const struct rlk_observer_state *reported = &o->observer.reported;
    struct redlock_query_result result = *found;

    (void)status;
    if (reported->kind == RLK_OBSERVER_HELD) {
        result.fencing_token = reported->fence;
    }
    o->cb(&result, reported->kind == RLK_OBSERVER_UNKNOWN ? REDLOCK_ENOQUORUM : 0, o->arg);
}

static void deliver_observation(struct rlk_observation *o)
{
    const struct rlk_event ev = {.kind = RLK_EVENT_DELIVER, .now_us = rlk_clock_us()};
    struct redlock *rl = o->rl;
    struct rlk_found *found[RLK_MAX_NODES];
    struct rlk_actions out;
    unsigned i;

    rlk_observer_step(&o->observer, &ev, &rl->prng, &out);
    rlk_timer_set(&rl->loop.timers, &o->timer, out.deadline_us);
    if (!out.report) {
        return;
    }
    refresh(o, ev.now_us);
    for (i = 0; i < rl->options.n_nodes; i++) {
        found[i] = &o->answers[i].known;
    }
    rlk_result_report(rl, found, on_result, o);
}

/* The last thing that happens to it, except for replies that are still in flight. */
static void report_observation(struct rlk_call *call)
{
    struct rlk_observation *o = RLK_CONTAINER(call, struct rlk_observation, report);

    if (!o->ended) {
        deliver_observation(o);
        return;
    }
    rlk_list_remove(&o->operation.link);
    rlk_manager_reported(o->rl, &o->operation);
    if (o->cb) {
        o->cb(NULL, REDLOCK_ECANCELED, o->arg);
    }
    rlk_look_unref(&o->user);
}

/* ---- the beginning and the end ---- */

static void end_observation(struct rlk_observation *o)
{
    uint64_t now_us = rlk_clock_us(), left = o->subscribed;
    unsigned i;

    o->ended = true;
    rlk_timer_cancel(&o->rl->loop.timers, &o->timer);
    rlk_observed_remove(&o->rl->observed, &o->observed);
    RLK_MASK_EACH (i, left) {
        rlk_look_abandon(&o->answers[i].look, &o->rl->nodes[i]);
        rlk_subscriber_unwant(&o->rl->nodes[i], now_us);
    }
    rlk_turn_report(&o->rl->loop.turn, &o->report);
}

/* It stays in the list of operations until the end of the loop iteration: somebody may be going
 * through that list. */
void rlk_observation_end(struct rlk_observation *o)
{
    if (o == NULL) {
        return;
    }
    o->cb = NULL;
    if (!o->ended) {
        end_observation(o);
    }
}

static struct rlk_observation *observation_of(struct rlk_operation *op)
{
    return RLK_CONTAINER(op, struct rlk_observation, operation);
}

/* For a node that joined later, this is done when it connects. */
static void subscribe(struct rlk_observation *o, unsigned node, uint64_t now_us)
{
    if ((o->subscribed & rlk_mask_bit(node)) == 0) {
        o->subscribed |= rlk_mask_bit(node);
        rlk_subscriber_want(&o->rl->nodes[node], now_us);
    }
}

static bool ends_tracking(const struct rlk_event *ev)
{
    return ev->kind == RLK_EVENT_NODE_UP || ev->kind == RLK_EVENT_NODE_DOWN ||
           ev->kind == RLK_EVENT_SUBSCRIBED || ev->kind == RLK_EVENT_UNSUBSCRIBED;
}

/* The subscriber connection goes down with its node, and no other event says so for a node that was
 * UP. */
static void on_observation_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    struct rlk_observation *o = observation_of(op);
    struct rlk_event copy = *ev;

    if (ev->kind == RLK_EVENT_NODE_UP && !o->ended) {
        subscribe(o, ev->node, ev->now_us);
    }
    if (ends_tracking(ev)) {
        o->answers[ev->node].tracked = 0;
    }
    if (ev->kind == RLK_EVENT_UNSUBSCRIBED && o->rl->nodes[ev->node].link.state != RLK_LINK_UP) {
        copy.kind = RLK_EVENT_NODE_DOWN;
    }
    step_observation(o, &copy);
}

static void close_observation(struct rlk_operation *op)
{
    if (!observation_of(op)->ended) {
        end_observation(observation_of(op));
    }
}

/* A close ends all observations before; this frees one in any state. */
static void free_observation(struct rlk_operation *op)
{
    struct rlk_observation *o = observation_of(op);

    if (!o->ended) {
        rlk_observed_remove(&o->rl->observed, &o->observed);
    }
    o->ended = true; /* a look that is under way is no longer needed */
    rlk_timer_cancel(&o->rl->loop.timers, &o->timer);
    rlk_list_remove(&o->report.link);
    rlk_list_remove(&op->link);
    rlk_look_unref(&o->user);
}

static const struct rlk_operation_kind operation_kind = {
    .event = on_observation_event, .close = close_observation, .free = free_observation};

void rlk_observation_changed(struct redlock *rl, const char *key, size_t len,
                             const struct rlk_event *ev)
{
    bool is_counter;
    struct rlk_list *links = rlk_observed_find(&rl->observed, key, len, &is_counter), *link, *next;

    if (links) {
        RLK_LIST_EACH (link, next, links) {
            struct rlk_observation *o = RLK_CONTAINER(link, struct rlk_observation, observed.link);

            o->answers[ev->node].tracked &= (uint8_t) ~(is_counter ? TRACKS_COUNTER : TRACKS_KEY);
            step_observation(o, ev);
        }
    }
}

/* Takes over the reference to the claim. */
static struct rlk_observation *make_observation(struct redlock *rl, struct rlk_claim *key)
{
    unsigned n = rl->options.room, i;
    struct rlk_observation *o = rlk_alloc(sizeof(*o) + n * sizeof(o->answers[0]));

    if (o == NULL ||
        !rlk_observed_add(&rl->observed, &o->observed, rlk_claim_keys(key), key->key_len[0])) {
        rlk_claim_unref(key);
        rlk_free(o);
        return NULL;
    }
    o->rl = rl;
    o->user = (struct rlk_look_user){.key = key, .refs = 1, .done = on_looked, .free = on_unused};
    for (i = 0; i < n; i++) {
        o->answers[i].look.user = &o->user;
        o->answers[i].look.known = &o->answers[i].known;
    }
    rlk_observer_init(&o->observer, &rl->voters, rl->options.node_timeout_us);
    rlk_call_init(&o->report, report_observation);
    rlk_timer_init(&o->timer, on_observation_timer);
    rlk_manager_add(rl, &o->operation, &operation_kind, RLK_OPERATION_OBSERVATION);
    return o;
}

static void begin_observation(struct rlk_observation *o)
{
    struct redlock *rl = o->rl;
    struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = rlk_clock_us()};
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        subscribe(o, i, ev.now_us);
    }
    rlk_manager_nodes(rl, ev.now_us, NULL, NULL, &ev.ready);
    step_observation(o, &ev);
}

int rlk_observe(struct redlock *rl, const char *key, rlk_observation_cb *cb, void *arg,
                struct rlk_observation **ret_observation)
{
    struct rlk_claim *claim;
    struct rlk_observation *o;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_OBSERVATION);

    if (status) {
        return status;
    }
    if (rl->counts[RLK_OPERATION_OBSERVATION] >= RLK_OBSERVATION_MAX) {
        return rlk_manager_refuse(
            rl, REDLOCK_ELIMIT,
            "the elections of this manager observe %d keys, which is the most; free one first",
            RLK_OBSERVATION_MAX);
    }
    status = rlk_look_claim(rl, key, 0, 0, &claim);
    if (status) {
        return status;
    }
    o = make_observation(rl, claim);
    if (o == NULL) {
        return REDLOCK_ENOMEM;
    }
    o->cb = cb;
    o->arg = arg;
    begin_observation(o);
    *ret_observation = o;
    return 0;
}
