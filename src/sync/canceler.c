/* canceler.c - see canceler.h. */
#include "sync/canceler.h"

#include <errno.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "sync/thread.h"

struct redlock_sync_canceler *rlk_sync_canceler_ref(struct redlock_sync_canceler *canceler)
{
    if (canceler) {
        atomic_fetch_add(&canceler->refs, 1);
    }
    return canceler;
}

void rlk_sync_canceler_unref(struct redlock_sync_canceler *canceler)
{
    if (canceler && atomic_fetch_sub(&canceler->refs, 1) == 1) {
        rlk_sync_unref(canceler->s);
        rlk_free(canceler);
    }
}

/* ---- on the I/O thread ---- */

bool rlk_sync_canceler_is_set(const struct redlock_sync_canceler *canceler)
{
    return canceler && atomic_load(&canceler->canceled);
}

void rlk_sync_canceler_add(struct redlock_sync_canceler *canceler, struct rlk_sync_cancelable *c,
                           void (*cancel)(struct rlk_sync_cancelable *c))
{
    rlk_list_init(&c->link);
    c->cancel = cancel;
    if (canceler) {
        rlk_list_push(&canceler->calls, &c->link);
    }
}

static void run_cancel(struct rlk_sync_task *task)
{
    struct redlock_sync_canceler *canceler =
        RLK_CONTAINER(task, struct redlock_sync_canceler, task);
    struct rlk_list *link;

    while ((link = rlk_list_pop(&canceler->calls)) != NULL) {
        struct rlk_sync_cancelable *c = RLK_CONTAINER(link, struct rlk_sync_cancelable, link);

        c->cancel(c);
    }
    rlk_sync_canceler_unref(canceler);
}

/* ---- on any thread ---- */

REDLOCK_EXPORT int redlock_sync_canceler_new(struct redlock_sync *s,
                                             struct redlock_sync_canceler **ret_canceler)
{
    struct redlock_sync_canceler *canceler;

    if (s == NULL) {
        return rlk_sync_refuse_null();
    }
    if (ret_canceler == NULL) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "ret_canceler is NULL");
    }
    if (rlk_sync_is_child(s)) {
        return rlk_sync_refuse(REDLOCK_EFORK, "");
    }
    canceler = rlk_alloc(sizeof(*canceler));
    if (canceler == NULL) {
        return rlk_sync_refuse(REDLOCK_ENOMEM, "");
    }
    canceler->s = rlk_sync_ref(s);
    atomic_init(&canceler->refs, 1);
    canceler->task.run = run_cancel;
    rlk_list_init(&canceler->calls);
    *ret_canceler = canceler;
    return 0;
}

/* A signal handler may do all of this. The task is pushed once, because the canceler stays
 * canceled. When the inbox is closed no call waits. */
REDLOCK_EXPORT int redlock_sync_cancel(struct redlock_sync_canceler *canceler)
{
    int before = errno;

    if (canceler == NULL) {
        return REDLOCK_EINVAL;
    }
    if (rlk_sync_is_child(canceler->s)) {
        return REDLOCK_EFORK;
    }
    if (!atomic_exchange(&canceler->canceled, true)) {
        rlk_sync_canceler_ref(canceler);
        if (!rlk_sync_inbox_push(&canceler->s->inbox, &canceler->task)) {
            rlk_sync_canceler_unref(canceler); /* not the last: the user has one */
        }
    }
    errno = before;
    return 0;
}

REDLOCK_EXPORT void redlock_sync_canceler_free(struct redlock_sync_canceler *canceler)
{
    if (canceler && !rlk_sync_is_child(canceler->s)) {
        rlk_sync_canceler_unref(canceler);
    }
}
