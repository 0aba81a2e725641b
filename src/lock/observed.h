/* observed.h - finds the observers of a key by its name, when a master reports a change of it. */
#ifndef RLK_LOCK_OBSERVED_H
#define RLK_LOCK_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/table.h"

struct rlk_observed_key;

struct rlk_observed {
    struct rlk_table keys;
};

/* One observer of a key. */
struct rlk_observed_link {
    struct rlk_list link; /* among those of the key */
    struct rlk_observed_key *key;
};

void rlk_observed_init(struct rlk_observed *o, const struct rlk_hash_seed *seed);

/* All have been removed. */
void rlk_observed_end(struct rlk_observed *o);

/* `name`: with the key_prefix. False: out of memory. */
bool rlk_observed_add(struct rlk_observed *o, struct rlk_observed_link *who, const char *name,
                      size_t len);
void rlk_observed_remove(struct rlk_observed *o, struct rlk_observed_link *who);

/* The list of the links of the observers of this key, or of the key whose counter has this name;
 * NULL: there are none. *ret_is_counter is always written. */
struct rlk_list *rlk_observed_find(struct rlk_observed *o, const char *name, size_t len,
                                   bool *ret_is_counter);

/* A number for the bytes of a value that nobody can predict. */
uint64_t rlk_observed_number(const struct rlk_observed *o, const void *value, size_t len);

#endif
