/* validity.c - the arithmetic of leases: quorum, drift, the quorum-th largest end. */
#include "core/validity.h"

#include "base/mask.h"
#include "base/time.h"

#define DRIFT_FLOOR_US 2000

unsigned rlk_validity_quorum(unsigned nodes)
{
    return nodes / 2 + 1;
}

unsigned rlk_voters_quorum(const struct rlk_voters *v)
{
    return rlk_validity_quorum(v->size);
}

bool rlk_voters_can_block(const struct rlk_voters *v, uint64_t nodes)
{
    return rlk_mask_count(nodes & v->set) > v->size - rlk_voters_quorum(v);
}

static uint64_t drift_us(uint64_t ttl_us, uint32_t drift_ppm)
{
    uint64_t whole = ttl_us / 1000000, part = ttl_us % 1000000;
    uint64_t drift = whole * drift_ppm + (part * drift_ppm + 999999) / 1000000;

    return rlk_time_add(drift, DRIFT_FLOOR_US);
}

uint64_t rlk_validity_lease_us(uint64_t ttl_us, uint32_t drift_ppm)
{
    return rlk_time_sub(ttl_us, drift_us(ttl_us, drift_ppm));
}

uint64_t rlk_validity_gone_us(uint64_t ttl_us, uint32_t drift_ppm)
{
    return rlk_time_add(ttl_us, drift_us(ttl_us, drift_ppm));
}

/* How many of the lease ends in `mask` are later than `than`, and how many are the same. */
static void rank(const uint64_t *end_us, uint64_t mask, uint64_t than, unsigned *ret_later,
                 unsigned *ret_same)
{
    uint64_t left = mask;
    unsigned node;

    *ret_later = 0;
    *ret_same = 0;
    RLK_MASK_EACH (node, left) {
        *ret_later += end_us[node] > than;
        *ret_same += end_us[node] == than;
    }
}

uint64_t rlk_validity_until(const uint64_t *end_us, uint64_t mask, unsigned quorum)
{
    uint64_t left = mask;
    unsigned node, later, same;

    /* The k-th largest has fewer than k later ones, and at least k that are later or the same.
     * This is quadratic, but there are few nodes, and it needs no sorted copy. */
    RLK_MASK_EACH (node, left) {
        rank(end_us, mask, end_us[node], &later, &same);
        if (later < quorum && later + same >= quorum) {
            return end_us[node];
        }
    }
    return 0;
}
