/* fence/key.h - a world in 128 bits, and back.
 *
 * Nothing is lost but names: worlds that differ only in which master or which attempt is which
 * have one key. So a world that was not searched has not been taken for another one. */
#ifndef RLK_FENCE_KEY_H
#define RLK_FENCE_KEY_H

#include "fence/world.h"

struct key {
    uint64_t high, low;
};

struct key key_of(const struct world *w, const struct config *c);
void key_world(struct key key, const struct config *c, struct world *ret_world);

bool key_fits(const struct config *c);

static inline bool key_equals(struct key a, struct key b)
{
    return a.high == b.high && a.low == b.low;
}

#endif
