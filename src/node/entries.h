/* entries.h - the tokens that a manager uses, for the companion that releases them when this
 * process is dead: a ledger (base/ledger.h) in memory that the companion can map, which grows. */
#ifndef RLK_NODE_ENTRIES_H
#define RLK_NODE_ENTRIES_H

#include <stdint.h>

#include "base/ledger.h"
#include "net/shared.h"

struct rlk_entries {
    struct rlk_shared shared;
    struct rlk_ledger ledger;
};

/* 0, REDLOCK_ENOMEM or REDLOCK_ESYSTEM. */
int rlk_entries_open(struct rlk_entries *e);
void rlk_entries_end(struct rlk_entries *e);

/* The number of the new entry; 0: out of memory. No system call, unless the memory has to grow. */
uint32_t rlk_entries_add(struct rlk_entries *e, const struct rlk_ledger_entry *entry);
void rlk_entries_remove(struct rlk_entries *e, uint32_t number);

#endif
