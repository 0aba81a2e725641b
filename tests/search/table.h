/* search/table.h - the keys that were seen, in the order in which they were, and from where.
 *
 * Open addressing over the list: 20 bytes for a key, and eight for each slot of the index, of
 * which at most two in three are taken. */
#ifndef RLK_SEARCH_TABLE_H
#define RLK_SEARCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key {
    uint64_t high, low;
};

static inline bool key_equals(struct key a, struct key b)
{
    return a.high == b.high && a.low == b.low;
}

struct slot {
    uint32_t number; /* of the key, + 1; 0 for none */
    uint32_t mark;   /* part of its hash: keys are read only to be sure that one is the same */
};

struct table {
    struct key *keys;  /* as found */
    uint32_t *parents; /* the number of the key that led to this one */
    struct slot *slots;
    uint32_t n, room;
    uint64_t mask;
};

void table_begin(struct table *t);
void table_end(struct table *t);

/* True when it is new; it then has the number t->n - 1. Ends the program when memory ends. */
bool table_add(struct table *t, struct key key, uint32_t parent);

/* Begin to read from memory what table_add() will need: first the slot, later the key. */
void table_read_slot(const struct table *t, struct key key);
void table_read_key(const struct table *t, struct key key);

/* Bytes. */
size_t table_size(const struct table *t);

/* realloc that ends the program when memory ends. */
void *table_room(void *old, size_t size);

#endif
