/* record.h - the record of the masters: which servers are masters, stored on the masters [S15].
 *
 * Each master keeps a copy. A record identifies a master by its mark (core/quarantine.h), which
 * stays as long as its data do, and by the address at which the client that added it finds it. A
 * change makes a record of the next epoch. Those that were masters before the change are called the
 * old ones here, and those that are masters after it the new ones.
 *
 * A record is agreed on once a majority of its old masters and a majority of its new ones have it
 * under the same ballot. Ballots are those of Paxos: a master accepts no record with an earlier one
 * than it has promised. */
#ifndef RLK_CORE_RECORD_H
#define RLK_CORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/validity.h"

/* A record also lists former masters: the latest ones, and all that one change may replace. */
#define RLK_RECORD_FORMER 8
#define RLK_RECORD_MASTERS (2 * RLK_MAX_NODES + RLK_RECORD_FORMER)

/* A newcomer waits for the longest ttl, and then for this long, while locks are restored on it. */
#define RLK_RECORD_RESTORE_US 5000000

/* The largest number of a ballot: Lua and Redis compute with it as a double. */
#define RLK_BALLOT_MOST (UINT64_C(1) << 53)

/* The id is random, so no two writers have the same ballot. */
struct rlk_ballot {
    uint64_t number, id;
};

struct rlk_record_master {
    uint64_t mark;
    uint32_t from;       /* the epoch with which it joined */
    uint32_t until;      /* and that with which it left; 0: it still is a master */
    bool lost;           /* it is a former one because it lost its data; what it has instead
                            joined with the same record */
    const char *address; /* `len` bytes, borrowed from the text that was read */
    size_t len;
};

struct rlk_record {
    struct rlk_ballot ballot; /* number 0: there is no record */
    uint32_t epoch;           /* from 1 on */
    uint32_t max_ttl_ms;
    uint64_t seen_us; /* when we first saw what it says, by our clock */
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

/* It joined with this record, and most old masters still have their data. It votes only when no
 * client relies on the old masters any more. */
bool rlk_record_is_newcomer(const struct rlk_record *r, const struct rlk_record_master *m);

/* How many masters there are, and how many there were before. */
unsigned rlk_record_size(const struct rlk_record *r);
unsigned rlk_record_former_size(const struct rlk_record *r);

/* Masters left that may still have their data. Where newcomers took their places, held locks do not
 * count these yet, either. */
bool rlk_record_moves(const struct rlk_record *r);

/* It changes which servers are masters, and not only their data. */
bool rlk_record_changes_servers(const struct rlk_record *r);

/* [M8] It changes how many masters there are, and most old masters still have their data: until the
 * change is over, the old masters vote, by their number. */
bool rlk_record_resizes(const struct rlk_record *r);

/* Whether some of its masters are newcomers. */
bool rlk_record_has_newcomers(const struct rlk_record *r);

/* Whether this master joined after the first record was written, and not in the place of data that
 * were lost: a list from before lacks it. */
bool rlk_record_joined_later(const struct rlk_record *r, unsigned index);

/* The master with this mark; NULL: the record has no such master. Each judgement of the masters
 * asks this a hundred times (core/membership.c). */
static inline const struct rlk_record_master *rlk_record_find_master(const struct rlk_record *r,
                                                                     uint64_t mark)
{
    unsigned i;

    for (i = mark ? r->n : 0; i > 0; i--) {
        if (r->master[i - 1].mark == mark && rlk_record_is_master(&r->master[i - 1])) {
            return &r->master[i - 1];
        }
    }
    return NULL;
}

/* The index of this mark in a record; -1: it is not there. If it is there twice, because it left
 * the record and came back, that of the master, not of the former one. */
static inline int rlk_record_find(const struct rlk_record *r, uint64_t mark)
{
    const struct rlk_record_master *m = rlk_record_find_master(r, mark);
    unsigned i;

    if (m) {
        return (int)(m - r->master);
    }
    for (i = 0; mark && i < r->n; i++) {
        if (r->master[i].mark == mark) {
            return (int)i;
        }
    }
    return -1;
}

/* [M1] Whether the masters with these marks are enough to agree on this record. */
bool rlk_record_is_agreed(const struct rlk_record *r, const uint64_t *marks, unsigned n);

/* Whether enough of its masters may still agree on it, if `lost` of them have lost their data. */
bool rlk_record_is_alive(const struct rlk_record *r, unsigned lost);

/* [M5] When newcomers begin to vote: `wait_us` after enough masters had the record. marks and
 * since_us: n masters that have it, and since when, by our clock. RLK_NEVER: too few have it. */
uint64_t rlk_record_settles_us(const struct rlk_record *r, const uint64_t *marks,
                               const uint64_t *since_us, unsigned n, uint64_t wait_us);

#endif
