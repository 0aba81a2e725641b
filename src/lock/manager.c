#include "lock/manager.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/sized.h"
#include "base/time.h"
#include "core/steps.h"
#include "core/validity.h"
#include "lock/close.h"
#include "net/clock.h"
#include "node/handshake.h"

#define KEEP_LOCKS 1024
#define KEEP_CLAIMS 4096

/* ---- what the nodes tell ---- */

/* A waiter may leave the list while it is told, but none may make another one leave. */
static void tell_all(struct redlock *rl, const struct rlk_event *ev)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &rl->waiters) {
        struct rlk_waiter *w = RLK_CONTAINER(link, struct rlk_waiter, link);

        w->kind->event(w, ev);
    }
}

static void tell_of_node(struct rlk_node *n, enum rlk_event_kind kind, uint64_t now_us)
{
    struct rlk_event ev = {.kind = kind, .node = n->index, .now_us = now_us};
    struct redlock *rl = n->owner;

    tell_all(rl, &ev);
    rlk_line_wake(rl);
    rlk_close_settle(rl);
}

static void on_node_up(struct rlk_node *n, uint64_t now_us)
{
    tell_of_node(n, RLK_EVENT_NODE_UP, now_us);
}

static void on_node_down(struct rlk_node *n, uint64_t now_us)
{
    tell_of_node(n, RLK_EVENT_NODE_DOWN, now_us);
}

static void on_node_eased(struct rlk_node *n)
{
    rlk_line_wake(n->owner);
    if (n->inflight.count == 0) {
        rlk_close_settle(n->owner);
    }
}

/* [S11] What follows from that is core/steps.h. */
static void on_node_timed(struct rlk_node *n, const struct rlk_clock_sample *sample)
{
    struct redlock *rl = n->owner;
    struct rlk_event ev = {.node = n->index, .now_us = sample->received_us};
    struct rlk_steps_actions out;
    unsigned node;

    rlk_steps_hear(&rl->clocks, rl->standing, n->index, sample, &out);
    if (out.mistimed) {
        ev.kind = RLK_EVENT_MISTIMED;
        tell_all(rl, &ev);
    }
    if (out.stood_us > 0) {
        ev.kind = RLK_EVENT_STOOD;
        ev.by_us = out.stood_us;
        tell_all(rl, &ev);
    }
    RLK_MASK_EACH (node, out.note) {
        rlk_health_note(&rl->nodes[node], sample->received_us);
    }
    RLK_MASK_EACH (node, out.ask) {
        rlk_health_ask_now(&rl->nodes[node], sample->received_us);
    }
}

/* [S11] What it has granted for a lock that is not told yet counts no more. */
static void on_node_barred(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_BARRED,
                           .node = n->index,
                           .now_us = now_us,
                           .exchanged = rlk_standing_take_exchanged(&n->standing)};

    tell_all(n->owner, &ev);
}

static void on_node_replaced(struct rlk_node *n)
{
    struct redlock *rl = n->owner;

    rlk_clocks_forget(&rl->clocks, n->index);
}

static const struct rlk_node *on_node_twin(const struct rlk_node *n)
{
    const struct redlock *rl = n->owner;
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        const struct rlk_node *other = &rl->nodes[i];

        if (other != n && other->state == RLK_NODE_UP &&
            rlk_server_is_same(&n->info, &other->info)) {
            return other;
        }
    }
    return NULL;
}

static const struct rlk_node_hooks node_hooks = {.greet = rlk_handshake_begin,
                                                 .up = on_node_up,
                                                 .down = on_node_down,
                                                 .eased = on_node_eased,
                                                 .barred = on_node_barred,
                                                 .replaced = on_node_replaced,
                                                 .timed = on_node_timed,
                                                 .twin = on_node_twin};

bool rlk_manager_has_twins(const struct redlock *rl)
{
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        if (rl->nodes[i].twin) {
            return true;
        }
    }
    return false;
}

void rlk_manager_add(struct redlock *rl, struct rlk_waiter *w, const struct rlk_waiter_kind *kind,
                     enum rlk_errand errand)
{
    w->kind = kind;
    w->errand = errand;
    rlk_list_init(&w->link);
    rlk_list_push(&rl->waiters, &w->link);
    rl->pending++;
    rl->errands[errand]++;
}

void rlk_manager_told(struct redlock *rl, struct rlk_waiter *w)
{
    rl->pending--;
    rl->errands[w->errand] -= w->errand != RLK_ERRAND_NONE;
    w->errand = RLK_ERRAND_NONE;
    rlk_close_settle(rl);
}

void rlk_manager_nodes(const struct redlock *rl, uint64_t now_us, uint64_t *ret_ready,
                       uint64_t *ret_coming, uint64_t *ret_open)
{
    uint64_t ready = 0, coming = 0, open = 0;
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        const struct rlk_node *n = &rl->nodes[i];
        uint64_t bit = rlk_mask_bit(i);

        ready |= rlk_node_ready(n, now_us) ? bit : 0;
        coming |= rlk_node_coming(n) ? bit : 0;
        open |= n->state == RLK_NODE_UP ? bit : 0;
    }
    if (ret_ready) {
        *ret_ready = ready;
    }
    if (ret_coming) {
        *ret_coming = coming;
    }
    if (ret_open) {
        *ret_open = open;
    }
}

int rlk_manager_refuse(struct redlock *rl, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(rl->error_text, sizeof(rl->error_text), format, args);
    va_end(args);
    return status;
}

REDLOCK_EXPORT const char *redlock_error_text(const struct redlock *rl)
{
    return rl ? rl->error_text : "";
}

