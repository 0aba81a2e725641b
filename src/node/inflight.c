/* inflight.c - the commands in flight as a ring. */
#include "node/inflight.h"

#include "base/time.h"

const struct rlk_exchange_kind rlk_exchange_ignored = {.answered = NULL, .broken = NULL};

static const struct rlk_exchange *oldest(const struct rlk_inflight *q)
{
    return rlk_ring_at(&q->ring, sizeof(struct rlk_exchange), 0);
}

static bool may_last(const struct rlk_exchange *r)
{
    return r->context && !r->kind->reads;
}

void rlk_inflight_end(struct rlk_inflight *q)
{
    rlk_ring_end(&q->ring);
    q->bytes = q->lasting = 0;
}

bool rlk_inflight_reserve(struct rlk_inflight *q)
{
    return rlk_ring_reserve(&q->ring, sizeof(struct rlk_exchange), RLK_INFLIGHT_MAX);
}

void rlk_inflight_push(struct rlk_inflight *q, const struct rlk_exchange *r)
{
    *(struct rlk_exchange *)rlk_ring_push(&q->ring, sizeof(*r)) = *r;
    q->bytes += r->len;
    q->lasting += may_last(r);
}

bool rlk_inflight_pop(struct rlk_inflight *q, struct rlk_exchange *ret)
{
    if (q->ring.count == 0) {
        return false;
    }
    *ret = *oldest(q);
    rlk_ring_drop(&q->ring);
    q->bytes -= ret->len;
    q->lasting -= may_last(ret);
    return true;
}

uint64_t rlk_inflight_oldest_us(const struct rlk_inflight *q)
{
    return q->ring.count ? oldest(q)->sent_us : RLK_NEVER;
}
