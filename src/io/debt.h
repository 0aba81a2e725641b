/* debt.h - releases that are owed to a node, because it could not be told when it was time.
 *
 * A SET or a release was in flight when the connection broke, or a lock was released while
 * there was none: the node may have our key. It is told first thing when it is back [S5].
 * Bounded in number (the oldest goes first: its key expires soonest) and in age (a key that
 * has expired needs no release). */
#ifndef RLK_IO_DEBT_H
#define RLK_IO_DEBT_H

#include <stddef.h>
#include <stdint.h>

struct rlk_claim;

/* The most debts to one node. */
#define RLK_DEBT_MAX 4096

struct rlk_debt {
    struct rlk_claim *claim;
    uint64_t until_us;
};

struct rlk_debts {
    struct rlk_debt *ring;
    size_t first, count;
};

/* Frees, and lets go of every claim. */
void rlk_debts_end(struct rlk_debts *d);

/* Take a reference to the claim and keep it until `until_us`. Without memory it is not kept,
 * and the key ends with its ttl. */
void rlk_debts_add(struct rlk_debts *d, struct rlk_claim *claim, uint64_t until_us);

/* Take the oldest that has not expired, its reference included; NULL for none. */
struct rlk_claim *rlk_debts_take(struct rlk_debts *d, uint64_t now_us);

#endif
