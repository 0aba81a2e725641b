/* broken.h - what the replies to a break prove: who has the token still, and until when its holder
 * may believe in the lock.
 *
 * A break puts another token in the place of that of a holder, and leaves the ttl of each key as it
 * is. So no key ends sooner than without the break, and whatever goes wrong here cannot give the
 * lock to two clients. What has to be right is what we tell the user.
 *
 *     [S7]  The holder can make its lock last longer only if a majority has its token. So the lock
 *           is broken when at one instant a majority has the new one.
 *     [S2]  At that instant some master of this majority also grants the holder a lease that ends
 *           no sooner than its validity. The lease ends before the key does. So the last key of the
 *           majority is the bound; of several majorities, the one whose last key ends first.
 *     [S11] The ttl of a key says that only if the master has lost nothing. Otherwise any lease may
 *           still run that the master could have granted, at most max_ttl. */
#ifndef RLK_CORE_BROKEN_H
#define RLK_CORE_BROKEN_H

#include <stdint.h>

#include "core/validity.h"

/* What the nodes have replied. */
struct rlk_broken_view {
    const struct rlk_voters *voters; /* only these count */
    uint64_t replaced;               /* had the token, and have the new one */
    uint64_t gone, taken;            /* had no key; had another value */
    uint64_t quarantined;            /* of `replaced`: may have lost data, or their clocks moved */
    uint64_t max_ttl_us;             /* no lease is longer */
    uint32_t drift_ppm;
    uint64_t left_us[RLK_MAX_NODES];  /* of `replaced`: the ttl of the key, when it was replaced */
    uint64_t sent_us[RLK_MAX_NODES];  /* of `replaced`: before the command was sent, by our clock */
    uint64_t heard_us[RLK_MAX_NODES]; /* of `replaced`: when the reply came */
};

struct rlk_broken {
    /* REDLOCK_OK         the lock is broken
     * REDLOCK_GONE       no master had the token, and a majority says so
     * REDLOCK_TAKEN      likewise, and a majority has other values
     * REDLOCK_ENOQUORUM  none of these: too few replied, or too few still had the token */
    int status;
    uint64_t until_us; /* OK: the holder does not believe in the lock after that, by our clock */
};

void rlk_broken_find(const struct rlk_broken_view *v, uint64_t now_us,
                     struct rlk_broken *ret_broken);

#endif
