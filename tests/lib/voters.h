/* lib/voters.h - voters of the core's machines, for tests in which these do not change. */
#ifndef RLK_TESTS_LIB_VOTERS_H
#define RLK_TESTS_LIB_VOTERS_H

#include "base/mask.h"
#include "core/validity.h"

/* Each of n nodes has a vote: 1 to RLK_MAX_NODES. */
static inline const struct rlk_voters *all_voters(unsigned n)
{
    static struct rlk_voters table[RLK_MAX_NODES + 1];

    table[n] = (struct rlk_voters){rlk_mask_all(n), n};
    return &table[n];
}

#endif
