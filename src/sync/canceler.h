/* sync/canceler.h - ends calls that wait, from another thread.
 *
 * A canceler is counted: by the user, by each call that was made with it, and by its own task while
 * that is on its way to the I/O thread, which ends the calls. */
#ifndef RLK_SYNC_CANCELER_H
#define RLK_SYNC_CANCELER_H

#include <stdatomic.h>
#include <stdbool.h>

#include <redlock/sync.h>

#include "base/list.h"
#include "sync/inbox.h"

/* A call that can be cancelled: while it is in the list of a canceler. */
struct rlk_sync_cancelable {
    struct rlk_list link;
    void (*cancel)(struct rlk_sync_cancelable *c);
};

struct redlock_sync_canceler {
    struct redlock_sync *s;
    atomic_uint refs;
    atomic_bool canceled;
    struct rlk_sync_task task;
    struct rlk_list calls; /* of the I/O thread */
};

/* Both take NULL. */
struct redlock_sync_canceler *rlk_sync_canceler_ref(struct redlock_sync_canceler *canceler);
void rlk_sync_canceler_unref(struct redlock_sync_canceler *canceler);

/* On the I/O thread: whether it was cancelled; and put a call into its list. Remove it from there
 * when it ends. Both take NULL. */
bool rlk_sync_canceler_is_set(const struct redlock_sync_canceler *canceler);
void rlk_sync_canceler_add(struct redlock_sync_canceler *canceler, struct rlk_sync_cancelable *c,
                           void (*cancel)(struct rlk_sync_cancelable *c));

#endif
