/* small/key.h - a world as a number, the same for worlds that differ in names only.
 *
 * Masters are told apart by nothing but their number, and so are the clients: a world and its
 * eleven renamed duplicates (3! × 2) have the same future, up to the names. The least of the
 * duplicates is hashed to 64 bits. Two different worlds that share a hash would hide one from the
 * search; for n worlds the chance that there is any such pair is n² / 2^65: 3 in a million for ten
 * million. */
#ifndef RLK_SMALL_KEY_H
#define RLK_SMALL_KEY_H

#include "small/world.h"

/* Never 0. With `plain`, names count. */
uint64_t key_of(const struct world *w, bool plain);

#endif
