/* timers.c - sets and cancels timers, and takes the due ones from the heap. */
#include "net/timers.h"

#include "base/list.h"
#include "base/time.h"

void rlk_timer_init(struct rlk_timer *t, void (*fire)(struct rlk_timer *t, uint64_t now_us))
{
    t->node.key = 0;
    t->fire = fire;
}

void rlk_timer_move(struct rlk_timers *ts, struct rlk_timer *t, uint64_t due_us)
{
    rlk_timer_cancel(ts, t);
    if (due_us == RLK_NEVER) {
        return;
    }
    t->node.key = rlk_time_max(rlk_time_max(due_us, ts->least_us), 1);
    rlk_heap_insert(&ts->heap, &t->node);
    if (t->node.key < ts->armed_us) {
        rlk_timers_arm(ts, t->node.key);
    }
}

void rlk_timer_cancel(struct rlk_timers *ts, struct rlk_timer *t)
{
    if (rlk_timer_is_set(t)) {
        t->node.key = 0;
        rlk_heap_remove(&ts->heap, &t->node);
    }
}

struct rlk_timer *rlk_timers_take(struct rlk_timers *ts, uint64_t now_us)
{
    struct rlk_heap_node *root = ts->heap.root;
    struct rlk_timer *t;

    if (root == NULL || root->key > now_us) {
        return NULL;
    }
    t = RLK_CONTAINER(root, struct rlk_timer, node);
    rlk_timer_cancel(ts, t);
    return t;
}
