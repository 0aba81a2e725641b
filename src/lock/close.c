/* close.c - closes a manager.
 *
 *   redlock_close     cancels every pending operation, releases every held lock
 *   -> settle         waits until every operation was reported, every responsive node was
 *                     sent its pending releases, and all replies are in; or until the time for that
 *                     is over
 *   -> on_end         closes the connections, frees the memory, runs the callback
 */
#include "lock/close.h"

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/time.h"
#include "lock/manager.h"
#include "lock/trace.h"
#include "net/clock.h"
#include "node/inspect.h"

void rlk_close_free_operations(struct redlock *rl)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &rl->operations) {
        struct rlk_operation *op = RLK_CONTAINER(link, struct rlk_operation, link);

        op->kind->free(op);
    }
}

void rlk_close_destroy(struct redlock *rl)
{
    rlk_loop_end(&rl->loop);
    rlk_contention_end(&rl->contention);
    rlk_observed_end(&rl->observed);
    rlk_batches_end(&rl->renewals);
    rlk_keeper_end(&rl->record);
    rlk_pool_end(&rl->pool);
    rlk_free(rl->nodes);
    rlk_options_end(&rl->options);
    rlk_free(rl);
}

static void end_nodes(struct redlock *rl)
{
    unsigned i;

    for (i = 0; rl->nodes && i < rl->options.n_nodes; i++) {
        rlk_node_end(&rl->nodes[i]);
    }
}

/* No other function of the manager is on the stack. Something may have begun since
 * on_close_check(): an election is being freed, and its callback is due. evdns still calls back for
 * a name lookup that was cancelled, and the loop's memory is needed until then. */
static void on_end(struct rlk_loop *loop)
{
    struct redlock *rl = RLK_CONTAINER(loop, struct redlock, loop);
    redlock_close_cb *cb = rl->close_cb;
    void *cb_arg = rl->close_arg;

    if (rl->pending > 0) {
        rlk_manager_check_close(rl);
        return;
    }
    end_nodes(rl);
    if (rl->loop.lookups > 0) {
        rlk_loop_finish_later(&rl->loop);
        return;
    }
    RLK_TRACE(&rl->options, NULL, .kind = REDLOCK_TRACE_CLOSED, .lock = -1, .node = -1);
    rlk_close_free_operations(rl); /* not earlier: the accessors work until now */
    rlk_close_destroy(rl);
    if (cb) {
        cb(cb_arg);
    }
}

/* How often to check whether the manager can end when no reply comes. */
#define CHECK_AGAIN_US 20000

/* How long to wait for a node that is being connected and has pending releases. */
#define CONNECTING_US 100000

/* Whether our keys may stay on a node. It is not enough that the releases were sent: a server that
 * reads a SET and cannot send its reply, because we are gone, drops the connection and never reads
 * the release behind the SET. Any reply makes room for a pending release. */
static bool may_keep_keys(const struct rlk_node *n)
{
    return n->link.inflight.leaving_keys > 0 ||
           (n->link.inflight.ring.count > 0 && n->pending.ring.count > 0);
}

/* Wait for every node that may keep our keys, unless it is unresponsive. While a node keeps
 * replying, wait as long as that takes. */
static bool is_waited_for(const struct redlock *rl, const struct rlk_node *n, uint64_t now_us)
{
    uint64_t since_us = rlk_time_max(rl->reported_us, n->last_reply_us);

    if (rlk_node_connecting(n) && n->pending.ring.count > 0) {
        return now_us < rlk_time_add(rl->close_us, CONNECTING_US);
    }
    return may_keep_keys(n) && rlk_node_ready(n, now_us) &&
           now_us < rlk_time_add(since_us, rl->options.node_timeout_us);
}

/* A majority is not enough: what is left on a minority stays for its ttl. */
static bool answers_are_in(const struct redlock *rl, uint64_t now_us)
{
    unsigned i, waited = 0;

    for (i = 0; i < rl->options.n_nodes; i++) {
        waited += is_waited_for(rl, &rl->nodes[i], now_us);
    }
    return waited == 0;
}

/* Where replies take longer than inspection_ms, an inspection would always be in flight, and the
 * close would never end. Called at each check, because a node that becomes UP starts its
 * inspections. */
static void stop_inspections(struct redlock *rl)
{
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        rlk_inspect_end(&rl->nodes[i]);
    }
    rlk_keeper_stop(&rl->record);
}

static void on_close_check(struct rlk_call *call)
{
    struct redlock *rl = RLK_CONTAINER(call, struct redlock, close_check);
    uint64_t now_us = rlk_clock_us();

    stop_inspections(rl);
    if (rl->pending == 0 && rl->reported_us == 0) {
        rl->reported_us = now_us;
    }
    if (rl->pending == 0 && answers_are_in(rl, now_us)) {
        rlk_loop_finish(&rl->loop);
        return;
    }
    rlk_timer_set(&rl->loop.timers, &rl->close_timer, rlk_time_add(now_us, CHECK_AGAIN_US));
}

static void on_close_timer(struct rlk_timer *t, uint64_t now_us)
{
    (void)now_us;
    rlk_manager_check_close(RLK_CONTAINER(t, struct redlock, close_timer));
}

static void close_operations(struct redlock *rl)
{
    struct rlk_list *link, *next;

    RLK_LIST_EACH (link, next, &rl->operations) {
        struct rlk_operation *op = RLK_CONTAINER(link, struct rlk_operation, link);

        op->kind->close(op);
    }
}

int rlk_close_prepare(struct redlock *rl, struct event_base *base)
{
    rlk_call_init(&rl->close_check, on_close_check);
    rlk_timer_init(&rl->close_timer, on_close_timer);
    return rlk_loop_init(&rl->loop, base, on_end);
}

REDLOCK_EXPORT int redlock_close(struct redlock *rl, redlock_close_cb *cb, void *arg)
{
    int status = rlk_manager_check(rl);

    if (status) {
        return status;
    }
    if (rl->closing || rl->kept) {
        return REDLOCK_ESTATE;
    }
    rl->closing = true;
    rlk_keeper_retire(&rl->record);
    rlk_node_report_end(&rl->node_report);
    rl->close_cb = cb;
    rl->close_arg = arg;
    rl->close_us = rlk_clock_us();
    RLK_TRACE(&rl->options, NULL, .kind = REDLOCK_TRACE_CLOSING, .lock = -1, .node = -1);
    rlk_contention_stop(&rl->contention);
    close_operations(rl);
    rlk_manager_check_close(rl);
    return 0;
}
