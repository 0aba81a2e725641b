/* holder.c - counts how many masters have the same value. */
#include "core/holder.h"

#include "base/mask.h"

/* Of these nodes, those on which the key has the same value as on node `which`. */
static uint64_t same_value(const struct rlk_holder_view *v, uint64_t held, unsigned which)
{
    uint64_t same = 0, left = held;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        same |= v->value[node] == v->value[which] ? rlk_mask_bit(node) : 0;
    }
    return same;
}

static uint64_t most_common(const struct rlk_holder_view *v)
{
    uint64_t held = v->held & v->voters->set, best = 0, left = held;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        uint64_t same = same_value(v, held, node);

        best = rlk_mask_count(same) > rlk_mask_count(best) ? same : best;
    }
    return best;
}

void rlk_holder_find(const struct rlk_holder_view *v, struct rlk_holder *ret_holder)
{
    unsigned quorum = rlk_voters_quorum(v->voters);
    unsigned answered = rlk_mask_count(v->answered & v->voters->set);
    struct rlk_holder h = {.nodes = most_common(v)};
    unsigned holding = rlk_mask_count(h.nodes), unanswered = v->voters->size - answered;

    h.held = holding >= quorum;
    h.possible = holding + unanswered >= quorum;
    h.unknown = !h.held && (answered < quorum || h.possible);
    h.end = rlk_validity_until(v->end, h.nodes, quorum);
    h.fence = rlk_validity_until(v->counter, v->voters->set, quorum);
    *ret_holder = h;
}
