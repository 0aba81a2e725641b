/* entries.c - a ledger that doubles when it is full. */
#include "node/entries.h"

#include "base/rare.h"

/* Room for some five hundred locks at first; and so much that more would not be released in the
 * time that a companion has. */
#define FIRST_SIZE ((size_t)64 * 1024)
#define MOST_SIZE ((size_t)256 * 1024 * 1024)

int rlk_entries_open(struct rlk_entries *e)
{
    int status = rlk_shared_open(&e->shared, "redlock tokens", FIRST_SIZE);

    if (status == 0) {
        rlk_ledger_begin(&e->ledger, e->shared.memory, e->shared.size);
    }
    return status;
}

void rlk_entries_end(struct rlk_entries *e)
{
    rlk_shared_end(&e->shared);
}

/* No entry is larger than the first size, so one doubling is enough. */
RLK_RARE static uint32_t add_in_more(struct rlk_entries *e, const struct rlk_ledger_entry *entry)
{
    size_t size = 2 * e->shared.size;

    if (size > MOST_SIZE || !rlk_shared_grow(&e->shared, size)) {
        return 0;
    }
    rlk_ledger_grow(&e->ledger, e->shared.memory, e->shared.size);
    return rlk_ledger_enter(&e->ledger, entry);
}

uint32_t rlk_entries_add(struct rlk_entries *e, const struct rlk_ledger_entry *entry)
{
    uint32_t number = rlk_ledger_enter(&e->ledger, entry);

    return number ? number : add_in_more(e, entry);
}

void rlk_entries_remove(struct rlk_entries *e, uint32_t number)
{
    rlk_ledger_remove(&e->ledger, number);
}
