/* match.h - which master on record is which of ours, and whether the list of masters that we were
 * given fits the record [S15, M3, M5, M8]. */
#ifndef RLK_CORE_MATCH_H
#define RLK_CORE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "core/shown.h"

/* [M3] Why our masters are not those on record. */
enum rlk_misfit {
    RLK_MISFIT_NOT = 0,
    RLK_MISFIT_MAX_TTL, /* another max_ttl_ms */
    RLK_MISFIT_NUMBER,  /* more or fewer masters */
    RLK_MISFIT_MASTER,  /* one that is not on record */
    RLK_MISFIT_COPY     /* two with one mark: one is a copy of the other */
};

/* The index of one of ours in a record, as a master; -1: it is not there. */
int rlk_membership_find(const struct rlk_membership *m, const struct rlk_record *r, unsigned node);

/* Which masters on record are ours. */
struct rlk_match {
    uint64_t ours[(RLK_RECORD_MASTERS + 63) / 64];
    unsigned others;  /* how many we have no node for */
    unsigned early;   /* of these, those that did not join later than the first ones */
    unsigned unknown; /* of ours, nodes that may be any of these: what they are is not known yet, or
                         they have the data of others */
};

struct rlk_match rlk_match_of(const struct rlk_membership *m, const struct rlk_record *r);

/* The first master on record for which we have no node, or `last`, the one that joined last; -1: we
 * have nodes for all, or have one at the address of each. */
int rlk_match_find_other(const struct rlk_membership *m, const struct rlk_record *r,
                         const struct rlk_match *x, bool last);

/* Whether this node is one of the masters that we were told. */
bool rlk_match_is_listed(const struct rlk_membership *m, unsigned node);

/* It was copied from another master, or was its replica: its mark is on record at another address.
 * Either one of our masters has the mark there, or the record has other data at this address. */
bool rlk_match_is_copy(const struct rlk_membership *m, const struct rlk_record *r, unsigned node);

/* It has this mark, or is at this address. */
bool rlk_match_may_be(const struct rlk_record_master *on_record, const struct rlk_shown *s);

/* It was a master, until it was removed or another server took its place; it may have lost its data
 * since. NULL: it was none. */
const struct rlk_record_master *rlk_match_find_former(const struct rlk_record *r,
                                                      const struct rlk_shown *s);

/* This master lost its data after the record was written. at: its index there. */
bool rlk_match_is_lost(const struct rlk_membership *m, const struct rlk_record *r, unsigned node,
                       int at);
unsigned rlk_match_count_lost(const struct rlk_membership *m, const struct rlk_record *r);

/* How the record differs from what we were given. *ret_node: MISFIT_MASTER: which of ours. */
enum rlk_misfit rlk_match_compare(const struct rlk_membership *m, const struct rlk_record *r,
                                  unsigned *ret_node);

/* Two servers have the same mark, and nobody knows which is the copy. */
enum rlk_misfit rlk_match_find_copy(const struct rlk_membership *m, const struct rlk_record *r,
                                    unsigned *ret_node);

#endif
