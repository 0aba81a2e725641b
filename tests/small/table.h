/* small/table.h - the keys that were seen, in the order in which they were, and from where.
 *
 * Open addressing over the list: twenty bytes for a key at half load. */
#ifndef RLK_SMALL_TABLE_H
#define RLK_SMALL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
    uint64_t *keys;    /* as found */
    uint32_t *parents; /* the number of the key that led to this one */
    uint32_t *slots;   /* number + 1, 0 for none */
    uint32_t n, room;
    uint64_t mask;
};

void table_begin(struct table *t);
void table_end(struct table *t);

/* True when it is new; it then has the number t->n - 1. Ends the program when memory ends. */
bool table_add(struct table *t, uint64_t key, uint32_t parent);

/* realloc that ends the program when memory ends. */
void *table_room(void *old, size_t size);

#endif