int rlk_manager_admit(struct redlock *rl, enum rlk_errand errand)
{
    if (rl == NULL) {
        return REDLOCK_EINVAL;
    }
    rl->error_text[0] = '\0';
    if (rlk_fork_is_child(&rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    if (rl->closing) {
        return REDLOCK_ESTATE;
    }
    return rl->errands[errand] < RLK_MANAGER_MAX_PENDING ? 0 : REDLOCK_ELIMIT;
}

/* ---- the beginning ---- */

static int make_nodes(struct redlock *rl)
{
    unsigned i;
    uint64_t seed;
    int status = rlk_entropy_take(&rl->entropy, &seed, sizeof(seed));

    if (status) {
        return status;
    }
    rlk_prng_seed(&rl->prng, seed);
    rlk_clocks_init(&rl->clocks, rl->options.n_nodes, rl->options.drift_ppm,
                    rlk_time_from_ms(rl->options.max_ttl_ms));
    rl->nodes = rlk_alloc(rl->options.n_nodes * sizeof(*rl->nodes));
    if (rl->nodes == NULL) {
        return REDLOCK_ENOMEM;
    }
    for (i = 0; i < rl->options.n_nodes; i++) {
        rlk_node_init(&rl->nodes[i], &rl->loop, &rl->options, i, &node_hooks, rl,
                      rlk_prng_next(&rl->prng));
        rl->standing[i] = &rl->nodes[i].standing;
    }
    return 0;
}

static struct redlock *make(void)
{
    struct redlock *rl = rlk_alloc(sizeof(*rl));

    if (rl == NULL) {
        return NULL;
    }
    rlk_entropy_init(&rl->entropy);
    rlk_pool_init(&rl->lock_pool, KEEP_LOCKS);
    rlk_pool_init(&rl->claim_pool, KEEP_CLAIMS);
    rlk_list_init(&rl->waiters);
    rlk_line_init(rl);
    return rl;
}

static void explain(const struct redlock_options *o, int status)
{
    if (o->error_text && o->error_text_size > 0 && o->error_text[0] == '\0') {
        strncpy(o->error_text, redlock_strerror(status), o->error_text_size - 1);
        o->error_text[o->error_text_size - 1] = '\0';
    }
}

REDLOCK_EXPORT int redlock_new(struct event_base *base, const struct redlock_options *options,
                               struct redlock **ret_rl)
{
    struct redlock_options public;
    struct redlock *rl;
    int status;
    unsigned i;

    if (base == NULL || options == NULL || ret_rl == NULL) {
        return REDLOCK_EINVAL;
    }
    status = rlk_options_read(options, &public);
    if (status) {
        return status;
    }
    rl = make();
    status = rl ? rlk_options_load(&rl->options, &public) : REDLOCK_ENOMEM;
    if (status == 0) {
        status = rlk_close_prepare(rl, base);
    }
    if (status == 0) {
        status = make_nodes(rl);
    }
    if (status) {
        if (rl) {
            rlk_close_destroy(rl);
        }
        explain(&public, status);
        return status;
    }
    for (i = 0; i < rl->options.n_nodes; i++) {
        rlk_node_start(&rl->nodes[i], rlk_clock_us());
    }
    *ret_rl = rl;
    return 0;
}

/* ---- what it knows ---- */

REDLOCK_EXPORT size_t redlock_node_count(const struct redlock *rl)
{
    return rl ? rl->options.n_nodes : 0;
}

static enum redlock_node_state public_state(const struct rlk_node *n, uint64_t now_us)
{
    if (n->state == RLK_NODE_UP) {
        return rlk_node_stuck(n, now_us) ? REDLOCK_NODE_STUCK : REDLOCK_NODE_UP;
    }
    return n->state == RLK_NODE_DOWN ? REDLOCK_NODE_DOWN : REDLOCK_NODE_CONNECTING;
}

static uint64_t not_up_for_us(const struct rlk_node *n, uint64_t now_us)
{
    if (n->state != RLK_NODE_UP) {
        return rlk_time_sub(now_us, n->since_us);
    }
    return rlk_node_stuck(n, now_us) ? rlk_time_sub(now_us, rlk_inflight_oldest_us(&n->inflight))
                                     : 0;
}

static uint64_t quarantine_ms(const struct rlk_node *n, uint64_t now_us)
{
    uint64_t until_us;

    if (rlk_standing_bar(&n->standing, now_us, &until_us) == RLK_BAR_NONE) {
        return 0;
    }
    return until_us == RLK_NEVER ? UINT64_MAX : (until_us - now_us + 999) / 1000;
}

REDLOCK_EXPORT int redlock_node_info(const struct redlock *rl, size_t index,
                                     struct redlock_node_info *ret_info)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_node_info, down_ms);
    uint64_t now_us = rlk_clock_us();
    struct redlock_node_info info;
    struct rlk_node *n;

    if (rl == NULL || ret_info == NULL || index >= rl->options.n_nodes ||
        !rlk_sized_valid(ret_info, least)) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    n = &rl->nodes[index];
    info = (struct redlock_node_info){.name = n->uri->name,
                                      .state = public_state(n, now_us),
                                      .down_ms = not_up_for_us(n, now_us) / 1000,
                                      .error = rlk_node_explain(n, now_us),
                                      .server = n->server,
                                      .quarantine_ms = quarantine_ms(n, now_us),
                                      .rtt_us = n->rtt_us};
    rlk_sized_write(ret_info, &info, sizeof(info));
    return 0;
}
