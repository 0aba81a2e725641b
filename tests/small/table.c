/* table.c - hashing keys, and growing. */
#include "small/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096u

void *table_room(void *old, size_t size)
{
    void *p = realloc(old, size);

    if (p == NULL) {
        fprintf(stderr, "small: out of memory\n");
        exit(2);
    }
    return p;
}

static void place(struct table *t, uint32_t number)
{
    uint64_t i = t->keys[number] & t->mask;

    while (t->slots[i]) {
        i = (i + 1) & t->mask;
    }
    t->slots[i] = number + 1;
}

static void grow(struct table *t)
{
    uint32_t i;

    t->room = t->room ? t->room * 2 : FIRST_ROOM;
    t->keys = table_room(t->keys, t->room * sizeof(*t->keys));
    t->parents = table_room(t->parents, t->room * sizeof(*t->parents));
    free(t->slots);
    t->slots = table_room(NULL, (size_t)t->room * 2 * sizeof(*t->slots));
    memset(t->slots, 0, (size_t)t->room * 2 * sizeof(*t->slots));
    t->mask = (uint64_t)t->room * 2 - 1;
    for (i = 0; i < t->n; i++) {
        place(t, i);
    }
}

void table_begin(struct table *t)
{
    *t = (struct table){0};
    grow(t);
}

void table_end(struct table *t)
{
    free(t->keys);
    free(t->parents);
    free(t->slots);
    *t = (struct table){0};
}

bool table_add(struct table *t, uint64_t key, uint32_t parent)
{
    uint64_t i;

    for (i = key & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
        if (t->keys[t->slots[i] - 1] == key) {
            return false;
        }
    }
    if (t->n == t->room) {
        grow(t);
    }
    t->keys[t->n] = key;
    t->parents[t->n] = parent;
    place(t, t->n++);
    return true;
}
