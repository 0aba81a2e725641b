/* fence/key.h - a world in 128 bits, and back.
 *
 * Nothing is lost but names: worlds that differ only in which master or which attempt is which
 * have one key. So a world that was not searched has not been taken for another one. */
#ifndef RLK_FENCE_KEY_H
#define RLK_FENCE_KEY_H

#include "fence/world.h"
#include "search/table.h"

struct key key_of(const struct world *w, const struct config *c);
void key_world(struct key key, const struct config *c, struct world *ret_world);

bool key_fits(const struct config *c);

#endif
