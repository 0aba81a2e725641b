/* inbox.c - a stack of tasks that is reversed when it is taken, and an eventfd. */
#include "sync/inbox.h"

#include <stddef.h>

#include <redlock/error.h>

#include "sync/eventfd.h"

/* The newest task of an inbox that is closed. */
static struct rlk_sync_task closed;

int rlk_sync_inbox_init(struct rlk_sync_inbox *b)
{
    atomic_init(&b->newest, NULL);
    atomic_init(&b->asleep, false);
    b->fd = rlk_sync_eventfd_make();
    return b->fd < 0 ? REDLOCK_ESYSTEM : 0;
}

void rlk_sync_inbox_end(struct rlk_sync_inbox *b)
{
    rlk_sync_eventfd_close(b->fd);
}

bool rlk_sync_inbox_push(struct rlk_sync_inbox *b, struct rlk_sync_task *task)
{
    struct rlk_sync_task *newest = atomic_load(&b->newest);

    do {
        if (newest == &closed) {
            return false;
        }
        task->next = newest;
    } while (!atomic_compare_exchange_weak(&b->newest, &newest, task));
    if (atomic_load(&b->asleep) && atomic_exchange(&b->asleep, false)) {
        rlk_sync_eventfd_add(b->fd, 1);
    }
    return true;
}

static struct rlk_sync_task *reverse(struct rlk_sync_task *newest)
{
    struct rlk_sync_task *task, *oldest = NULL;

    while ((task = newest) != NULL) {
        newest = task->next;
        task->next = oldest;
        oldest = task;
    }
    return oldest;
}

struct rlk_sync_task *rlk_sync_inbox_take(struct rlk_sync_inbox *b)
{
    return reverse(atomic_exchange(&b->newest, NULL));
}

struct rlk_sync_task *rlk_sync_inbox_close(struct rlk_sync_inbox *b)
{
    return reverse(atomic_exchange(&b->newest, &closed));
}

void rlk_sync_inbox_stay_awake(struct rlk_sync_inbox *b)
{
    atomic_store_explicit(&b->asleep, false, memory_order_relaxed);
}

bool rlk_sync_inbox_sleep(struct rlk_sync_inbox *b)
{
    atomic_store(&b->asleep, true);
    if (atomic_load(&b->newest) == NULL) {
        return true;
    }
    rlk_sync_inbox_stay_awake(b);
    return false;
}
