/* io/outcome.c - see outcome.h. */
#include "io/outcome.h"

#include <check.h>
#include <stdio.h>

#include "lib/loop.h"

struct redlock_request outcome_request(const char *key)
{
    struct redlock_request request;

    redlock_request_init(&request);
    request.key = key;
    request.ttl_ms = OUTCOME_TTL_MS;
    request.renew = 0;
    return request;
}

static void copy_vote(struct redlock_lock *lock, size_t node, struct outcome_vote *ret)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    ck_assert_int_eq(redlock_lock_node(lock, node, &detail), REDLOCK_OK);
    ret->vote = detail.vote;
    snprintf(ret->holder, sizeof(ret->holder), "%s", detail.holder);
    snprintf(ret->error, sizeof(ret->error), "%s", detail.error);
}

struct redlock_request outcome_fenced_request(const char *key)
{
    struct redlock_request request = outcome_request(key);

    request.fencing = 1;
    return request;
}

void outcome_never(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    (void)arg;
    ck_abort_msg("a call that was refused was reported");
}

void outcome_on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct outcome *got = arg;
    size_t i;

    got->calls++;
    got->status = status;
    got->lock = status == REDLOCK_OK ? lock : NULL;
    got->reason = redlock_lock_reason(lock);
    got->validity_ms = redlock_lock_validity_ms(lock);
    redlock_lock_effort(lock, &got->tries, NULL);
    snprintf(got->token, sizeof(got->token), "%s", redlock_lock_token(lock));
    for (i = 0; i < got->n; i++) {
        copy_vote(lock, i, &got->votes[i]);
    }
}

void outcome_on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct outcome_released *released = arg;

    (void)lock;
    released->calls++;
    released->status = status;
}

struct outcome outcome_of_acquire(struct event_base *base, struct redlock *rl, size_t n,
                                  const struct redlock_request *request)
{
    struct outcome got = {.n = n};

    ck_assert_int_eq(redlock_acquire(rl, request, outcome_on_acquired, &got, NULL), REDLOCK_OK);
    loop_must(base, &got.calls);
    return got;
}

int outcome_of_release(struct event_base *base, struct redlock_lock *lock)
{
    struct outcome_released released = {0, 0};

    ck_assert_int_eq(redlock_release(lock, outcome_on_released, &released), REDLOCK_OK);
    loop_must(base, &released.calls);
    return released.status;
}
