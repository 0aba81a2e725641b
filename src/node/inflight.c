/* inflight.c - the commands in flight as a ring. */
#include "node/inflight.h"

#include "base/time.h"

static struct rlk_exchange *at(const struct rlk_inflight *q, size_t i)
{
    return rlk_ring_at(&q->ring, sizeof(struct rlk_exchange), i);
}

void rlk_inflight_end(struct rlk_inflight *q)
{
    rlk_ring_end(&q->ring);
    q->bytes = q->leaving_keys = 0;
}

bool rlk_inflight_reserve(struct rlk_inflight *q)
{
    return rlk_ring_reserve(&q->ring, sizeof(struct rlk_exchange), RLK_INFLIGHT_MAX);
}

void rlk_inflight_mark_last(struct rlk_inflight *q)
{
    at(q, q->ring.count - 1)->last = true;
}

static void mute(struct rlk_inflight *q, struct rlk_exchange *x)
{
    q->leaving_keys -= x->leaves_keys;
    x->talk = NULL;
    x->context = NULL;
    x->leaves_keys = false;
}

void rlk_inflight_mute(struct rlk_inflight *q, size_t count)
{
    for (; count < q->ring.count; count++) {
        mute(q, at(q, count));
    }
}

bool rlk_inflight_mute_context(struct rlk_inflight *q, const void *context, size_t *from,
                               struct rlk_exchange *ret)
{
    for (; *from < q->ring.count; (*from)++) {
        struct rlk_exchange *x = at(q, *from);

        if (x->context == context) {
            *ret = *x;
            mute(q, x);
            return true;
        }
    }
    return false;
}

bool rlk_inflight_pop(struct rlk_inflight *q, struct rlk_exchange *ret)
{
    if (q->ring.count == 0) {
        return false;
    }
    *ret = *at(q, 0);
    rlk_ring_drop(&q->ring);
    q->bytes -= ret->len;
    q->leaving_keys -= ret->leaves_keys;
    return true;
}

uint64_t rlk_inflight_oldest_us(const struct rlk_inflight *q)
{
    return q->ring.count ? at(q, 0)->sent_us : RLK_NEVER;
}
