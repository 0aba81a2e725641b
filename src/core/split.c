/* split.c - compares our votes with those of each other value. */
#include "core/split.h"

#include "base/mask.h"

static uint64_t lowest(uint64_t mask)
{
    return mask & (~mask + 1);
}

static bool is_ahead(uint64_t ours, uint64_t theirs)
{
    unsigned we = rlk_mask_count(ours), they = rlk_mask_count(theirs);

    return we > they || (we == they && lowest(ours) < lowest(theirs));
}

static uint64_t votes_of(uint64_t value, const uint64_t *holder, uint64_t no)
{
    uint64_t votes = 0;
    unsigned node;

    RLK_MASK_EACH (node, no) {
        votes |= holder[node] == value ? rlk_mask_bit(node) : 0;
    }
    return votes;
}

bool rlk_split_leads(const uint64_t *holder, uint64_t yes, uint64_t no)
{
    uint64_t left = no;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (!is_ahead(yes, votes_of(holder[node], holder, no))) {
            return false;
        }
    }
    return yes != 0;
}
