/* contention_key.h - what a manager knows of a key, or of a set of several keys, while contenders
 * refer to it. Only contention.c uses it. */
#ifndef RLK_LOCK_CONTENTION_KEY_H
#define RLK_LOCK_CONTENTION_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/table.h"

struct rlk_contender;

struct rlk_contention_key {
    struct rlk_table_entry entry; /* by the name: the bytes of a key; of a set its keys, as
                                     pointers */
    unsigned refs;                /* contenders that refer to it */
    unsigned occupied : 30;       /* by so many contenders */
    unsigned contended : 1;
    unsigned owns_name : 1;
    struct rlk_heap behind;       /* those that wait here, by their arrival */
    struct rlk_contender *failed; /* the first of those who have failed to get this set; or NULL */
    struct rlk_list contenders;   /* links of those that are ACTIVE and may wait */
};

/* The record of this table with this name, made if need be, with one more reference. `lasts`: the
 * name stays where it is until the caller drops this reference. Most keys have one contender: so
 * the record copies the name only for the second one, or if it does not last. NULL: out of memory.
 */
struct rlk_contention_key *rlk_contention_key_ref(struct rlk_pool *pool, struct rlk_table *table,
                                                  const void *name, size_t len, bool lasts);

/* The last reference frees the record. */
void rlk_contention_key_unref(struct rlk_pool *pool, struct rlk_table *table,
                              struct rlk_contention_key *key);

/* NULL: nobody refers to it. */
struct rlk_contention_key *rlk_contention_key_find(struct rlk_table *table, const void *name,
                                                   size_t len);

#endif
