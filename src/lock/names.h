/* names.h - the names of keys that a list has found: each once, in the order in which they came.
 *
 *     found, again and again ---> rlk_names_add() ---> kept once, and waits ---> rlk_names_take()
 *
 * All are kept until the end, so that a name that another master sends later is known. */
#ifndef RLK_LOCK_NAMES_H
#define RLK_LOCK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/table.h"

struct rlk_key;

struct rlk_name {
    struct rlk_table_entry entry; /* its bytes, which a NUL follows */
    struct rlk_name *next;
    void *owner; /* of the struct rlk_names */
    char bytes[];
};

struct rlk_names {
    struct rlk_table table;
    void *owner;
    struct rlk_name *all;
    struct rlk_name **last;    /* where the next one is linked */
    struct rlk_name **waiting; /* where the first one is that was not taken */
    size_t taken;
};

void rlk_names_init(struct rlk_names *names, const struct rlk_hash_seed *seed, void *owner);
void rlk_names_end(struct rlk_names *names);

/* False: out of memory. */
bool rlk_names_add(struct rlk_names *names, const struct rlk_key *name);

/* The next name, which stays where it is; NULL: all were taken. */
struct rlk_name *rlk_names_take(struct rlk_names *names);

/* How many there are, and how many wait. */
static inline size_t rlk_names_count(const struct rlk_names *names)
{
    return names->table.count;
}

static inline size_t rlk_names_waiting(const struct rlk_names *names)
{
    return names->table.count - names->taken;
}

/* Whether the library itself made a key with this name, beside one that is locked: its counter, its
 * wait queue, or the bids of an election; or the incarnation key. key_prefix: of the manager. */
bool rlk_names_is_own(const struct rlk_key *name, const struct rlk_key *key_prefix);

#endif
