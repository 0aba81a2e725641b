/* gather.c - which nodes are awaited, for how long, and the report when none is. */
#include "lock/gather.h"

#include "base/mask.h"
#include "base/time.h"
#include "net/clock.h"

static struct rlk_gather *gather_of(struct rlk_operation *op)
{
    return RLK_CONTAINER(op, struct rlk_gather, operation);
}

/* One timer for all: it fires for the node whose time is over first. RLK_NEVER when none is
 * awaited. */
static void set_gather_timer(struct rlk_gather *g)
{
    uint64_t left = g->awaited, first_us = RLK_NEVER;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        first_us = rlk_time_min(first_us, g->until_us[node]);
    }
    rlk_timer_set(&g->rl->loop.timers, &g->timer, first_us);
}

static void report_when_done(struct rlk_gather *g)
{
    if (g->awaited == 0 && !g->follows) {
        rlk_turn_report(&g->rl->loop.turn, &g->report);
    }
}

bool rlk_gather_awaits(const struct rlk_gather *g, unsigned node)
{
    return (g->awaited & rlk_mask_bit(node)) != 0;
}

void rlk_gather_done(struct rlk_gather *g, unsigned node)
{
    if (!rlk_gather_awaits(g, node)) {
        return;
    }
    g->awaited &= ~rlk_mask_bit(node);
    g->connecting &= g->awaited;
    g->kind->stop(g, node);
    set_gather_timer(g);
    report_when_done(g);
}

void rlk_gather_finish(struct rlk_gather *g)
{
    g->follows = false;
    report_when_done(g);
}

void rlk_gather_extend(struct rlk_gather *g, unsigned node, uint64_t until_us)
{
    g->until_us[node] = until_us;
    set_gather_timer(g);
}

/* ---- what ends the time of a node ---- */

static void on_gather_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_gather *g = RLK_CONTAINER(t, struct rlk_gather, timer);
    uint64_t left = g->awaited;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (g->until_us[node] <= now_us) {
            if (g->kind->time_out) {
                g->kind->time_out(g, node, now_us);
            }
            rlk_gather_done(g, node);
        }
    }
}

static void on_gather_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    struct rlk_gather *g = gather_of(op);

    if (ev->kind == RLK_EVENT_NODE_UP && (g->connecting & rlk_mask_bit(ev->node))) {
        g->connecting &= ~rlk_mask_bit(ev->node);
        g->kind->ask(g, ev->node, ev->now_us);
    } else if (ev->kind == RLK_EVENT_NODE_DOWN) {
        rlk_gather_done(g, ev->node);
    }
}

/* Also when it has not started, or when its report is queued already: then that report says so. */
static void close_gather(struct rlk_operation *op)
{
    struct rlk_gather *g = gather_of(op);
    uint64_t left = g->awaited;
    unsigned node;

    g->cancelled = true;
    if (g->kind->close) {
        g->kind->close(g);
    }
    RLK_MASK_EACH (node, left) {
        rlk_gather_done(g, node);
    }
    rlk_turn_report(&g->rl->loop.turn, &g->report);
}

/* Nothing is reported. A manager is freed only after everything that it gathers was reported; so
 * this is only for a process that ends without a close, in the simulator. */
static void free_gather(struct rlk_operation *op)
{
    struct rlk_gather *g = gather_of(op);
    uint64_t left = g->awaited;
    unsigned node;

    g->awaited = g->connecting = 0;
    RLK_MASK_EACH (node, left) {
        g->kind->stop(g, node);
    }
    if (g->kind->close) {
        g->kind->close(g);
    }
    set_gather_timer(g);
    rlk_list_remove(&g->report.link);
    rlk_list_remove(&g->operation.link);
    g->kind->unref(g);
}

/* ---- the beginning and the report ---- */

static void report_gather(struct rlk_call *call)
{
    struct rlk_gather *g = RLK_CONTAINER(call, struct rlk_gather, report);

    rlk_list_remove(&g->operation.link);
    rlk_manager_reported(g->rl, &g->operation);
    g->kind->report(g, g->cancelled);
    g->kind->unref(g);
}

void rlk_gather_init(struct rlk_gather *g, struct redlock *rl, const struct rlk_gather_kind *kind)
{
    static const struct rlk_operation_kind operation = {
        .event = on_gather_event, .close = close_gather, .free = free_gather};

    g->rl = rl;
    g->kind = kind;
    rlk_call_init(&g->report, report_gather);
    rlk_timer_init(&g->timer, on_gather_timer);
    rlk_manager_add(rl, &g->operation, &operation, RLK_OPERATION_QUERY);
}

void rlk_gather_start(struct rlk_gather *g, uint64_t ready, uint64_t connecting, uint64_t now_us,
                      uint64_t until_us)
{
    uint64_t left = ready | connecting;
    unsigned node;

    g->awaited = left;
    g->connecting = connecting;
    RLK_MASK_EACH (node, left) {
        g->until_us[node] = until_us;
    }
    set_gather_timer(g);
    report_when_done(g);
    RLK_MASK_EACH (node, ready) {
        g->kind->ask(g, node, now_us);
    }
}

void rlk_gather_begin(struct rlk_gather *g, struct rlk_call *queue, enum rlk_event_kind kind)
{
    struct redlock *rl = g->rl;
    struct rlk_event nodes = {.kind = kind, .now_us = rlk_clock_us()};

    rlk_queue_survey(&rl->queue, RLK_RANK_FRESH, &nodes);
    if (nodes.full) {
        rlk_queue_wait(&rl->queue, RLK_RANK_FRESH, queue);
        return;
    }
    rlk_queue_expect(&rl->queue, nodes.connecting);
    rlk_gather_start(g, nodes.ready, nodes.connecting, nodes.now_us,
                     rlk_time_add(nodes.now_us, rl->options.node_timeout_us));
}
