/* match.c - which master on record is which of ours, and whether a list fits the record. */
#include "core/match.h"

#include <string.h>

#include "base/mask.h"

/* ---- places ---- */

bool rlk_match_is_listed(const struct rlk_membership *m, unsigned node)
{
    return (rlk_membership_listed(m) & rlk_mask_bit(node)) != 0;
}

static bool is_address(const struct rlk_record_master *on_record, const struct rlk_shown *s)
{
    return on_record->len == s->len && memcmp(on_record->address, s->address, s->len) == 0;
}

static bool is_shown(const struct rlk_membership *m, uint64_t mark)
{
    unsigned i;

    for (i = 0; i < m->n && m->shown[i].mark != mark; i++) {
    }
    return i < m->n;
}

static bool have_same_mark(const struct rlk_membership *m, unsigned a, unsigned b)
{
    return a != b && m->shown[a].readable && m->shown[b].readable &&
           m->shown[a].mark == m->shown[b].mark;
}

/* The record has another master at this address, and nobody shows that master's data: here are
 * those of another master in their place. */
static bool is_elsewhere(const struct rlk_membership *m, const struct rlk_record *r,
                         const struct rlk_shown *s)
{
    unsigned i;

    for (i = 0; i < r->n; i++) {
        if (rlk_record_is_master(&r->master[i]) && is_address(&r->master[i], s)) {
            return !is_shown(m, r->master[i].mark);
        }
    }
    return false;
}

bool rlk_match_is_copy(const struct rlk_membership *m, const struct rlk_record *r, unsigned node)
{
    const struct rlk_shown *s = &m->shown[node];
    const struct rlk_record_master *on_record = r ? rlk_record_find_master(r, s->mark) : NULL;
    unsigned i;

    if (on_record == NULL || is_address(on_record, s)) {
        return false;
    }
    for (i = 0; i < m->n; i++) {
        if (have_same_mark(m, node, i) && is_address(on_record, &m->shown[i])) {
            return true;
        }
    }
    return is_elsewhere(m, r, s);
}

static bool has_mark(const struct rlk_membership *m, const struct rlk_record *r, uint64_t mark)
{
    unsigned i;

    for (i = 0; i < m->n && (m->shown[i].mark != mark || rlk_match_is_copy(m, r, i)); i++) {
    }
    return i < m->n;
}

/* This mark left the record because its master lost its data, and here it is again: there are two
 * servers, or an old copy of the data was loaded. It does not vote, and takes nobody's place. */
static bool is_outdated(const struct rlk_record *r, uint64_t mark)
{
    int at = rlk_record_find(r, mark);

    return at >= 0 && r->master[at].lost;
}

/* A server whose mark is not on record may be a master that lost its data: it is at the address of
 * one, or it had the mark of one before; and nobody has that mark now. The address takes
 * precedence: the mark may have been that of a copy. */
static int find_by_place(const struct rlk_membership *m, const struct rlk_record *r,
                         const struct rlk_shown *s)
{
    int by_mark = -1;
    unsigned i;

    for (i = 0; i < r->n; i++) {
        const struct rlk_record_master *on_record = &r->master[i];

        if (rlk_record_is_master(on_record) && !has_mark(m, r, on_record->mark)) {
            if (is_address(on_record, s)) {
                return (int)i;
            }
            by_mark = on_record->mark == s->former_mark ? (int)i : by_mark;
        }
    }
    return by_mark;
}

int rlk_membership_find(const struct rlk_membership *m, const struct rlk_record *r, unsigned node)
{
    const struct rlk_shown *s = &m->shown[node];

    if (is_outdated(r, s->mark) || rlk_match_is_copy(m, r, node)) {
        return -1;
    }
    return rlk_record_find_master(r, s->mark) ? rlk_record_find(r, s->mark)
                                              : find_by_place(m, r, s);
}

/* A mark that we read before we first saw the record may be older than the one on record. */
bool rlk_match_is_lost(const struct rlk_membership *m, const struct rlk_record *r, unsigned node,
                       int at)
{
    const struct rlk_shown *s = &m->shown[node];

    return at >= 0 && s->mark != 0 && r->master[at].mark != s->mark && s->read_us >= r->seen_us;
}

unsigned rlk_match_count_lost(const struct rlk_membership *m, const struct rlk_record *r)
{
    unsigned i, lost = 0;

    for (i = 0; i < m->n; i++) {
        lost += rlk_match_is_listed(m, i) && m->shown[i].readable &&
                rlk_match_is_lost(m, r, i, rlk_membership_find(m, r, i));
    }
    return lost;
}

bool rlk_match_may_be(const struct rlk_record_master *on_record, const struct rlk_shown *s)
{
    return on_record->mark == s->mark || is_address(on_record, s);
}

const struct rlk_record_master *rlk_match_find_former(const struct rlk_record *r,
                                                      const struct rlk_shown *s)
{
    unsigned i;

    for (i = 0; i < r->n; i++) {
        const struct rlk_record_master *on_record = &r->master[i];

        if (!rlk_record_is_master(on_record) && !on_record->lost &&
            rlk_match_may_be(on_record, s)) {
            return on_record;
        }
    }
    return NULL;
}

