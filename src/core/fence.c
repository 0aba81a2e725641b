/* fence.c - the largest counter among the votes, and who has it. */
#include "core/fence.h"

#include "base/mask.h"
#include "base/time.h"

void rlk_fence_init(struct rlk_fence *f)
{
    f->value = 0;
    f->agreed = f->asked = 0;
}

/* Of these nodes, those with the counter of the fencing token agree, and those with less have to be
 * asked. A node with more voted too late to be counted, and never agrees. */
static uint64_t update_agreement(struct rlk_fence *f, uint64_t nodes)
{
    uint64_t less = 0;
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        f->agreed |= f->counter[node] == f->value ? rlk_mask_bit(node) : 0;
        less |= f->counter[node] < f->value ? rlk_mask_bit(node) : 0;
    }
    f->asked |= less;
    return less;
}

static uint64_t largest(const struct rlk_fence *f, uint64_t nodes)
{
    uint64_t value = 0;
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        value = rlk_time_max(value, f->counter[node]);
    }
    return value;
}

uint64_t rlk_fence_recount(struct rlk_fence *f, uint64_t yes, const struct rlk_voters *voters)
{
    if (f->value != 0 || !rlk_voters_are_enough(voters, yes)) {
        return 0;
    }
    f->value = largest(f, yes & voters->set);
    return update_agreement(f, yes);
}

uint64_t rlk_fence_voted(struct rlk_fence *f, unsigned node, uint64_t counter, uint64_t yes,
                         const struct rlk_voters *voters)
{
    f->counter[node] = counter;
    if (f->value != 0) {
        return update_agreement(f, rlk_mask_bit(node));
    }
    return rlk_fence_recount(f, yes, voters);
}

void rlk_fence_voted_late(struct rlk_fence *f, unsigned node, uint64_t counter)
{
    f->agreed |= counter == f->value ? rlk_mask_bit(node) : 0;
}

void rlk_fence_confirmed(struct rlk_fence *f, unsigned node, bool agrees)
{
    uint64_t bit = rlk_mask_bit(node) & f->asked;

    f->asked &= ~bit;
    f->agreed |= agrees ? bit : 0;
}
