/* succession.h - after a resignation, wakes one waiter after another until somebody has the key
 * [W4].
 *
 * A release wakes the first waiter, and tells the second that it is next. If both are suspended,
 * nobody else would check the key before its next usual check [W5]. So the manager that has
 * resigned asks again, as long as it lives: where the key is still free, the next waiter is woken.
 *
 *            45 to 55 ms                  somebody was woken there
 *     BEGIN -------------> ask the masters ----------------------> ask these again after as long
 *                             |
 *                             | nobody was: the key is held, or nobody waits
 *                             v
 *                            END */
#ifndef RLK_LOCK_SUCCESSION_H
#define RLK_LOCK_SUCCESSION_H

#include <stdint.h>

struct redlock;
struct rlk_claim;

/* The release of this claim has woken somebody. Out of memory, nothing happens. It ends by itself,
 * or with the manager, whose close does not wait for it. */
void rlk_succession_begin(struct redlock *rl, struct rlk_claim *claim, uint64_t now_us);

#endif
