/* record.h - the record of the masters: which masters there are, as they themselves have it [S15].
 *
 * Each master keeps a copy. Its masters are known by their marks (core/quarantine.h), which stay
 * as long as their data do, and by the addresses at which the clients that wrote the record find
 * them. A change makes a record of the next epoch. Those that were masters before the change are
 * called the old ones here, and those that are masters after it the new ones.
 *
 * A record is agreed on once the same writing of it, with the same ballot, is on a majority of its
 * old and of its new masters. Ballots are those of Paxos: a master accepts no record with an
 * earlier one than it has promised. */
#ifndef RLK_CORE_RECORD_H
#define RLK_CORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/validity.h"

/* A record also names the last former masters: some, and all that a change may
 * replace at once. */
#define RLK_RECORD_FORMER 8
#define RLK_RECORD_MASTERS (2 * RLK_MAX_NODES + RLK_RECORD_FORMER)

/* A newcomer waits for the longest ttl and for this. In this time locks are restored on it. */
#define RLK_RECORD_RESTORE_US 5000000

/* The id is random, so no two writers have the same ballot. */
struct rlk_ballot {
    uint64_t number, id;
};

struct rlk_record_master {
    uint64_t mark;
    uint32_t from, until; /* a master from this epoch on, and until before that; 0: it still is */
    bool lost;            /* it is a former one because it lost its data; what it has instead
                             joined with the same record */
    const char *address;  /* `len` bytes, borrowed from the text that was read */
    size_t len;
};

struct rlk_record {
    struct rlk_ballot ballot; /* number 0: there is no record */
    uint32_t epoch;           /* from 1 on */
    uint32_t max_ttl_ms;
    uint64_t seen_us; /* when we were shown what it says first, by our clock */
    unsigned n;
    struct rlk_record_master master[RLK_RECORD_MASTERS];
};

/* < 0: `a` is earlier; 0: they are the same; > 0: it is later. */
int rlk_ballot_compare(const struct rlk_ballot *a, const struct rlk_ballot *b);

/* Whether both say the same, under any ballot. */
bool rlk_record_is_same(const struct rlk_record *a, const struct rlk_record *b);

/* Which sets a master belongs to. */
static inline bool rlk_record_is_master(const struct rlk_record_master *m)
{
    return m->until == 0;
}

bool rlk_record_was_master(const struct rlk_record *r, const struct rlk_record_master *m);

/* It became a master with this record, of a majority that could agree to that. It votes only when
 * no client relies on the old masters any more. */
bool rlk_record_is_newcomer(const struct rlk_record *r, const struct rlk_record_master *m);

/* How many masters there are. */
unsigned rlk_record_size(const struct rlk_record *r);

/* The newcomers took the places of masters that still have their data, or may have: a lock that is
 * held does not count them either. */
bool rlk_record_moves(const struct rlk_record *r);

/* Whether some of its masters are newcomers. */
bool rlk_record_has_newcomers(const struct rlk_record *r);

/* Where the data with this mark are in the record, or -1: as a master rather than a former one. */
int rlk_record_find(const struct rlk_record *r, uint64_t mark);

/* [M1] Whether the masters with these marks are enough to agree on this record. */
bool rlk_record_is_agreed(const struct rlk_record *r, const uint64_t *marks, unsigned n);

/* Whether enough of its masters may still agree on it, if `lost` of them have lost their data. */
bool rlk_record_is_alive(const struct rlk_record *r, unsigned lost);

/* [M5] Until when the newcomers do not vote: `wait_us` after the time when enough masters had the
 * record. marks and since_us: n masters that have it, and since when, by our clock. RLK_NEVER: too
 * few have it. */
uint64_t rlk_record_settles_us(const struct rlk_record *r, const uint64_t *marks,
                               const uint64_t *since_us, unsigned n, uint64_t wait_us);

#endif
