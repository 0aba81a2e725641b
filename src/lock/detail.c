/* detail.c - keeps what each master last said. */
#include "lock/detail.h"

#include <string.h>

#include "base/mask.h"

_Static_assert(REDLOCK_SAID_ERROR < 1 << RLK_DETAIL_SAID_BITS, "each word has a number");

void rlk_detail_reset(struct rlk_detail *details, unsigned n_nodes)
{
    memset(details, 0, n_nodes * sizeof(*details));
}

void rlk_detail_asked(struct rlk_detail *details, uint64_t nodes, uint64_t now_us)
{
    const uint64_t asked = now_us << RLK_DETAIL_ASKED_BITS | RLK_DETAIL_WAITING;
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        details[node].asked = asked;
    }
}

void rlk_detail_said(struct rlk_detail *d, enum redlock_said said, uint64_t now_us)
{
    d->said = now_us << RLK_DETAIL_SAID_BITS | said;
    d->asked &= ~(uint64_t)RLK_DETAIL_WAITING;
}
