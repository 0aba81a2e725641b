/* pending_list.h - releases that are owed to a node, because it could not be told when it was time.
 *
 * A release was in flight when the connection broke, or there was none, or the node had no ear or
 * no room for it: it may have our key. It is told when it can be, before it is asked for anything
 * new [S5]. A lock that is held, or may yet be, owes nothing: its keys are wanted.
 *
 * Bounded in number (the oldest goes first) and, where it is known when the key expires at the
 * latest, in age: a key that has expired needs no release. */
#ifndef RLK_NODE_PENDING_LIST_H
#define RLK_NODE_PENDING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"

struct rlk_claim;

/* The most pending_releases to one node. */
#define RLK_PENDING_MAX 65536

struct rlk_pending_release {
    struct rlk_claim *claim;
    uint64_t until_us;
};

struct rlk_pending_list {
    struct rlk_ring ring; /* of struct rlk_pending_release */
};

/* Frees, and lets go of every claim. */
void rlk_pending_list_end(struct rlk_pending_list *d);

/* The pending_release at place `i` of d->ring.count, 0 for the oldest. */
const struct rlk_pending_release *rlk_pending_list_at(const struct rlk_pending_list *d, size_t i);

/* Take a reference to the claim and keep it until `until_us`. False without memory: it is not
 * kept, or an older one is not, and the key ends with its ttl. */
bool rlk_pending_list_add(struct rlk_pending_list *d, struct rlk_claim *claim, uint64_t until_us);

/* The oldest that has not expired; NULL for none. It stays. */
struct rlk_claim *rlk_pending_list_first(struct rlk_pending_list *d, uint64_t now_us);

/* The oldest is paid: let go of it. */
void rlk_pending_list_drop(struct rlk_pending_list *d);

#endif
