/* table.c - the buckets of a hash table: lists of entries. */
#include "base/table.h"

#include <string.h>

#include "base/alloc.h"

/* How many buckets a table has when it first allocates. */
#define FIRST_BUCKETS 16

void rlk_table_init(struct rlk_table *t, const struct rlk_hash_seed *seed)
{
    *t = (struct rlk_table){.seed = *seed, .n_buckets = 1};
}

void rlk_table_end(struct rlk_table *t)
{
    rlk_free(t->buckets);
    rlk_table_init(t, &t->seed);
}

static struct rlk_table_entry **bucket(struct rlk_table *t, uint32_t hash)
{
    return t->buckets ? &t->buckets[hash & (t->n_buckets - 1)] : &t->first;
}

static void push(struct rlk_table_entry **at, struct rlk_table_entry *e)
{
    e->next = *at;
    *at = e;
}

/* Move all entries to other buckets. */
static void spread(struct rlk_table *t, struct rlk_table_entry **buckets, size_t n_buckets)
{
    struct rlk_table_entry **old = t->buckets ? t->buckets : &t->first, *e;
    size_t i;

    for (i = 0; i < t->n_buckets; i++) {
        while ((e = old[i]) != NULL) {
            old[i] = e->next;
            push(&buckets[e->hash & (n_buckets - 1)], e);
        }
    }
}

/* Double the buckets, if there is memory for them. */
static void grow(struct rlk_table *t)
{
    size_t n_buckets = t->buckets ? t->n_buckets * 2 : FIRST_BUCKETS;
    struct rlk_table_entry **buckets = rlk_alloc(n_buckets * sizeof(*buckets));

    if (buckets) {
        spread(t, buckets, n_buckets);
        rlk_free(t->buckets);
        t->buckets = buckets;
        t->n_buckets = n_buckets;
    }
}

struct rlk_table_entry *rlk_table_find(struct rlk_table *t, const void *key, size_t len)
{
    uint32_t hash = t->hash = (uint32_t)rlk_hash(&t->seed, key, len);
    struct rlk_table_entry *e = *bucket(t, hash);

    while (e && !(e->hash == hash && e->len == len && memcmp(e->key, key, len) == 0)) {
        e = e->next;
    }
    return e;
}

void rlk_table_insert(struct rlk_table *t, struct rlk_table_entry *e)
{
    if (t->count >= t->n_buckets) {
        grow(t);
    }
    e->hash = t->hash;
    push(bucket(t, e->hash), e);
    t->count++;
}

void rlk_table_remove(struct rlk_table *t, struct rlk_table_entry *e)
{
    struct rlk_table_entry **at = bucket(t, e->hash);

    while (*at != e) {
        at = &(*at)->next;
    }
    *at = e->next;
    t->count--;
}
