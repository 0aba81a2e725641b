#include "node/debt.h"

#include "node/claim.h"

void rlk_debts_end(struct rlk_debts *d)
{
    while (d->ring.count > 0) {
        rlk_debts_drop(d);
    }
    rlk_ring_end(&d->ring);
}

const struct rlk_debt *rlk_debts_at(const struct rlk_debts *d, size_t i)
{
    return rlk_ring_at(&d->ring, sizeof(struct rlk_debt), i);
}

bool rlk_debts_add(struct rlk_debts *d, struct rlk_claim *claim, uint64_t until_us)
{
    struct rlk_debt debt = {claim, until_us};
    bool room = rlk_ring_reserve(&d->ring, sizeof(debt), RLK_DEBT_MAX);

    if (!room) {
        if (d->ring.count == 0) {
            return false;
        }
        rlk_debts_drop(d);
    }
    rlk_claim_ref(claim);
    *(struct rlk_debt *)rlk_ring_push(&d->ring, sizeof(debt)) = debt;
    return room;
}

struct rlk_claim *rlk_debts_first(struct rlk_debts *d, uint64_t now_us)
{
    while (d->ring.count > 0) {
        const struct rlk_debt *oldest = rlk_debts_at(d, 0);

        if (oldest->until_us > now_us) {
            return oldest->claim;
        }
        rlk_debts_drop(d);
    }
    return NULL;
}

void rlk_debts_drop(struct rlk_debts *d)
{
    struct rlk_claim *claim = rlk_debts_at(d, 0)->claim;

    rlk_ring_drop(&d->ring);
    rlk_claim_unref(claim);
}
