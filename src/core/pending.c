/* pending.c - the times of a pending release. */
#include "core/pending.h"

#include "base/time.h"
#include "core/validity.h"

/* An unanswered SET by itself owes nothing: the lock may have won by the others, and its key is
 * wanted. A release that is still to be sent is answered when it has been. */
struct rlk_loss rlk_pending_loss(enum rlk_leftover left, bool sent)
{
    return (struct rlk_loss){.set_lost = sent && left == RLK_LEFTOVER_KEYS,
                             .pending = left == RLK_LEFTOVER_RELEASE,
                             .unknown = sent || left != RLK_LEFTOVER_RELEASE};
}

/* Any question that the node still has to answer may be the SET, unless it has answered the release
 * behind it already. */
static bool is_open(const struct rlk_pending *p)
{
    return p->unanswered && !p->refused;
}

/* A key that was set before now ends a ttl after, by the node's clock, which may be the slower one.
 * A SET that was not answered may be carried out at any time: when a stopped server wakes and reads
 * what its socket still has. */
uint64_t rlk_pending_until_us(const struct rlk_pending *p, uint32_t drift_ppm, uint64_t now_us)
{
    if (p->set_lost || is_open(p)) {
        return RLK_NEVER;
    }
    return rlk_time_add(now_us, rlk_validity_gone_us(p->max_life_us, drift_ppm));
}

bool rlk_pending_needs_timer(const struct rlk_pending *p)
{
    return !is_open(p);
}
