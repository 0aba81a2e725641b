/* contention_key.c - makes, finds and frees the records of keys. */
#include "lock/contention_key.h"

#include <string.h>

#include "base/alloc.h"

static bool keep_name(struct rlk_contention_key *key, const void *name, size_t len)
{
    key->name = len <= RLK_CONTENTION_NAME_INLINE ? key->name_inline : rlk_alloc(len);
    if (key->name) {
        memcpy(key->name, name, len);
        key->entry.key = key->name;
        key->entry.len = len;
    }
    return key->name != NULL;
}

/* It has no references yet. */
static struct rlk_contention_key *make(struct rlk_pool *pool, struct rlk_table *table,
                                       const void *name, size_t len)
{
    struct rlk_contention_key *key = rlk_pool_take(pool, sizeof(*key));

    if (key == NULL) {
        return NULL;
    }
    if (!keep_name(key, name, len)) {
        rlk_pool_give(pool, key);
        return NULL;
    }
    key->refs = key->occupied = 0;
    key->contended = false;
    key->behind.root = NULL;
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
        key = make(pool, table, name, len);
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
    if (key->name != key->name_inline) {
        rlk_free(key->name);
    }
    rlk_pool_give(pool, key);
}
