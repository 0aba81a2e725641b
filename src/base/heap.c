/* heap.c - joins and splits the trees of a pairing heap. */
#include "base/heap.h"

#include <stddef.h>

/* Join two trees; either may be NULL. The root of the result has no siblings. */
static struct rlk_heap_node *meld(struct rlk_heap_node *a, struct rlk_heap_node *b)
{
    struct rlk_heap_node *swap;

    if (a == NULL) {
        return b;
    }
    if (b == NULL) {
        return a;
    }
    if (b->key < a->key) {
        swap = a;
        a = b;
        b = swap;
    }
    b->prev = a;
    b->next = a->child;
    if (b->next) {
        b->next->prev = b;
    }
    a->child = b;
    return a;
}

/* Cut the first tree off a list of siblings. */
static struct rlk_heap_node *cut_first(struct rlk_heap_node **list)
{
    struct rlk_heap_node *n = *list;

    if (n) {
        *list = n->next;
        n->next = NULL;
        n->prev = NULL;
    }
    return n;
}

/* Make one tree of a list of siblings: join them in pairs, then join the pairs from the last to the
 * first. This order makes the amortised cost of the heap logarithmic. */
static struct rlk_heap_node *meld_siblings(struct rlk_heap_node *list)
{
    struct rlk_heap_node *pairs = NULL, *one, *two, *all = NULL;

    while ((one = cut_first(&list)) != NULL) {
        two = cut_first(&list);
        one = meld(one, two);
        one->next = pairs;
        pairs = one;
    }
    while ((one = cut_first(&pairs)) != NULL) {
        all = meld(all, one);
    }
    return all;
}

void rlk_heap_insert(struct rlk_heap *h, struct rlk_heap_node *n)
{
    n->child = NULL;
    n->next = NULL;
    n->prev = NULL;
    h->root = meld(h->root, n);
}

/* Take it and what is below it out of the list of its siblings. */
static void cut(struct rlk_heap_node *n)
{
    if (n->prev->child == n) {
        n->prev->child = n->next;
    } else {
        n->prev->next = n->next;
    }
    if (n->next) {
        n->next->prev = n->prev;
    }
}

/* Most of those that are removed have nothing below them. */
void rlk_heap_remove(struct rlk_heap *h, struct rlk_heap_node *n)
{
    struct rlk_heap_node *children = n->child ? meld_siblings(n->child) : NULL;

    if (n == h->root) {
        h->root = children;
        return;
    }
    cut(n);
    if (children) {
        h->root = meld(h->root, children);
    }
}
