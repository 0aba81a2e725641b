/* contention_key.c - makes, finds and frees the records of keys. */
#include "lock/contention_key.h"

#include <stdint.h>
#include <string.h>

/* It has no references yet, and borrows its name. */
static struct rlk_contention_key *
make_contention_key(struct rlk_pool *pool, struct rlk_table *table, const void *name, size_t len)
{
    struct rlk_contention_key *key = rlk_pool_take(pool, sizeof(*key));

    if (key == NULL) {
        return NULL;
    }
    key->entry.key = name;
    key->entry.len = (uint32_t)len;
    key->refs = key->occupied = 0;
    key->contended = key->owns_name = false;
    key->behind.root = NULL;
    key->failed = NULL;
    rlk_list_init(&key->contenders);
    rlk_table_insert(table, &key->entry);
    return key;
}

static void free_contention_key(struct rlk_pool *pool, struct rlk_table *table,
                                struct rlk_contention_key *key)
{
    rlk_table_remove(table, &key->entry);
    if (key->owns_name) {
        rlk_pool_give(pool, (void *)(uintptr_t)key->entry.key, key->entry.len);
    }
    rlk_pool_give(pool, key, sizeof(*key));
}

/* False: out of memory. */
static bool own_name(struct rlk_pool *pool, struct rlk_contention_key *key)
{
    void *name = rlk_pool_take(pool, key->entry.len);

    if (name == NULL) {
        return false;
    }
    key->entry.key = memcpy(name, key->entry.key, key->entry.len);
    key->owns_name = true;
    return true;
}

struct rlk_contention_key *rlk_contention_key_find(struct rlk_table *table, const void *name,
                                                   size_t len)
{
    struct rlk_table_entry *e = rlk_table_find(table, name, len);

    return e ? RLK_CONTAINER(e, struct rlk_contention_key, entry) : NULL;
}

struct rlk_contention_key *rlk_contention_key_ref(struct rlk_pool *pool, struct rlk_table *table,
                                                  const void *name, size_t len, bool lasts)
{
    struct rlk_contention_key *key = rlk_contention_key_find(table, name, len);

    if (key == NULL) {
        key = make_contention_key(pool, table, name, len);
    }
    if (key == NULL) {
        return NULL;
    }
    if (!key->owns_name && (key->refs > 0 || !lasts) && !own_name(pool, key)) {
        if (key->refs == 0) {
            free_contention_key(pool, table, key);
        }
        return NULL;
    }
    key->refs++;
    return key;
}

void rlk_contention_key_unref(struct rlk_pool *pool, struct rlk_table *table,
                              struct rlk_contention_key *key)
{
    if (--key->refs == 0) {
        free_contention_key(pool, table, key);
    }
}