/* ---- all of them ---- */

static bool is_matched(const struct rlk_match *x, unsigned at)
{
    return (x->ours[at / 64] >> at % 64 & 1) != 0;
}

static void match_nodes(const struct rlk_membership *m, const struct rlk_record *r,
                        struct rlk_match *x)
{
    unsigned i;

    for (i = 0; i < m->n; i++) {
        int at = rlk_membership_find(m, r, i);

        if (at >= 0) {
            x->ours[at / 64] |= (uint64_t)1 << at % 64;
        } else if (rlk_match_is_listed(m, i)) {
            x->unknown += rlk_match_find_former(r, &m->shown[i]) == NULL;
        }
    }
}

struct rlk_match rlk_match_of(const struct rlk_membership *m, const struct rlk_record *r)
{
    struct rlk_match x = {.others = 0};
    unsigned i;

    match_nodes(m, r, &x);
    for (i = 0; i < r->n; i++) {
        if (rlk_record_is_master(&r->master[i]) && !is_matched(&x, i)) {
            x.others++;
            x.early += !rlk_record_joined_later(r, i);
        }
    }
    return x;
}

/* The server at that address may have shown another mark before; a second node would reach the same
 * server. */
static bool have_node_at(const struct rlk_membership *m, const struct rlk_record_master *on_record)
{
    unsigned i;

    for (i = 0; i < m->n && !is_address(on_record, &m->shown[i]); i++) {
    }
    return i < m->n;
}

int rlk_match_find_other(const struct rlk_membership *m, const struct rlk_record *r,
                         const struct rlk_match *x, bool last)
{
    int found = -1;
    unsigned i;

    for (i = 0; i < r->n; i++) {
        if (rlk_record_is_master(&r->master[i]) && !is_matched(x, i) &&
            !have_node_at(m, &r->master[i]) &&
            (found < 0 || (last && r->master[i].from > r->master[found].from))) {
            found = (int)i;
        }
    }
    return found;
}

/* ---- whether they fit ---- */

static enum rlk_misfit compare_masters(const struct rlk_membership *m, const struct rlk_record *r,
                                       unsigned *ret_node)
{
    unsigned i;

    for (i = 0; i < m->n; i++) {
        *ret_node = i;
        const struct rlk_shown *s = &m->shown[i];

        if (rlk_match_is_listed(m, i) && s->mark != 0 && rlk_membership_find(m, r, i) < 0 &&
            !is_outdated(r, s->mark) && !rlk_match_is_copy(m, r, i) &&
            rlk_match_find_former(r, s) == NULL) {
            return RLK_MISFIT_MASTER;
        }
    }
    return RLK_MISFIT_NOT;
}

static bool may_be_ours(const struct rlk_membership *m, const struct rlk_record_master *on_record)
{
    unsigned i;

    for (i = 0; i < m->n && !rlk_match_may_be(on_record, &m->shown[i]); i++) {
    }
    return i < m->n;
}

/* Masters that left, and that none of ours is known to be. */
static unsigned count_absent(const struct rlk_membership *m, const struct rlk_record *r)
{
    unsigned i, n = 0;

    for (i = 0; i < r->n; i++) {
        const struct rlk_record_master *on_record = &r->master[i];

        n += !rlk_record_is_master(on_record) && !on_record->lost && !may_be_ours(m, on_record);
    }
    return n;
}

/* [M8] A list from before a change is fine: it lacks masters that joined later, and has some that
 * left. A master that is on record under another address is recognised by its mark: until it shows
 * that, it may be any of these. */
static enum rlk_misfit compare_number(const struct rlk_membership *m, const struct rlk_record *r)
{
    struct rlk_match x = rlk_match_of(m, r);

    return x.early > x.unknown || x.unknown > x.others + count_absent(m, r) ? RLK_MISFIT_NUMBER
                                                                            : RLK_MISFIT_NOT;
}

enum rlk_misfit rlk_match_compare(const struct rlk_membership *m, const struct rlk_record *r,
                                  unsigned *ret_node)
{
    enum rlk_misfit misfit;

    if (r->max_ttl_ms != m->max_ttl_ms) {
        return RLK_MISFIT_MAX_TTL;
    }
    misfit = compare_masters(m, r, ret_node);
    return misfit == RLK_MISFIT_NOT ? compare_number(m, r) : misfit;
}

enum rlk_misfit rlk_match_find_copy(const struct rlk_membership *m, const struct rlk_record *r,
                                    unsigned *ret_node)
{
    unsigned i, j;

    for (i = 0; i < m->n; i++) {
        for (j = 0; j < i; j++) {
            if (have_same_mark(m, i, j) && !rlk_match_is_copy(m, r, i) &&
                !rlk_match_is_copy(m, r, j)) {
                *ret_node = i;
                return RLK_MISFIT_COPY;
            }
        }
    }
    return RLK_MISFIT_NOT;
}
