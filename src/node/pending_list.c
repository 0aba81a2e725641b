/* pending_list.c - the pending releases as a ring. */
#include "node/pending_list.h"

#include "node/claim.h"

void rlk_pending_list_end(struct rlk_pending_list *d)
{
    while (d->ring.count > 0) {
        rlk_pending_list_drop(d);
    }
    rlk_ring_end(&d->ring);
}

const struct rlk_pending_release *rlk_pending_list_at(const struct rlk_pending_list *d, size_t i)
{
    return rlk_ring_at(&d->ring, sizeof(struct rlk_pending_release), i);
}

bool rlk_pending_list_add(struct rlk_pending_list *d, struct rlk_claim *claim, uint64_t until_us)
{
    struct rlk_pending_release pending_release = {claim, until_us};
    bool room = rlk_ring_reserve(&d->ring, sizeof(pending_release), RLK_PENDING_MAX);

    if (!room) {
        if (d->ring.count == 0) {
            return false;
        }
        rlk_pending_list_drop(d);
    }
    rlk_claim_ref(claim);
    *(struct rlk_pending_release *)rlk_ring_push(&d->ring, sizeof(pending_release)) =
        pending_release;
    return room;
}

struct rlk_claim *rlk_pending_list_first(struct rlk_pending_list *d, uint64_t now_us)
{
    while (d->ring.count > 0) {
        const struct rlk_pending_release *oldest = rlk_pending_list_at(d, 0);

        if (oldest->until_us > now_us) {
            return oldest->claim;
        }
        rlk_pending_list_drop(d);
    }
    return NULL;
}

void rlk_pending_list_drop(struct rlk_pending_list *d)
{
    struct rlk_claim *claim = rlk_pending_list_at(d, 0)->claim;

    rlk_ring_drop(&d->ring);
    rlk_claim_unref(claim);
}
