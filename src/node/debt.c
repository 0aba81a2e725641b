#include "node/debt.h"

#include "base/alloc.h"
#include "node/claim.h"

void rlk_debts_end(struct rlk_debts *d)
{
    while (d->count > 0) {
        rlk_debts_drop(d);
    }
    rlk_free(d->ring);
    *d = (struct rlk_debts){0};
}

static bool grow(struct rlk_debts *d)
{
    size_t cap = d->cap ? d->cap * 2 : 64, i;
    struct rlk_debt *ring;

    if (cap > RLK_DEBT_MAX) {
        return false;
    }
    ring = rlk_alloc(cap * sizeof(*ring));
    if (ring == NULL) {
        return false;
    }
    for (i = 0; i < d->count; i++) {
        ring[i] = d->ring[(d->first + i) & (d->cap - 1)];
    }
    rlk_free(d->ring);
    d->ring = ring;
    d->cap = cap;
    d->first = 0;
    return true;
}

bool rlk_debts_add(struct rlk_debts *d, struct rlk_claim *claim, uint64_t until_us)
{
    struct rlk_debt debt = {claim, until_us};
    bool room = d->count < d->cap || grow(d);

    if (!room) {
        if (d->count == 0) {
            return false;
        }
        rlk_debts_drop(d);
    }
    rlk_claim_ref(claim);
    d->ring[(d->first + d->count++) & (d->cap - 1)] = debt;
    return room;
}

struct rlk_claim *rlk_debts_first(struct rlk_debts *d, uint64_t now_us)
{
    while (d->count > 0) {
        const struct rlk_debt *oldest = &d->ring[d->first];

        if (oldest->until_us > now_us) {
            return oldest->claim;
        }
        rlk_debts_drop(d);
    }
    return NULL;
}

void rlk_debts_drop(struct rlk_debts *d)
{
    struct rlk_claim *claim = d->ring[d->first].claim;

    d->first = (d->first + 1) & (d->cap - 1);
    d->count--;
    rlk_claim_unref(claim);
}
