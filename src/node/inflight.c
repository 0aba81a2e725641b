#include "node/inflight.h"

#include "base/alloc.h"
#include "base/time.h"

void rlk_inflight_end(struct rlk_inflight *q)
{
    rlk_free(q->ring);
    *q = (struct rlk_inflight){0};
}

static bool grow(struct rlk_inflight *q)
{
    size_t cap = q->cap ? q->cap * 2 : 64, i;
    struct rlk_request *ring;

    if (cap > RLK_INFLIGHT_MAX) {
        return false;
    }
    ring = rlk_alloc(cap * sizeof(*ring));
    if (ring == NULL) {
        return false;
    }
    for (i = 0; i < q->count; i++) {
        ring[i] = q->ring[(q->first + i) & (q->cap - 1)];
    }
    rlk_free(q->ring);
    q->ring = ring;
    q->cap = cap;
    q->first = 0;
    return true;
}

bool rlk_inflight_reserve(struct rlk_inflight *q)
{
    return q->count < q->cap || grow(q);
}

void rlk_inflight_push(struct rlk_inflight *q, const struct rlk_request *r)
{
    q->ring[(q->first + q->count++) & (q->cap - 1)] = *r;
    q->bytes += r->len;
}

bool rlk_inflight_pop(struct rlk_inflight *q, struct rlk_request *ret)
{
    if (q->count == 0) {
        return false;
    }
    *ret = q->ring[q->first];
    q->first = (q->first + 1) & (q->cap - 1);
    q->count--;
    q->bytes -= ret->len;
    return true;
}

uint64_t rlk_inflight_oldest_us(const struct rlk_inflight *q)
{
    return q->count ? q->ring[q->first].sent_us : RLK_NEVER;
}
