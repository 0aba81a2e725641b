/* observed.c - a table of the keys that are observed, each with a list of its observers. */
#include "lock/observed.h"

#include <string.h>

#include "base/alloc.h"
#include "node/command.h"

struct rlk_observed_key {
    struct rlk_table_entry entry;
    struct rlk_list links;
    char name[];
};

void rlk_observed_init(struct rlk_observed *o, const struct rlk_hash_seed *seed)
{
    rlk_table_init(&o->keys, seed);
}

void rlk_observed_end(struct rlk_observed *o)
{
    rlk_table_end(&o->keys);
}

static struct rlk_observed_key *find_observed(struct rlk_observed *o, const char *name, size_t len)
{
    struct rlk_table_entry *e = rlk_table_find(&o->keys, name, len);

    return e ? RLK_CONTAINER(e, struct rlk_observed_key, entry) : NULL;
}

static struct rlk_observed_key *make_observed(struct rlk_observed *o, const char *name, size_t len)
{
    struct rlk_observed_key *key = rlk_alloc(sizeof(*key) + len);

    if (key) {
        memcpy(key->name, name, len);
        key->entry.key = key->name;
        key->entry.len = (uint32_t)len;
        rlk_list_init(&key->links);
        rlk_table_insert(&o->keys, &key->entry);
    }
    return key;
}

bool rlk_observed_add(struct rlk_observed *o, struct rlk_observed_link *who, const char *name,
                      size_t len)
{
    struct rlk_observed_key *key = find_observed(o, name, len);

    key = key ? key : make_observed(o, name, len);
    if (key) {
        who->key = key;
        rlk_list_init(&who->link);
        rlk_list_push(&key->links, &who->link);
    }
    return key != NULL;
}

void rlk_observed_remove(struct rlk_observed *o, struct rlk_observed_link *who)
{
    struct rlk_observed_key *key = who->key;

    rlk_list_remove(&who->link);
    if (rlk_list_empty(&key->links)) {
        rlk_table_remove(&o->keys, &key->entry);
        rlk_free(key);
    }
}

/* No key has the name of a counter: requests refuse such names. */
struct rlk_list *rlk_observed_find(struct rlk_observed *o, const char *name, size_t len,
                                   bool *ret_is_counter)
{
    static const char counter[] = RLK_COMMAND_COUNTER;
    size_t more = sizeof(counter) - 1;
    struct rlk_observed_key *key;

    *ret_is_counter = len > more && memcmp(name + len - more, counter, more) == 0;
    if (o->keys.count == 0) {
        return NULL;
    }
    len -= *ret_is_counter ? more : 0;
    key = find_observed(o, name, len);
    return key ? &key->links : NULL;
}

uint64_t rlk_observed_number(const struct rlk_observed *o, const void *value, size_t len)
{
    return rlk_hash(&o->keys.seed, value, len);
}
