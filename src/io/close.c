/* close.c - the end of a manager.
 *
 *   redlock_close     what is pending is cancelled, what is held is released
 *   -> settle         everybody has been told, and a majority has answered all that it was
 *                     asked, or node_timeout_ms has passed
 *   -> on_end         connections and memory are given back, the callback runs
 */
#include "io/close.h"

#include <event2/event.h>

#include <redlock/error.h>

#include "base/time.h"
#include "core/validity.h"
#include "io/clock.h"
#include "io/lock.h"
#include "io/query.h"

static void free_locks(struct redlock *rl)
{
    while (!rlk_list_empty(&rl->locks)) {
        rlk_lock_free(RLK_CONTAINER(rl->locks.next, struct redlock_lock, link));
    }
}

static void end_nodes(struct redlock *rl)
{
    unsigned i;

    for (i = 0; rl->nodes && i < rl->options.n_nodes; i++) {
        rlk_node_end(&rl->nodes[i]);
    }
}

/* From an event of its own, so that nothing of the manager is on the stack. evdns answers a
 * lookup that was cancelled a moment later, and needs its base until then. */
static void on_end(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval soon = {0, 1000};
    struct redlock *rl = arg;
    redlock_close_cb *cb = rl->close_cb;
    void *cb_arg = rl->close_arg;

    (void)fd;
    (void)what;
    free_locks(rl);
    end_nodes(rl);
    if (rl->loop.lookups > 0) {
        event_add(rl->end, &soon);
        return;
    }
    rlk_manager_destroy(rl);
    if (cb) {
        cb(cb_arg);
    }
}

/* A majority has answered all that it was asked, so nothing waits for a stuck minority: the
 * kernel still delivers what was sent to it. */
static bool answers_are_in(const struct redlock *rl)
{
    unsigned i, idle = 0;

    for (i = 0; i < rl->options.n_nodes; i++) {
        idle += rl->nodes[i].inflight.count == 0;
    }
    return rl->close_overdue || idle >= rlk_validity_quorum(rl->options.n_nodes);
}

static void on_close_check(struct rlk_call *call)
{
    struct redlock *rl = RLK_CONTAINER(call, struct redlock, close_check);

    if (rl->pending == 0 && answers_are_in(rl)) {
        event_active(rl->end, 0, 0);
    }
}

static void on_close_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct redlock *rl = RLK_CONTAINER(t, struct redlock, close_timer);

    (void)now_us;
    rl->close_overdue = true;
    rlk_close_settle(rl);
}

void rlk_close_settle(struct redlock *rl)
{
    if (rl->closing) {
        rlk_turn_flush(&rl->loop.turn, &rl->close_check);
    }
}

static void let_go(struct redlock *rl)
{
    struct rlk_list *link, *next;

    for (link = rl->locks.next; link != &rl->locks; link = next) {
        struct redlock_lock *lock = RLK_CONTAINER(link, struct redlock_lock, link);

        next = link->next;
        if (lock->phase == RLK_LOCK_PENDING) {
            rlk_acquire_cancel(lock);
        } else if (lock->phase == RLK_LOCK_HELD) {
            lock->owned = true;
            rl->pending++;
            rlk_release_begin(lock, lock->attempt.round.asked & ~lock->attempt.round.no);
        }
    }
    for (link = rl->queries.next; link != &rl->queries; link = next) {
        next = link->next;
        rlk_query_cancel(link);
    }
}

int rlk_close_prepare(struct redlock *rl)
{
    rlk_call_init(&rl->close_check, on_close_check);
    rlk_timer_init(&rl->close_timer, on_close_timer);
    rl->end = event_new(rl->loop.base, -1, 0, on_end, rl);
    return rl->end ? 0 : REDLOCK_ENOMEM;
}

REDLOCK_EXPORT int redlock_close(struct redlock *rl, redlock_close_cb *cb, void *arg)
{
    if (rl == NULL) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    if (rl->closing) {
        return REDLOCK_ESTATE;
    }
    rl->closing = true;
    rl->close_cb = cb;
    rl->close_arg = arg;
    rlk_timer_set(&rl->loop.timers, &rl->close_timer,
                  rlk_time_add(rlk_clock_us(), rl->options.node_timeout_us));
    let_go(rl);
    rlk_close_settle(rl);
    return 0;
}
