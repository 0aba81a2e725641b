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

static bool have_same_address(const struct rlk_record_master *a, const struct rlk_record_master *b)
{
    return a->len == b->len && memcmp(a->address, b->address, a->len) == 0;
}

static bool is_same_master(const struct rlk_record_master *a, const struct rlk_record_master *b)
{
    return a->mark == b->mark && a->from == b->from && a->until == b->until && a->lost == b->lost &&
           have_same_address(a, b);
}

bool rlk_record_is_same(const struct rlk_record *a, const struct rlk_record *b)
{
    unsigned i;

    if (a == b) {
        return true;
    }
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

/* ---- majorities ---- */

/* Count the old masters, and those of them that have lost their data since. */
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

unsigned rlk_record_former_size(const struct rlk_record *r)
{
    unsigned all, lost;

    count_old(r, &all, &lost);
    return all;
}

/* When most of the old masters lost their data, the quarantine keeps locks apart, as without a
 * record [S11]. */
static bool are_old_alive(const struct rlk_record *r)
{
    unsigned all, lost;

    count_old(r, &all, &lost);
    return all > 0 && all - lost >= rlk_validity_quorum(all);
}

bool rlk_record_is_newcomer(const struct rlk_record *r, const struct rlk_record_master *m)
{
    return m->from == r->epoch && are_old_alive(r);
}

bool rlk_record_resizes(const struct rlk_record *r)
{
    return rlk_record_former_size(r) != rlk_record_size(r) && are_old_alive(r);
}

bool rlk_record_moves(const struct rlk_record *r)
{
    unsigned i;

    for (i = 0; i < r->n; i++) {
        const struct rlk_record_master *m = &r->master[i];

        if (m->until == r->epoch && !m->lost) {
            return true;
        }
    }
    return false;
}

/* The one whose data were lost when this one joined; NULL: it took no such place. */
static const struct rlk_record_master *find_lost(const struct rlk_record *r,
                                                 const struct rlk_record_master *m)
{
    unsigned i;

    for (i = 0; i < r->n; i++) {
        const struct rlk_record_master *o = &r->master[i];

        if (o->lost && o->until == m->from && o->from < m->from && have_same_address(o, m)) {
            return o;
        }
    }
    return NULL;
}

/* It joined at the address of a master that lost its data with the same record. */
static bool is_in_place(const struct rlk_record *r, const struct rlk_record_master *m)
{
    return m->from == r->epoch && find_lost(r, m) != NULL;
}

/* How many joined that are not new data in the place of lost ones. */
static unsigned count_added(const struct rlk_record *r)
{
    unsigned i, all, lost, joined = 0;

    count_old(r, &all, &lost);
    for (i = 0; i < r->n; i++) {
        joined += r->master[i].from == r->epoch;
    }
    return joined > lost ? joined - lost : 0;
}

bool rlk_record_changes_servers(const struct rlk_record *r)
{
    return rlk_record_former_size(r) > 0 && (rlk_record_moves(r) || count_added(r) > 0);
}

bool rlk_record_joined_later(const struct rlk_record *r, unsigned index)
{
    const struct rlk_record_master *m = &r->master[index], *lost;

    while ((lost = find_lost(r, m)) != NULL) {
        m = lost;
    }
    return m->from > 1;
}

bool rlk_record_has_newcomers(const struct rlk_record *r)
{
    unsigned i;

    for (i = 0; i < r->n && !rlk_record_is_newcomer(r, &r->master[i]); i++) {
    }
    return i < r->n;
}

/* How many of each kind agree. in_place: of those that joined, those that surely are new data in
 * the place of lost ones. */
struct votes {
    unsigned old, in_place, joined, new;
};

static void count_vote(const struct rlk_record *r, uint64_t mark, struct votes *v)
{
    int at = rlk_record_find(r, mark);
    const struct rlk_record_master *m = at >= 0 ? &r->master[at] : NULL;

    if (m) {
        v->old += rlk_record_was_master(r, m) && !m->lost;
        v->in_place += is_in_place(r, m);
        v->joined += m->from == r->epoch && !is_in_place(r, m);
        v->new += rlk_record_is_master(m);
    }
}

/* The new data of an old master agree in the place of those that it lost. They may be at another
 * address: then they cannot be told from servers that were added, so these are subtracted. */
static bool is_enough(const struct rlk_record *r, const struct votes *v)
{
    unsigned all, lost, added = count_added(r);
    unsigned in_place = v->in_place + (v->joined > added ? v->joined - added : 0);

    count_old(r, &all, &lost);
    lost = lost < in_place ? lost : in_place;
    return (all == 0 || v->old + lost >= rlk_validity_quorum(all)) &&
           v->new >= rlk_validity_quorum(rlk_record_size(r));
}

/* A server that moved may still be listed at its old address, too. */
static bool is_repeated(const uint64_t *marks, unsigned i)
{
    unsigned j;

    for (j = 0; j < i && marks[j] != marks[i]; j++) {
    }
    return j < i;
}

/* Whether those that had it by then had agreed on it. since_us NULL: whether all of these do. */
static bool was_agreed(const struct rlk_record *r, const uint64_t *marks, const uint64_t *since_us,
                       unsigned n, uint64_t then_us)
{
    struct votes v = {0};
    unsigned i;

    for (i = 0; i < n; i++) {
        if ((since_us == NULL || since_us[i] <= then_us) && !is_repeated(marks, i)) {
            count_vote(r, marks[i], &v);
        }
    }
    return is_enough(r, &v);
}

bool rlk_record_is_agreed(const struct rlk_record *r, const uint64_t *marks, unsigned n)
{
    return was_agreed(r, marks, NULL, n, 0);
}

bool rlk_record_is_alive(const struct rlk_record *r, unsigned lost)
{
    unsigned size = rlk_record_size(r);

    return size - (lost < size ? lost : size) >= rlk_validity_quorum(size);
}

uint64_t rlk_record_settles_us(const struct rlk_record *r, const uint64_t *marks,
                               const uint64_t *since_us, unsigned n, uint64_t wait_us)
{
    uint64_t agreed_us = RLK_NEVER;
    unsigned i;

    for (i = 0; i < n; i++) {
        if (since_us[i] < agreed_us && was_agreed(r, marks, since_us, n, since_us[i])) {
            agreed_us = since_us[i];
        }
    }
    return rlk_time_add(agreed_us, wait_us);
}
