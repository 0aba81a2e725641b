/* pending_list.h - the releases that are pending for a node, because they could not be sent to it,
 * or got no reply.
 *
 * The connection broke while the release was in flight, or the node was not connected, refused the
 * release for now, or had no capacity: the node may still have our key. A pending release is sent
 * as soon as possible, before any fresh command [S5]. A lock that is held, or may still be
 * acquired, needs its keys and has no pending releases.
 *
 * The list is bounded: when it is full, the oldest is dropped. If we know when the key expires at
 * the latest, its release is dropped then: an expired key needs no release. */
#ifndef RLK_NODE_PENDING_LIST_H
#define RLK_NODE_PENDING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"

struct rlk_claim;

/* The most pending releases for one node. */
#define RLK_PENDING_MAX 65536

struct rlk_pending_release {
    struct rlk_claim *claim;
    uint64_t until_us; /* when the key has expired for certain; RLK_NEVER: unknown */
};

struct rlk_pending_list {
    struct rlk_ring ring; /* of struct rlk_pending_release */
};

/* Free the list and its references to claims. */
void rlk_pending_list_end(struct rlk_pending_list *d);

/* The pending release at index `i`, below d->ring.count; 0 is the oldest. */
const struct rlk_pending_release *rlk_pending_list_at(const struct rlk_pending_list *d, size_t i);

/* Add the release of a claim, until `until_us`; takes a reference. False: at RLK_PENDING_MAX or out
 * of memory. Then the oldest was dropped to make room, or, if the list is empty, this one is not
 * kept; the key of the dropped one ends with its ttl. */
bool rlk_pending_list_add(struct rlk_pending_list *d, struct rlk_claim *claim, uint64_t until_us);

/* The oldest that has not expired; it stays in the list. Drops those that have. NULL: none left. */
struct rlk_claim *rlk_pending_list_first(struct rlk_pending_list *d, uint64_t now_us);

/* Drop the oldest, and its reference: it was sent. */
void rlk_pending_list_drop(struct rlk_pending_list *d);

#endif
