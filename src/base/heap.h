/* heap.h - an intrusive pairing heap ordered by a time, smallest first.
 *
 * It is intrusive, so that an insertion cannot fail and needs no memory. It is a pairing heap,
 * because most deadlines are inserted behind earlier ones and removed before they come: that costs
 * O(1) and O(log n). Equal times leave in no particular order. */
#ifndef RLK_BASE_HEAP_H
#define RLK_BASE_HEAP_H

#include <stdint.h>

struct rlk_heap_node {
    uint64_t key;
    struct rlk_heap_node *child;
    struct rlk_heap_node *next; /* the next sibling */
    struct rlk_heap_node *prev; /* the previous sibling, or the parent of a first child */
};

struct rlk_heap {
    struct rlk_heap_node *root; /* the smallest; NULL when empty */
};

/* `n` must be in no heap; n->key is set. */
void rlk_heap_insert(struct rlk_heap *h, struct rlk_heap_node *n);

/* `n` must be in this heap. */
void rlk_heap_remove(struct rlk_heap *h, struct rlk_heap_node *n);

#endif
