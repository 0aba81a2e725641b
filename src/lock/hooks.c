/* hooks.c - passes each event of a node on to the operations of its manager. */
#include "lock/hooks.h"

#include "base/mask.h"
#include "core/steps.h"
#include "lock/drive_wait.h"
#include "lock/manager.h"
#include "node/handshake.h"
#include "node/inspect.h"
#include "node/trace.h"

static void notify_of_node(struct rlk_node *n, enum rlk_event_kind kind, uint64_t now_us)
{
    struct rlk_event ev = {.kind = kind, .node = n->index, .now_us = now_us};
    struct redlock *rl = n->owner;

    rlk_manager_notify(rl, &ev);
    rlk_queue_wake(&rl->queue);
    rlk_manager_check_close(rl);
    rlk_node_report_check(&rl->node_report);
}

/* [S5] Pending releases are sent before anything else. */
static void on_node_up(struct rlk_node *n, uint64_t now_us)
{
    struct redlock *rl = n->owner;

    rl->muted |= rlk_mask_bit(n->index); /* the handshake may have found something */
    rlk_keeper_check(&rl->record, now_us);
    rlk_node_send_pending(n, now_us);
    notify_of_node(n, RLK_EVENT_NODE_UP, now_us);
}

static void on_node_down(struct rlk_node *n, uint64_t now_us)
{
    struct redlock *rl = n->owner;

    rlk_keeper_check(&rl->record, now_us);
    notify_of_node(n, RLK_EVENT_NODE_DOWN, now_us);
}

static void on_node_capacity_freed(struct rlk_node *n, uint64_t now_us)
{
    struct redlock *rl = n->owner;

    if (n->pending.ring.count > 0) {
        rlk_node_send_pending(n, now_us);
    }
    rlk_queue_wake(&rl->queue);
    if (n->link.inflight.leaving_keys == 0) {
        rlk_manager_check_close(rl);
    }
    rlk_node_report_check(&rl->node_report);
}

static void trace_clock(const struct rlk_node *n, const struct rlk_steps_actions *out)
{
    if (out->ahead_us > 0) {
        RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_AHEAD, .us = out->ahead_us);
    }
    if (out->suspended_us > 0) {
        RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_SUSPENDED, .us = out->suspended_us);
    }
}

/* [S11] core/steps.h decides what follows from the time of a master. */
static void on_node_clock_sampled(struct rlk_node *n, const struct rlk_clock_sample *sample)
{
    struct redlock *rl = n->owner;
    struct rlk_event ev = {.node = n->index, .now_us = sample->received_us};
    struct rlk_steps_actions out;
    unsigned node;

    rlk_steps_take_sample(&rl->clocks, rl->quarantine, n->index, sample, &out);
    trace_clock(n, &out);
    if (out.clock_suspect) {
        ev.kind = RLK_EVENT_CLOCK_SUSPECT;
        rlk_manager_notify(rl, &ev);
    }
    if (out.suspended_us > 0) {
        rl->stats.suspended_us += out.suspended_us;
        ev.kind = RLK_EVENT_SUSPENDED;
        ev.by_us = out.suspended_us;
        rlk_manager_notify(rl, &ev);
        rlk_keeper_suspended(&rl->record, ev.now_us);
    }
    RLK_MASK_EACH (node, out.record) {
        rlk_inspect_record_step(&rl->nodes[node], sample->received_us);
    }
    RLK_MASK_EACH (node, out.ask) {
        rlk_inspect_ask_now(&rl->nodes[node], sample->received_us);
    }
}

static void on_node_record_shown(struct rlk_node *n, const struct rlk_reply *record,
                                 uint64_t server_us, uint64_t now_us)
{
    struct redlock *rl = n->owner;

    rlk_keeper_take_shown(&rl->record, n, record, server_us, now_us);
    rlk_node_report_check(&rl->node_report);
}

static void on_keeper_node_up(struct rlk_record_keeper *k, const struct rlk_event *ev)
{
    rlk_manager_notify(RLK_CONTAINER(k, struct redlock, record), ev);
}

static void on_keeper_moved(struct rlk_record_keeper *k, unsigned node)
{
    rlk_clocks_reset(&RLK_CONTAINER(k, struct redlock, record)->clocks, node);
}

static bool on_keeper_fits(struct rlk_record_keeper *k)
{
    struct redlock *rl = RLK_CONTAINER(k, struct redlock, record);

    return rlk_manager_fit(rl, rl->options.room);
}

static void on_keeper_added(struct rlk_record_keeper *k)
{
    struct redlock *rl = RLK_CONTAINER(k, struct redlock, record);

    rlk_manager_init_node(rl, rl->options.n_nodes - 1);
    rlk_clocks_add(&rl->clocks);
}

/* [S7] What it had does not count if its node gets another server. */
static void on_keeper_left(struct rlk_record_keeper *k, unsigned node, uint64_t now_us)
{
    struct redlock *rl = RLK_CONTAINER(k, struct redlock, record);
    struct rlk_event ev = {
        .kind = RLK_EVENT_QUARANTINED, .node = node, .now_us = now_us, .data_replaced = true};

    rlk_clocks_reset(&rl->clocks, node);
    rlk_manager_notify(rl, &ev);
    rlk_node_report_check(&rl->node_report);
}

static void on_keeper_voters(struct rlk_record_keeper *k, uint64_t now_us)
{
    rlk_manager_set_voters(RLK_CONTAINER(k, struct redlock, record), &k->verdict.voters, now_us);
}

const struct rlk_keeper_hooks rlk_keeper_hooks = {.node_up = on_keeper_node_up,
                                                  .moved = on_keeper_moved,
                                                  .fits = on_keeper_fits,
                                                  .added = on_keeper_added,
                                                  .left = on_keeper_left,
                                                  .voters = on_keeper_voters};

/* [S11] Its votes for locks that were not reported to the user yet no longer count. */
static void on_node_quarantined(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_QUARANTINED,
                           .node = n->index,
                           .now_us = now_us,
                           .data_replaced = rlk_quarantine_take_data_replaced(&n->quarantine)};
    struct redlock *rl = n->owner;

    rl->muted |= rlk_mask_bit(n->index);
    rlk_manager_notify(rl, &ev);
    rlk_node_report_check(&rl->node_report);
}

static void on_node_restarted(struct rlk_node *n)
{
    struct redlock *rl = n->owner;

    rlk_clocks_reset(&rl->clocks, n->index);
}

static const struct rlk_node *on_node_duplicate(const struct rlk_node *n)
{
    const struct redlock *rl = n->owner;
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        const struct rlk_node *other = &rl->nodes[i];

        if (other != n && other->link.state == RLK_LINK_UP &&
            rlk_server_is_same(&n->info, &other->info)) {
            return other;
        }
    }
    return NULL;
}

const struct rlk_node_hooks rlk_hooks = {.begin_handshake = rlk_handshake_begin,
                                         .up = on_node_up,
                                         .down = on_node_down,
                                         .capacity_freed = on_node_capacity_freed,
                                         .quarantined = on_node_quarantined,
                                         .restarted = on_node_restarted,
                                         .woken = rlk_wait_woken,
                                         .record_shown = on_node_record_shown,
                                         .clock_sampled = on_node_clock_sampled,
                                         .duplicate = on_node_duplicate};
