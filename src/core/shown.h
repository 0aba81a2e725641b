/* shown.h - our masters, and what each of them has shown [S15]. */
#ifndef RLK_CORE_SHOWN_H
#define RLK_CORE_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/record.h"
#include "core/validity.h"

/* What one of our masters has shown. */
struct rlk_shown {
    const char *address; /* `len` bytes: how a record calls it */
    size_t len;
    bool tried;           /* it is connected and we know its record, or an attempt to connect to it
                             has failed */
    bool connected;       /* so it may vote, also where nothing can be read */
    bool readable;        /* it is connected, and its mark and its record can be read */
    bool shows;           /* we can read the key of its record, or could before */
    bool hidden;          /* we could read it before, and cannot now: it may have any record */
    uint64_t mark;        /* the last one that we read; 0: none yet */
    uint64_t read_us;     /* we asked for it then or later, by our clock */
    uint64_t former_mark; /* one that was on record, before this one; 0: none */
    struct rlk_ballot promised;
    const struct rlk_record *record; /* NULL: it has none */
    uint64_t former_us; /* until when it may be relied on as if it still showed the record in use,
                           which it has shown before this one; 0: not */
    uint64_t since_us;  /* since when it has had this one, by our clock */
};

struct rlk_membership {
    unsigned n;
    uint32_t max_ttl_ms;
    int joins, leaves; /* who changes the masters: the server that joins, and the master that
                          leaves, whose place it takes if both are given; -1: none */
    uint64_t vacant;   /* of our nodes: their masters were removed, and they have no server */
    uint64_t guests; /* of our nodes: servers that a record lists which we do not know to be agreed
                        on, and masters that are leaving: they may show that it is */
    bool writes; /* we write the first record, if no master has one: until then no vote counts */
    uint64_t wait_us; /* the longest ttl, the drift, and how old an inspection may be */
    struct rlk_shown shown[RLK_MAX_NODES];
    const struct rlk_record *in_use; /* the last one that was agreed on, as far as we know; NULL:
                                        none, or too many of its masters lost their data */
    const struct rlk_record *last;   /* the same, but it stays then */
    struct rlk_voters voters;        /* whose majority decides [M8] */
    uint64_t in_use_us;              /* since when it is, as far as we know */
    struct rlk_ballot unfit; /* of the last record that has another number of masters than we were
                                told */
};

void rlk_membership_init(struct rlk_membership *m, unsigned nodes, uint32_t max_ttl_ms,
                         uint32_t drift_ppm);

/* The mark of a master was read. */
void rlk_membership_set_mark(struct rlk_membership *m, unsigned node, uint64_t mark);

/* What a master shows was read: this record, or NULL. */
void rlk_membership_set_record(struct rlk_membership *m, unsigned node,
                               const struct rlk_record *record);

/* [M6] We may not read the key of its record. What it has shown before stays. */
void rlk_membership_hide_record(struct rlk_membership *m, unsigned node);

/* [S11] We were suspended, and our clock did not count that: what was shown before is old. */
void rlk_membership_suspended(struct rlk_membership *m);

/* Another server takes the place of one of ours: nothing is known of it. */
void rlk_membership_clear(struct rlk_membership *m, unsigned node);

/* Our nodes that are masters as far as we know: without the one that is to become one, without
 * guests, and without those that were removed. */
uint64_t rlk_membership_listed(const struct rlk_membership *m);
unsigned rlk_membership_count_listed(const struct rlk_membership *m);

/* One more node, for a master on record that we do not have. Or a node has no server any more,
 * because its master was removed. Their addresses are empty until the caller fills them in. */
void rlk_membership_add(struct rlk_membership *m);
void rlk_membership_vacate(struct rlk_membership *m, unsigned node);

#endif
