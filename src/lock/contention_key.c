/* contention_key.c - makes, finds and frees the records of keys. */
#include "lock/contention_key.h"

#include <string.h>

static size_t size_of_key(size_t len)
{
    return offsetof(struct rlk_contention_key, name) + len;
}

/* It has no references yet. */
static struct rlk_contention_key *
make_contention_key(struct rlk_pool *pool, struct rlk_table *table, const void *name, size_t len)
{
    struct rlk_contention_key *key = rlk_pool_take(pool, size_of_key(len));

    if (key == NULL) {
        return NULL;
    }
    memcpy(key->name, name, len);
    key->entry.key = key->name;
    key->entry.len = len;
    key->refs = key->occupied = 0;
    key->contended = false;
    key->behind.root = NULL;
    key->failed = NULL;
    rlk_list_init(&key->contenders);
    rlk_table_insert(table, &key->entry);
    return key;
}

struct rlk_contention_key *rlk_contention_key_find(struct rlk_table *table, const void *name,
                                                   size_t len)
{
    struct rlk_table_entry *e = rlk_table_find(table, name, len);

    return e ? RLK_CONTAINER(e, struct rlk_contention_key, entry) : NULL;
}

struct rlk_contention_key *rlk_contention_key_ref(struct rlk_pool *pool, struct rlk_table *table,
                                                  const void *name, size_t len)
{
    struct rlk_contention_key *key = rlk_contention_key_find(table, name, len);

    if (key == NULL) {
        key = make_contention_key(pool, table, name, len);
    }
    if (key) {
        key->refs++;
    }
    return key;
}

void rlk_contention_key_unref(struct rlk_pool *pool, struct rlk_table *table,
                              struct rlk_contention_key *key)
{
    if (--key->refs > 0) {
        return;
    }
    rlk_table_remove(table, &key->entry);
    rlk_pool_give(pool, key, size_of_key(key->entry.len));
}
