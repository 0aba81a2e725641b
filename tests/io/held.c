/* io/held.c - see held.h. */
#include "io/held.h"

#include <stdio.h>
#include <string.h>

static void note(struct held *h, char what)
{
    size_t n = strlen(h->order);

    ck_assert_msg(!h->inside, "the callback '%c' ran inside a call", what);
    ck_assert_uint_lt(n + 1, sizeof(h->order));
    h->order[n] = what;
    h->order[n + 1] = '\0';
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct held *h = arg;
    static const char signs[] = {
        [REDLOCK_NOTICE_TROUBLE] = 't', [REDLOCK_NOTICE_LOST] = 'l', [REDLOCK_NOTICE_MOVED] = 'm'};

    ck_assert_ptr_eq(lock, h->lock);
    ck_assert_uint_eq(notice->size, sizeof(*notice));
    ck_assert_uint_eq(notice->deadline_us, redlock_lock_deadline_us(lock));
    note(h, signs[notice->kind]);
    h->lost += notice->kind == REDLOCK_NOTICE_LOST;
    h->troubles += notice->kind == REDLOCK_NOTICE_TROUBLE;
    h->moved += notice->kind == REDLOCK_NOTICE_MOVED;
    h->deadline_us = notice->deadline_us;
    h->reason = notice->reason;
    h->left_ms = notice->left_ms;
    h->validity_ms = redlock_lock_validity_ms(lock);
    if (h->on_notice) {
        h->on_notice(h);
    }
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct held *h = arg;

    h->acquired++;
    h->status = status;
    h->lock = status == REDLOCK_OK ? lock : NULL;
    snprintf(h->token, sizeof(h->token), "%s", redlock_lock_token(lock));
    if (h->on_acquired) {
        h->on_acquired(h);
    }
}

static void on_extended(struct redlock_lock *lock, int status, void *arg)
{
    struct held *h = arg;

    ck_assert_ptr_eq(lock, h->lock);
    note(h, 'e');
    h->extended++;
    h->extend_status = status;
    if (h->on_extended) {
        h->on_extended(h);
    }
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct held *h = arg;

    ck_assert_ptr_eq(lock, h->lock);
    note(h, 'r');
    h->released++;
    h->release_status = status;
    h->lock = NULL;
}

static void on_closed(void *arg)
{
    struct held *h = arg;

    note(h, 'c');
    h->closed++;
    h->lock = NULL;
}

void held_start(struct farm *f)
{
    farm_start(f, 5, FAKE_UNIX);
    f->options.node_timeout_ms = HELD_TIMEOUT_MS;
    farm_open(f);
}

void held_del(struct farm *f, size_t first, size_t last)
{
    for (; first < last; first++) {
        rlk_model_del(fake_model(f->nodes[first]), "k");
    }
}

struct redlock_request held_request(struct held *h, struct farm *f, const char *key)
{
    struct redlock_request request = outcome_request(key);

    memset(h, 0, sizeof(*h));
    h->f = f;
    request.renew = 1;
    request.notice_cb = on_notice;
    request.notice_arg = h;
    return request;
}

void held_acquire(struct held *h, const struct redlock_request *request)
{
    ck_assert_int_eq(redlock_acquire(h->f->rl, request, on_acquired, h, NULL), 0);
    loop_must(h->f->base, &h->acquired);
    ck_assert_int_eq(h->status, REDLOCK_OK);
    loop_settle(h->f->base);
}

void held_acquire_key(struct held *h, struct farm *f, const char *key)
{
    struct redlock_request request = held_request(h, f, key);

    held_acquire(h, &request);
}

void held_start_with_lock(struct held *h, struct farm *f)
{
    held_start(f);
    held_acquire_key(h, f, "k");
}

void held_adopt(struct held *h, struct redlock *rl, const struct redlock_request *request,
                const char *token)
{
    ck_assert_int_eq(redlock_adopt(rl, request, token, on_acquired, h, NULL), 0);
    loop_must(h->f->base, &h->acquired);
    loop_settle(h->f->base);
}

int held_extend(struct held *h, uint32_t ttl_ms)
{
    bool outer = h->inside;
    int status;

    h->inside = true;
    status = redlock_extend(h->lock, ttl_ms, on_extended, h);
    h->inside = outer;
    return status;
}

int held_release(struct held *h)
{
    bool outer = h->inside;
    int status;

    h->inside = true;
    status = redlock_release(h->lock, on_released, h);
    h->inside = outer;
    return status;
}

int held_close(struct held *h)
{
    bool outer = h->inside;
    int status;

    h->inside = true;
    status = redlock_close(h->f->rl, on_closed, h);
    h->inside = outer;
    h->f->rl = NULL;
    return status;
}

int held_end(struct held *h)
{
    ck_assert_int_eq(held_release(h), REDLOCK_OK);
    loop_must(h->f->base, &h->released);
    return h->release_status;
}

struct wanted {
    const int *what;
    int times;
};

static bool is_reported(void *arg)
{
    const struct wanted *w = arg;

    return *w->what >= w->times;
}

void held_wait(struct held *h, const int *what, int times)
{
    struct wanted wanted = {what, times};

    if (!loop_until_true(h->f->base, is_reported, &wanted, LOOP_BOUND_MS)) {
        ck_abort_msg("reported %d times instead of %d; all: '%s'", *what, times, h->order);
    }
}

static struct redlock_node_detail detail_of(const struct held *h, size_t node)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    ck_assert_int_eq(redlock_lock_node(h->lock, node, &detail), REDLOCK_OK);
    return detail;
}

enum redlock_vote held_vote(const struct held *h, size_t node)
{
    return detail_of(h, node).vote;
}

const char *held_holder(const struct held *h, size_t node)
{
    return detail_of(h, node).holder;
}
