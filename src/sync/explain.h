/* sync/explain.h - why a lock was not acquired, master by master. */
#ifndef RLK_SYNC_EXPLAIN_H
#define RLK_SYNC_EXPLAIN_H

struct redlock;
struct redlock_lock;
struct rlk_sync_failure;

/* In the callback of an acquire that failed: write the reason and the votes. */
void rlk_sync_explain(struct rlk_sync_failure *f, const struct redlock *rl,
                      const struct redlock_lock *lock);

#endif
