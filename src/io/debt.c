#include "io/debt.h"

#include "base/alloc.h"
#include "io/claim.h"

static struct rlk_debt pop(struct rlk_debts *d)
{
    struct rlk_debt oldest = d->ring[d->first];

    d->first = (d->first + 1) % RLK_DEBT_MAX;
    d->count--;
    return oldest;
}

void rlk_debts_end(struct rlk_debts *d)
{
    while (d->count > 0) {
        rlk_claim_unref(pop(d).claim);
    }
    rlk_free(d->ring);
    *d = (struct rlk_debts){0};
}

void rlk_debts_add(struct rlk_debts *d, struct rlk_claim *claim, uint64_t until_us)
{
    struct rlk_debt debt = {claim, until_us};

    if (d->ring == NULL) {
        d->ring = rlk_alloc(RLK_DEBT_MAX * sizeof(*d->ring));
        if (d->ring == NULL) {
            return;
        }
    }
    if (d->count == RLK_DEBT_MAX) {
        rlk_claim_unref(pop(d).claim);
    }
    rlk_claim_ref(claim);
    d->ring[(d->first + d->count++) % RLK_DEBT_MAX] = debt;
}

struct rlk_claim *rlk_debts_take(struct rlk_debts *d, uint64_t now_us)
{
    struct rlk_debt debt;

    while (d->count > 0) {
        debt = pop(d);
        if (debt.until_us > now_us) {
            return debt.claim;
        }
        rlk_claim_unref(debt.claim);
    }
    return NULL;
}
