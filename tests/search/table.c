/* table.c - hashing keys, and growing. */
#include "search/table.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_ROOM 4096u

void *table_room(void *old, size_t size)
{
    void *p = realloc(old, size);

    if (p == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return p;
}

static uint64_t hash(struct key key)
{
    uint64_t h = key.low * 0xff51afd7ed558ccdu ^ key.high;

    h = (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

/* The slot of this key, or the free one where it would be. */
static uint32_t *slot_of(const struct table *t, struct key key)
{
    uint64_t i = hash(key) & t->mask;

    while (t->slots[i] && !key_equals(t->keys[t->slots[i] - 1], key)) {
        i = (i + 1) & t->mask;
    }
    return &t->slots[i];
}

void table_read_slot(const struct table *t, struct key key)
{
    __builtin_prefetch(&t->slots[hash(key) & t->mask]);
}

void table_read_key(const struct table *t, struct key key)
{
    uint32_t slot = t->slots[hash(key) & t->mask];

    __builtin_prefetch(&t->keys[slot ? slot - 1 : 0]);
}

static void index_again(struct table *t, uint64_t slots)
{
    uint32_t i;

    free(t->slots);
    t->slots = calloc((size_t)slots, sizeof(*t->slots));
    if (t->slots == NULL) {
        t->slots = table_room(NULL, SIZE_MAX);
    }
    t->mask = slots - 1;
    for (i = 0; i < t->n; i++) {
        *slot_of(t, t->keys[i]) = i + 1;
    }
}

static void grow(struct table *t)
{
    t->room += t->room / 2 + FIRST_ROOM;
    t->keys = table_room(t->keys, t->room * sizeof(*t->keys));
    t->parents = table_room(t->parents, t->room * sizeof(*t->parents));
}

void table_begin(struct table *t)
{
    *t = (struct table){0};
    grow(t);
    index_again(t, 2 * (uint64_t)FIRST_ROOM);
}

void table_end(struct table *t)
{
    free(t->keys);
    free(t->parents);
    free(t->slots);
    *t = (struct table){0};
}

bool table_add(struct table *t, struct key key, uint32_t parent)
{
    uint32_t *slot = slot_of(t, key);

    if (*slot) {
        return false;
    }
    if (t->n == t->room) {
        grow(t);
    }
    t->keys[t->n] = key;
    t->parents[t->n] = parent;
    *slot = ++t->n;
    if (t->n > (t->mask + 1) / 3 * 2) {
        index_again(t, 2 * (t->mask + 1));
    }
    return true;
}

size_t table_size(const struct table *t)
{
    return t->room * (sizeof(*t->keys) + sizeof(*t->parents)) +
           (size_t)(t->mask + 1) * sizeof(*t->slots);
}
