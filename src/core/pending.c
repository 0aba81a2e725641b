/* pending.c - how long a release stays pending, and what sends it again. */
#include "core/pending.h"

#include "base/time.h"
#include "core/validity.h"

/* A lost SET alone makes no release pending: the lock may have won on other nodes, and needs its
 * key. A release that was never sent does not count as an unknown answer: it is pending, and gets
 * its reply when it has been sent. */
struct rlk_loss rlk_pending_loss(enum rlk_leftover left, bool sent)
{
    return (struct rlk_loss){.set_lost = sent && left == RLK_LEFTOVER_KEYS,
                             .pending = left == RLK_LEFTOVER_RELEASE,
                             .unknown = sent || left != RLK_LEFTOVER_RELEASE};
}

/* A reply is outstanding that may be that of the SET. Not so if the node has replied to the
 * release, which was sent after the SET. */
static bool may_set_be_unanswered(const struct rlk_pending *p)
{
    return p->unanswered && !p->refused;
}

/* A key that was set before now expires a ttl from now at the latest, by the node's clock, which
 * may be slower than ours. A SET without a reply may be carried out at any time: when a stopped
 * server runs again and reads what its socket still has. */
uint64_t rlk_pending_until_us(const struct rlk_pending *p, uint32_t drift_ppm, uint64_t now_us)
{
    if (p->set_lost || may_set_be_unanswered(p)) {
        return RLK_NEVER;
    }
    return rlk_time_add(now_us, rlk_validity_gone_us(p->max_life_us, drift_ppm));
}

bool rlk_pending_needs_timer(const struct rlk_pending *p)
{
    return !may_set_be_unanswered(p);
}
