/* heap.h - an intrusive pairing heap ordered by a time, smallest first.
 *
 * Intrusive, so that putting a deadline in cannot fail and costs no memory; a pairing heap,
 * because most deadlines are put in late and taken out before they come, which is O(1) and
 * O(log n) here. Equal times leave in no particular order.
 */
#ifndef RLK_BASE_HEAP_H
#define RLK_BASE_HEAP_H

#include <stdint.h>

struct rlk_heap_node {
    uint64_t key;
    struct rlk_heap_node *child;
    struct rlk_heap_node *next; /* the next sibling */
    struct rlk_heap_node *prev; /* the sibling before, or the parent of a first child */
};

struct rlk_heap {
    struct rlk_heap_node *root; /* the smallest; NULL when empty */
};

/* `n` must be in no heap; n->key is set. */
void rlk_heap_insert(struct rlk_heap *h, struct rlk_heap_node *n);

/* `n` must be in this heap. */
void rlk_heap_remove(struct rlk_heap *h, struct rlk_heap_node *n);

#endif
