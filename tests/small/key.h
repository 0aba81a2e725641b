/* small/key.h - a world as a number, the same for worlds that differ in names only.
 *
 * Masters are told apart by nothing but their number, and so are the clients: a world and its
 * eleven renamed duplicates (3! × 2) have the same future, up to the names. Where votes are kept
 * the lowest master breaks a tie, so the masters keep their numbers there. The least of the
 * duplicates is hashed to 128 bits. Two different worlds that share a hash would hide one from the
 * search; for n worlds the chance that there is any such pair is n² / 2^129. */
#ifndef RLK_SMALL_KEY_H
#define RLK_SMALL_KEY_H

#include "search/table.h"
#include "small/world.h"

struct key key_of(const struct world *w, const struct config *c);

#endif
