/* detail.c - keeps what each master last said. */
#include "lock/detail.h"

#include <string.h>

#include "base/mask.h"

void rlk_detail_reset(struct rlk_detail *details, unsigned n_nodes)
{
    memset(details, 0, n_nodes * sizeof(*details));
}

void rlk_detail_asked(struct rlk_detail *details, uint64_t nodes, uint64_t now_us)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        details[node].waiting = true;
        details[node].asked_us = now_us;
    }
}

void rlk_detail_said(struct rlk_detail *d, enum redlock_said said, uint64_t now_us)
{
    d->said = said;
    d->said_us = now_us;
    d->waiting = false;
}
