/* table.c - hashing keys, and growing. */
#include "search/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_ROOM 4096u
#define HUGE_PAGE ((size_t)2 << 20)

void *table_room(void *old, size_t size)
{
    void *p = realloc(old, size);

    if (p == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return p;
}

static uint64_t hash_of(struct key key)
{
    uint64_t h = key.low * 0xff51afd7ed558ccdu ^ key.high;

    h = (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

/* The bits of a hash that do not say which slot. */
static uint32_t mark_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

/* The slot of this key, or the free one where it would be. */
static struct slot *slot_of(const struct table *t, struct key key, uint64_t hash)
{
    uint32_t mark = mark_of(hash);
    uint64_t i = hash & t->mask;

    while (t->slots[i].number &&
           !(t->slots[i].mark == mark && key_equals(t->keys[t->slots[i].number - 1], key))) {
        i = (i + 1) & t->mask;
    }
    return &t->slots[i];
}

void table_read_slot(const struct table *t, struct key key)
{
    __builtin_prefetch(&t->slots[hash_of(key) & t->mask]);
}

void table_read_key(const struct table *t, struct key key)
{
    uint64_t hash = hash_of(key), i = hash & t->mask;

    while (t->slots[i].number && t->slots[i].mark != mark_of(hash)) {
        i = (i + 1) & t->mask;
    }
    __builtin_prefetch(&t->keys[t->slots[i].number ? t->slots[i].number - 1 : 0]);
}

/* Lookups are spread over the whole table, so with pages of the usual size nearly each one misses
 * the TLB. Huge pages avoid that, where there are any. */
static struct slot *clear_slots(size_t n)
{
    size_t size = n * sizeof(struct slot);
    struct slot *slots = aligned_alloc(size < HUGE_PAGE ? sizeof(*slots) : HUGE_PAGE, size);

    if (slots == NULL) {
        slots = table_room(NULL, SIZE_MAX);
    }
    if (size >= HUGE_PAGE) {
        (void)madvise(slots, size, MADV_HUGEPAGE);
    }
    return memset(slots, 0, size);
}

static void index_again(struct table *t, uint64_t slots)
{
    uint32_t i;

    free(t->slots);
    t->slots = clear_slots((size_t)slots);
    t->mask = slots - 1;
    for (i = 0; i < t->n; i++) {
        uint64_t hash = hash_of(t->keys[i]);

        *slot_of(t, t->keys[i], hash) = (struct slot){i + 1, mark_of(hash)};
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
    uint64_t hash = hash_of(key);
    struct slot *slot = slot_of(t, key, hash);

    if (slot->number) {
        return false;
    }
    if (t->n == t->room) {
        grow(t);
    }
    t->keys[t->n] = key;
    t->parents[t->n] = parent;
    *slot = (struct slot){++t->n, mark_of(hash)};
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
