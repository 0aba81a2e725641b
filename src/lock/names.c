/* names.c - a table of names, which are also in one list. */
#include "lock/names.h"

#include <string.h>

#include "base/alloc.h"
#include "node/claim.h"
#include "node/command.h"

void rlk_names_init(struct rlk_names *names, const struct rlk_hash_seed *seed, void *owner)
{
    rlk_table_init(&names->table, seed);
    names->owner = owner;
    names->all = NULL;
    names->last = names->waiting = &names->all;
    names->taken = 0;
}

void rlk_names_end(struct rlk_names *names)
{
    struct rlk_name *name = names->all, *next;

    for (; name; name = next) {
        next = name->next;
        rlk_free(name);
    }
    rlk_table_end(&names->table);
}

static struct rlk_name *make_name(const struct rlk_key *key)
{
    struct rlk_name *name = rlk_alloc(sizeof(*name) + key->len + 1);

    if (name) {
        memcpy(name->bytes, key->bytes, key->len);
        name->bytes[key->len] = '\0';
        name->entry.key = name->bytes;
        name->entry.len = (uint32_t)key->len;
    }
    return name;
}

bool rlk_names_add(struct rlk_names *names, const struct rlk_key *key)
{
    struct rlk_name *name;

    if (rlk_table_find(&names->table, key->bytes, key->len)) {
        return true;
    }
    name = make_name(key);
    if (name == NULL) {
        return false;
    }
    name->owner = names->owner;
    name->next = NULL;
    *names->last = name;
    names->last = &name->next;
    rlk_table_insert(&names->table, &name->entry);
    return true;
}

struct rlk_name *rlk_names_take(struct rlk_names *names)
{
    struct rlk_name *name = *names->waiting;

    if (name) {
        names->waiting = &name->next;
        names->taken++;
    }
    return name;
}

/* ---- what is not the name of a lock ---- */

static bool ends_in(const struct rlk_key *name, const char *end)
{
    size_t len = strlen(end);

    return name->len > len && memcmp(name->bytes + name->len - len, end, len) == 0;
}

/* Whether it is one of our own keys, after the prefix. */
static bool is_key(const struct rlk_key *name, const struct rlk_key *key_prefix, const char *own)
{
    size_t len = strlen(own);

    return name->len == key_prefix->len + len &&
           memcmp(name->bytes + key_prefix->len, own, len) == 0;
}

bool rlk_names_is_own(const struct rlk_key *name, const struct rlk_key *key_prefix)
{
    return ends_in(name, RLK_COMMAND_COUNTER) || ends_in(name, RLK_COMMAND_WAITING) ||
           ends_in(name, RLK_COMMAND_BID) || is_key(name, key_prefix, RLK_COMMAND_INCARNATION) ||
           is_key(name, key_prefix, RLK_COMMAND_RECORD);
}
