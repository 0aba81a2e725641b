/* explain.c - "1 of 3 masters granted the lock; redis://a:6379/0: held by ...; ...". */
#include "sync/explain.h"

#include <stdbool.h>
#include <string.h>

#include <redlock/redlock.h>

#include "sync/failure.h"

/* A token of ours has so many digits, then perhaps a ':' and the owner. */
#define TOKEN_DIGITS 40

/* A lock can be released by its token, so a text has 8 digits of it; and the owner, if there is
 * one.
 */
static void explain_holder(struct rlk_sync_failure *f, const char *name, const char *holder)
{
    size_t len = strcspn(holder, ":");

    if (holder[0] == '(') { /* not a value */
        rlk_sync_failure_add(f, "; %s: held by %s", name, holder);
    } else {
        rlk_sync_failure_add(f, "; %s: held by %.8s%s%s", name, holder, len > 8 ? "..." : "",
                             len == TOKEN_DIGITS ? holder + len : "");
    }
}

static void explain_node(struct rlk_sync_failure *f, const char *name,
                         const struct redlock_node_detail *d)
{
    if (d->vote == REDLOCK_VOTE_NO && d->holder[0]) {
        explain_holder(f, name, d->holder);
    } else if (d->vote == REDLOCK_VOTE_NO) {
        rlk_sync_failure_add(f, "; %s: held by somebody else", name);
    } else if (d->vote != REDLOCK_VOTE_YES) {
        rlk_sync_failure_add(f, "; %s: %s", name, d->error);
    }
}

static size_t count_up(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i, up = 0;

    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        up += info.state == REDLOCK_NODE_UP;
    }
    return up;
}

static size_t count_yes(const struct redlock *rl, const struct redlock_lock *lock)
{
    struct redlock_node_detail d = {.size = sizeof(d)};
    size_t i, yes = 0;

    for (i = 0; i < redlock_node_count(rl); i++) {
        yes += redlock_lock_node(lock, i, &d) == 0 && d.vote == REDLOCK_VOTE_YES;
    }
    return yes;
}

/* [S15] Then the votes say nothing. */
static bool explain_record(struct rlk_sync_failure *f, const struct redlock *rl)
{
    struct redlock_record_info info = {.size = sizeof(info)};
    bool differs = redlock_get_record(rl, &info) == 0 && info.state == REDLOCK_RECORD_OTHER;

    if (differs) {
        rlk_sync_failure_add(f, "%s", info.error);
    }
    return differs;
}

/* It never got to the front of the local queue, or of the send queue. */
static void explain_queue(struct rlk_sync_failure *f)
{
    if (f->reason == REDLOCK_EHELD) {
        rlk_sync_failure_add(f, "this manager holds the key itself, or other requests of it were "
                                "first; no master was asked");
    } else if (f->reason == REDLOCK_ELIMIT) {
        rlk_sync_failure_add(f, "this manager has so many requests that no master was asked");
    }
}

/* Too few masters for a majority come first; otherwise the votes do. */
static void explain_majority(struct rlk_sync_failure *f, const struct redlock *rl,
                             const struct redlock_lock *lock, size_t n)
{
    size_t up = count_up(rl);

    if (f->reason == REDLOCK_ENOQUORUM && up <= n / 2) {
        rlk_sync_failure_add(f, "%zu of %zu masters are up, %zu are needed", up, n, n / 2 + 1);
    } else {
        rlk_sync_failure_add(f, "%zu of %zu masters granted the lock", count_yes(rl, lock), n);
    }
}

void rlk_sync_explain(struct rlk_sync_failure *f, const struct redlock *rl,
                      const struct redlock_lock *lock)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    struct redlock_node_detail d = {.size = sizeof(d)};
    size_t i, n = redlock_node_count(rl);
    uint32_t tries;

    redlock_lock_effort(lock, &tries, NULL);
    f->reason = redlock_lock_reason(lock);
    if (explain_record(f, rl)) {
        return; /* what the masters said does not matter */
    }
    if (tries == 0) {
        explain_queue(f);
        return;
    }
    explain_majority(f, rl, lock, n);
    if (f->reason == REDLOCK_EHELD && !redlock_lock_may_be_held(lock)) {
        rlk_sync_failure_add(f, "; nobody can hold it, but others compete for it");
    }
    for (i = 0; i < n; i++) {
        if (redlock_get_node_info(rl, i, &info) == 0 && redlock_lock_node(lock, i, &d) == 0) {
            explain_node(f, info.name, &d);
        }
    }
}
