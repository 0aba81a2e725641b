/* record.c - when a record of the masters is agreed on, and who votes because of it. */
#include "core/record.h"

#include <string.h>

#include "base/time.h"

int rlk_ballot_compare(const struct rlk_ballot *a, const struct rlk_ballot *b)
{
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return a->id == b->id ? 0 : a->id < b->id ? -1 : 1;
}

static bool is_same_master(const struct rlk_record_master *a, const struct rlk_record_master *b)
{
    return a->mark == b->mark && a->from == b->from && a->until == b->until && a->lost == b->lost &&
           a->len == b->len && memcmp(a->address, b->address, a->len) == 0;
}

bool rlk_record_is_same(const struct rlk_record *a, const struct rlk_record *b)
{
    unsigned i;

    if (a->epoch != b->epoch || a->max_ttl_ms != b->max_ttl_ms || a->n != b->n) {
        return false;
    }
    for (i = 0; i < a->n && is_same_master(&a->master[i], &b->master[i]); i++) {
    }
    return i == a->n;
}

bool rlk_record_was_master(const struct rlk_record *r, const struct rlk_record_master *m)
{
    return m->from < r->epoch && (m->until == 0 || m->until == r->epoch);
}

unsigned rlk_record_size(const struct rlk_record *r)
{
    unsigned i, size = 0;

    for (i = 0; i < r->n; i++) {
        size += rlk_record_is_master(&r->master[i]);
    }
    return size;
}

int rlk_record_find(const struct rlk_record *r, uint64_t mark)
{
    unsigned i;

    for (i = 0; i < r->n; i++) {
        if (mark != 0 && r->master[i].mark == mark) {
            return (int)i;
        }
    }
    return -1;
}

/* ---- majorities ---- */

/* The old masters: those that there were, and those of them that lost their data since. */
static void count_old(const struct rlk_record *r, unsigned *ret_all, unsigned *ret_lost)
{
    unsigned i;

    *ret_all = *ret_lost = 0;
    for (i = 0; i < r->n; i++) {
        if (rlk_record_was_master(r, &r->master[i])) {
            ++*ret_all;
            *ret_lost += r->master[i].lost;
        }
    }
}

/* What has lost its data cannot agree. When too few are left for a majority, all of them have to:
 * the quarantine of those that lost their data keeps locks apart then [S11]. */
static unsigned quorum_of_old(const struct rlk_record *r)
{
    unsigned all, lost, quorum;

    count_old(r, &all, &lost);
    quorum = all > 0 ? rlk_validity_quorum(all) : 0;
    return quorum < all - lost ? quorum : all - lost;
}

static bool may_agree_as_old(const struct rlk_record *r, const struct rlk_record_master *m)
{
    return rlk_record_was_master(r, m) && !m->lost;
}

bool rlk_record_is_newcomer(const struct rlk_record *r, const struct rlk_record_master *m)
{
    unsigned all, lost;

    count_old(r, &all, &lost);
    return m->from == r->epoch && all > 0 && all - lost >= rlk_validity_quorum(all);
}

bool rlk_record_has_newcomers(const struct rlk_record *r)
{
    unsigned i;

    for (i = 0; i < r->n && !rlk_record_is_newcomer(r, &r->master[i]); i++) {
    }
    return i < r->n;
}

bool rlk_record_is_agreed(const struct rlk_record *r, const uint64_t *marks, unsigned n)
{
    unsigned i, old = 0, new = 0;

    for (i = 0; i < n; i++) {
        int at = rlk_record_find(r, marks[i]);

        if (at >= 0) {
            old += may_agree_as_old(r, &r->master[at]);
            new += rlk_record_is_master(&r->master[at]);
        }
    }
    return old >= quorum_of_old(r) && new >= rlk_validity_quorum(rlk_record_size(r));
}

bool rlk_record_is_alive(const struct rlk_record *r, unsigned lost)
{
    unsigned size = rlk_record_size(r);

    return size - (lost < size ? lost : size) >= rlk_validity_quorum(size);
}

/* ---- newcomers ---- */

/* The time when `quorum` of the masters that belong to a set had the record. */
static uint64_t
majority_since(const struct rlk_record *r,
               bool (*belongs)(const struct rlk_record *, const struct rlk_record_master *),
               const uint64_t *marks, const uint64_t *since_us, unsigned n, unsigned quorum)
{
    uint64_t earliest = quorum > 0 ? RLK_NEVER : 0;
    unsigned i, j;

    for (i = 0; i < n; i++) {
        unsigned before = 0;

        for (j = 0; j < n; j++) {
            int at = rlk_record_find(r, marks[j]);

            before += at >= 0 && belongs(r, &r->master[at]) && since_us[j] <= since_us[i];
        }
        if (before >= quorum) {
            earliest = rlk_time_min(earliest, since_us[i]);
        }
    }
    return earliest;
}

static bool is_new(const struct rlk_record *r, const struct rlk_record_master *m)
{
    (void)r;
    return rlk_record_is_master(m);
}

uint64_t rlk_record_settles_us(const struct rlk_record *r, const uint64_t *marks,
                               const uint64_t *since_us, unsigned n, uint64_t wait_us)
{
    uint64_t old = majority_since(r, may_agree_as_old, marks, since_us, n, quorum_of_old(r)),
             new = majority_since(r, is_new, marks, since_us, n,
                                  rlk_validity_quorum(rlk_record_size(r)));

    return rlk_time_add(rlk_time_max(old, new), wait_us);
}
