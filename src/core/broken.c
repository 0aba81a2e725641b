/* broken.c - counts who has the new token now, and looks for the majority whose keys end first. */
#include "core/broken.h"

#include <stdbool.h>

#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"

/* The voters that have the new token at this moment. */
static uint64_t still_there(const struct rlk_broken_view *v, uint64_t now_us)
{
    uint64_t left = v->replaced & v->voters->set, there = 0;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        uint64_t lease_us = rlk_validity_lease_us(v->left_us[node], v->drift_ppm);

        there |= rlk_time_add(v->sent_us[node], lease_us) > now_us ? rlk_mask_bit(node) : 0;
    }
    return there;
}

/* When the last lease that the node may have granted the holder is over, by our clock. */
static uint64_t over_us(const struct rlk_broken_view *v, unsigned node)
{
    bool doubted = (v->quarantined & rlk_mask_bit(node)) != 0;
    uint64_t life_us = doubted ? rlk_time_max(v->max_ttl_us, v->left_us[node]) : v->left_us[node];

    return rlk_time_add(v->heard_us[node], rlk_validity_gone_us(life_us, v->drift_ppm));
}

/* Of these nodes a quorum is over by then. The k-th smallest is the largest but n - k. */
static uint64_t quorum_over_us(const struct rlk_broken_view *v, uint64_t there, unsigned quorum)
{
    uint64_t ends[RLK_MAX_NODES] = {0}, left = there;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        ends[node] = over_us(v, node);
    }
    return rlk_validity_until(ends, there, rlk_mask_count(there) - quorum + 1);
}

void rlk_broken_find(const struct rlk_broken_view *v, uint64_t now_us,
                     struct rlk_broken *ret_broken)
{
    unsigned quorum = rlk_voters_quorum(v->voters);
    uint64_t set = v->voters->set, there = still_there(v, now_us);

    *ret_broken = (struct rlk_broken){.status = REDLOCK_ENOQUORUM};
    if (rlk_mask_count(there) >= quorum) {
        ret_broken->status = REDLOCK_OK;
        ret_broken->until_us = quorum_over_us(v, there, quorum);
    } else if (rlk_voters_are_enough(v->voters, v->taken)) {
        ret_broken->status = REDLOCK_TAKEN;
    } else if ((v->replaced & set) == 0 && rlk_voters_are_enough(v->voters, v->gone | v->taken)) {
        ret_broken->status = REDLOCK_GONE;
    }
}
