/* table.h - an intrusive hash table: finds an object by its key, which is any bytes.
 *
 * The object brings the entry and the bytes, so an insertion cannot fail. The table itself needs
 * memory to stay fast: it doubles when it has as many objects as buckets. Without memory it goes on
 * with the buckets that it has, more slowly, and tries again at the next insertion. It never
 * shrinks, so there is no allocation in the steady state. */
#ifndef RLK_BASE_TABLE_H
#define RLK_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct rlk_table_entry {
    struct rlk_table_entry *next; /* in the same bucket */
    const void *key;              /* set before the insertion; the bytes must not change after it */
    uint32_t len;
    uint32_t hash;
};

struct rlk_table {
    struct rlk_hash_seed seed;
    uint32_t hash; /* of what was looked for last */
    size_t count;
    size_t n_buckets;                 /* a power of two */
    struct rlk_table_entry **buckets; /* NULL: only `first` */
    struct rlk_table_entry *first;
};

void rlk_table_init(struct rlk_table *t, const struct rlk_hash_seed *seed);

/* Frees the buckets; the objects are their owner's. */
void rlk_table_end(struct rlk_table *t);

/* NULL: the table has no entry with these bytes. */
struct rlk_table_entry *rlk_table_find(struct rlk_table *t, const void *key, size_t len);

/* Add an entry, by its key and len: the last call was a rlk_table_find() for these bytes, and the
 * table has none. */
void rlk_table_insert(struct rlk_table *t, struct rlk_table_entry *e);

/* `e` must be in this table. */
void rlk_table_remove(struct rlk_table *t, struct rlk_table_entry *e);

#endif
