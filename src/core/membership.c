/* membership.c - compares the records that the masters show with the masters that we were given. */
#include "core/membership.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/inspection.h"

_Static_assert(RLK_RECORD_RESTORE_US == RLK_INSPECTION_OLDEST_US,
               "locks are restored in what the wait is longer than the longest ttl");

void rlk_membership_init(struct rlk_membership *m, unsigned nodes, uint32_t max_ttl_ms,
                         uint32_t drift_ppm)
{
    uint64_t gone_us = rlk_validity_gone_us(rlk_time_from_ms(max_ttl_ms), drift_ppm);

    memset(m, 0, sizeof(*m));
    m->n = nodes;
    m->joins = m->leaves = -1;
    m->max_ttl_ms = max_ttl_ms;
    m->wait_us = rlk_validity_gone_us(rlk_time_add(gone_us, RLK_INSPECTION_OLDEST_US), drift_ppm);
}

/* The master with this mark; NULL: the record has no such master. */
static const struct rlk_record_master *find_master(const struct rlk_record *r, uint64_t mark)
{
    int at = rlk_record_find(r, mark);

    return at >= 0 && rlk_record_is_master(&r->master[at]) ? &r->master[at] : NULL;
}

void rlk_membership_set_mark(struct rlk_membership *m, unsigned node, uint64_t mark)
{
    struct rlk_shown *s = &m->shown[node];

    if (m->last && s->mark != mark && find_master(m->last, s->mark)) {
        s->former_mark = s->mark;
    }
    s->mark = mark;
}

void rlk_membership_clear(struct rlk_membership *m, unsigned node)
{
    struct rlk_shown *s = &m->shown[node];

    *s = (struct rlk_shown){.address = s->address, .len = s->len};
}

/* ---- which master on record is which of ours ---- */

/* The server that joins is not one of our masters yet. */
static bool is_listed(const struct rlk_membership *m, unsigned node)
{
    return (int)node != m->joins;
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

/* It was copied from another master, or was its replica: its mark is on record at another address.
 * Either one of our masters has the mark there, or the record has other data at this address. */
static bool is_copy(const struct rlk_membership *m, const struct rlk_record *r, unsigned node)
{
    const struct rlk_shown *s = &m->shown[node];
    const struct rlk_record_master *on_record = r ? find_master(r, s->mark) : NULL;
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

    for (i = 0; i < m->n && (m->shown[i].mark != mark || is_copy(m, r, i)); i++) {
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

    if (is_outdated(r, s->mark) || is_copy(m, r, node)) {
        return -1;
    }
    return find_master(r, s->mark) ? rlk_record_find(r, s->mark) : find_by_place(m, r, s);
}

/* This master lost its data after the record was written. A mark that we read before we first saw
 * the record may be older than the one on record. */
static bool is_lost(const struct rlk_membership *m, const struct rlk_record *r, unsigned node,
                    int at)
{
    const struct rlk_shown *s = &m->shown[node];

    return at >= 0 && s->mark != 0 && r->master[at].mark != s->mark && s->read_us >= r->seen_us;
}

static unsigned count_lost(const struct rlk_membership *m, const struct rlk_record *r)
{
    unsigned i, lost = 0;

    for (i = 0; i < m->n; i++) {
        lost += is_listed(m, i) && m->shown[i].readable &&
                is_lost(m, r, i, rlk_membership_find(m, r, i));
    }
    return lost;
}

static bool is_alive(const struct rlk_membership *m, const struct rlk_record *r)
{
    return rlk_record_is_alive(r, count_lost(m, r));
}

/* ---- which record holds ---- */

/* A record that does not list the master it is on came there with another master's data. */
static const struct rlk_record *shown_by(const struct rlk_membership *m, unsigned node)
{
    const struct rlk_shown *s = &m->shown[node];

    return s->record && rlk_record_find(s->record, s->mark) >= 0 ? s->record : NULL;
}

static bool is_later(const struct rlk_record *a, const struct rlk_record *b)
{
    return b == NULL || rlk_ballot_compare(&a->ballot, &b->ballot) > 0;
}

/* The masters that have the record under this ballot. */
static unsigned gather(const struct rlk_membership *m, const struct rlk_record *r, uint64_t *marks,
                       uint64_t *since_us)
{
    unsigned i, n = 0;

    for (i = 0; i < m->n; i++) {
        const struct rlk_record *other = shown_by(m, i);

        if (other && rlk_ballot_compare(&other->ballot, &r->ballot) == 0) {
            marks[n] = m->shown[i].mark;
            since_us[n++] = m->shown[i].since_us;
        }
    }
    return n;
}

static bool is_agreed(const struct rlk_membership *m, const struct rlk_record *r)
{
    uint64_t marks[RLK_MAX_NODES], since_us[RLK_MAX_NODES];
    unsigned n = gather(m, r, marks, since_us);

    return rlk_record_is_agreed(r, marks, n);
}

static void use(struct rlk_membership *m, const struct rlk_record *r, uint64_t now_us)
{
    if (m->in_use == NULL || !rlk_record_is_same(m->in_use, r)) {
        m->in_use_us = now_us;
    }
    m->in_use = m->last = r;
}

/* A record stays in use until a later one is agreed on, or until so many of its masters have lost
 * their data that no majority is left. */
static void find_in_use(struct rlk_membership *m, uint64_t now_us)
{
    unsigned i;

    if (m->in_use && !is_alive(m, m->in_use)) {
        m->in_use = NULL;
    }
    for (i = 0; i < m->n; i++) {
        const struct rlk_record *r = shown_by(m, i);

        if (r && is_later(r, m->in_use) && is_agreed(m, r)) {
            use(m, r, now_us);
        }
    }
}

static const struct rlk_record *latest_shown(const struct rlk_membership *m)
{
    const struct rlk_record *latest = NULL;
    unsigned i;

    for (i = 0; i < m->n; i++) {
        const struct rlk_record *r = shown_by(m, i);

        latest = r && is_later(r, latest) ? r : latest;
    }
    return latest;
}

/* ---- is it about our masters? ---- */

/* It was a master, until another server took its place; it may have lost its data since. */
static bool is_former(const struct rlk_record *r, const struct rlk_shown *s)
{
    unsigned i;

    for (i = 0; i < r->n; i++) {
        const struct rlk_record_master *on_record = &r->master[i];

        if (!rlk_record_is_master(on_record) && !on_record->lost &&
            (on_record->mark == s->mark || is_address(on_record, s))) {
            return true;
        }
    }
    return false;
}

static enum rlk_misfit compare_masters(const struct rlk_membership *m, const struct rlk_record *r,
                                       unsigned *ret_node)
{
    unsigned i;

    for (i = 0; i < m->n; i++) {
        *ret_node = i;
        const struct rlk_shown *s = &m->shown[i];

        if (is_listed(m, i) && s->mark != 0 && rlk_membership_find(m, r, i) < 0 &&
            !is_outdated(r, s->mark) && !is_copy(m, r, i) && !is_former(r, s)) {
            return RLK_MISFIT_MASTER;
        }
    }
    return RLK_MISFIT_NOT;
}

static enum rlk_misfit compare_record(const struct rlk_membership *m, const struct rlk_record *r,
                                      unsigned *ret_node)
{
    if (r->max_ttl_ms != m->max_ttl_ms) {
        return RLK_MISFIT_MAX_TTL;
    }
    return rlk_record_size(r) == rlk_membership_count_listed(m) ? compare_masters(m, r, ret_node)
                                                                : RLK_MISFIT_NUMBER;
}

/* Two servers have the same mark, and nobody knows which is the copy. */
static enum rlk_misfit find_copy(const struct rlk_membership *m, const struct rlk_record *r,
                                 unsigned *ret_node)
{
    unsigned i, j;

    for (i = 0; i < m->n; i++) {
        for (j = 0; j < i; j++) {
            if (have_same_mark(m, i, j) && !is_copy(m, r, i) && !is_copy(m, r, j)) {
                *ret_node = i;
                return RLK_MISFIT_COPY;
            }
        }
    }
    return RLK_MISFIT_NOT;
}

static void judge_record(const struct rlk_membership *m, const struct rlk_record *r,
                         struct rlk_membership_verdict *out)
{
    if (out->misfit == RLK_MISFIT_NOT && r) {
        out->record = r;
        out->misfit = compare_record(m, r, &out->node);
    }
}

/* Compare the record in use, and a later one even if a single master has it. An earlier one may be
 * from before a change: masters that show it do not vote until we know which record is in use.
 * While there is no record to use they would vote, so compare all. */
static void judge_fit(const struct rlk_membership *m, const struct rlk_record *latest,
                      const struct rlk_record *by, struct rlk_membership_verdict *out)
{
    unsigned i;

    out->misfit = find_copy(m, m->in_use ? m->in_use : latest, &out->node);
    judge_record(m, m->in_use, out);
    if (latest && is_later(latest, m->in_use)) {
        judge_record(m, latest, out);
    }
    for (i = 0; i < m->n && by == NULL; i++) {
        judge_record(m, shown_by(m, i), out);
    }
}

static bool all_tried(const struct rlk_membership *m)
{
    unsigned i;

    for (i = 0; i < m->n && (m->shown[i].tried || !is_listed(m, i)); i++) {
    }
    return i == m->n;
}

/* A client that changes the masters is connected to the former master and to the new one, so it
 * follows only earlier changes. */
static bool may_move(const struct rlk_membership *m, const struct rlk_record *r, unsigned node)
{
    return is_listed(m, node) && (int)node != m->leaves && is_former(r, &m->shown[node]);
}

/* A master that shows a later record votes again when that one is agreed on. Until we know of an
 * agreed record, only masters that show the latest one vote: if they are a majority, they have
 * agreed on it. */
static bool shows_other(const struct rlk_membership *m, const struct rlk_record *r, unsigned node)
{
    const struct rlk_record *shown = shown_by(m, node);

    if (r == m->in_use) {
        return shown && is_later(shown, r) && !rlk_record_is_same(shown, r);
    }
    return shown == NULL || rlk_ballot_compare(&shown->ballot, &r->ballot) != 0;
}

/* It is on record, and we could read this record there, but it has none or another. */
static bool lacks(const struct rlk_membership *m, const struct rlk_record *r, unsigned node)
{
    const struct rlk_record *shown = shown_by(m, node);

    return m->shown[node].readable && rlk_record_find(r, m->shown[node].mark) >= 0 &&
           (shown == NULL || !rlk_record_is_same(shown, r));
}

/* One of its masters lacks it: the record may still be overruled, or we write it there. */
static bool is_contradicted(const struct rlk_membership *m, const struct rlk_record *r)
{
    unsigned i;

    for (i = 0; i < m->n && !(lacks(m, r, i) && find_master(r, m->shown[i].mark)); i++) {
    }
    return i < m->n;
}

/* Find the first of our masters whose place another server took, and the first master on record
 * that we do not have. We also follow a record that we do not know to be agreed on: perhaps only
 * the masters that we do not have can show that. */
static void judge_moves(const struct rlk_membership *m, const struct rlk_record *by,
                        struct rlk_membership_verdict *out)
{
    bool knows = m->in_use || (all_tried(m) && by && !is_contradicted(m, by));
    const struct rlk_record *r = knows ? by : NULL;
    uint64_t taken[(RLK_RECORD_MASTERS + 63) / 64] = {0};
    unsigned i;

    out->moves = out->moves_to = -1;
    for (i = 0; r && i < m->n && out->misfit == RLK_MISFIT_NOT; i++) {
        int at = rlk_membership_find(m, r, i);

        if (at >= 0) {
            taken[at / 64] |= (uint64_t)1 << at % 64;
        } else if (out->moves < 0 && may_move(m, r, i)) {
            out->moves = (int)i;
        }
    }
    for (i = 0; out->moves >= 0 && i < r->n && out->moves_to < 0; i++) {
        if (rlk_record_is_master(&r->master[i]) && !(taken[i / 64] >> i % 64 & 1)) {
            out->moves_to = (int)i;
        }
    }
}

/* ---- whose votes count ---- */

/* `wait_us` after the record was agreed on: as the clocks of the masters say, or as we saw it. */
static uint64_t agreed_for_us(const struct rlk_membership *m, const struct rlk_record *r,
                              uint64_t wait_us)
{
    uint64_t marks[RLK_MAX_NODES], since_us[RLK_MAX_NODES];
    unsigned n = gather(m, r, marks, since_us);
    uint64_t us = rlk_record_settles_us(r, marks, since_us, n, wait_us);

    return r == m->in_use ? rlk_time_min(us, rlk_time_add(m->in_use_us, wait_us)) : us;
}

static uint64_t settles_us(const struct rlk_membership *m, const struct rlk_record *r)
{
    return agreed_for_us(m, r, m->wait_us);
}

static uint64_t judge_vote(const struct rlk_membership *m, const struct rlk_record *r,
                           unsigned node)
{
    const struct rlk_record_master *on_record = find_master(r, m->shown[node].mark);

    if (on_record == NULL || is_copy(m, r, node) || shows_other(m, r, node)) {
        return RLK_NEVER;
    }
    return rlk_record_is_newcomer(r, on_record) ? settles_us(m, r) : 0;
}

/* [M7] As long as they do not vote, these masters do not extend a held lock: one that shows another
 * record, and one that took the place of a master which may still have its data. */
static bool extends_nothing(const struct rlk_membership *m, const struct rlk_record *r,
                            unsigned node, uint64_t until_us, uint64_t now_us)
{
    int at = rlk_record_find(r, m->shown[node].mark);

    if (!m->shown[node].readable || (until_us <= now_us && until_us != RLK_NEVER)) {
        return false;
    }
    return at >= 0 && (r->master[at].lost || shows_other(m, r, node) ||
                       (rlk_record_is_newcomer(r, &r->master[at]) && rlk_record_moves(r)));
}

/* Its votes count as soon as a record is agreed on, or the masters are known to have no record. */
static bool is_pending(const struct rlk_membership *m, const struct rlk_record *r, unsigned node,
                       uint64_t until_us)
{
    const struct rlk_record_master *on_record = r ? find_master(r, m->shown[node].mark) : NULL;

    return until_us == RLK_NEVER &&
           (r == NULL || (r != m->in_use && on_record && !rlk_record_is_newcomer(r, on_record)));
}

/* Without a record, votes count once every master has had the chance to show one, unless we are
 * about to write the first. */
static void judge_votes(const struct rlk_membership *m, const struct rlk_record *r, uint64_t now_us,
                        struct rlk_membership_verdict *out)
{
    bool writes = m->writes && out->task == RLK_RECORD_FIRST;
    uint64_t without = all_tried(m) && !writes ? 0 : RLK_NEVER;
    unsigned i;

    for (i = 0; i < m->n; i++) {
        if (!m->shown[i].readable) {
            out->until_us[i] = 0;
        } else if (out->misfit != RLK_MISFIT_NOT) {
            out->until_us[i] = RLK_NEVER;
        } else {
            out->until_us[i] = r ? judge_vote(m, r, i) : without;
            out->pending |= is_pending(m, r, i, out->until_us[i]) ? rlk_mask_bit(i) : 0;
        }
        if (r && out->misfit == RLK_MISFIT_NOT &&
            extends_nothing(m, r, i, out->until_us[i], now_us)) {
            out->extends_nothing |= rlk_mask_bit(i);
        }
    }
}

/* ---- what to write ---- */

static bool are_all_known(const struct rlk_membership *m)
{
    unsigned i;

    for (i = 0; i < m->n && m->shown[i].readable && m->shown[i].mark != 0; i++) {
    }
    return i == m->n && all_tried(m);
}

/* Whether one of our masters is on record, perhaps as a former one, and lacks the record. */
static bool is_missing(const struct rlk_membership *m, const struct rlk_record *r)
{
    unsigned i;

    for (i = 0; i < m->n && !(is_listed(m, i) && lacks(m, r, i)); i++) {
    }
    return i < m->n;
}

static bool is_settled(const struct rlk_membership *m, const struct rlk_record *r, uint64_t now_us)
{
    return !rlk_record_has_newcomers(r) || (r == m->in_use && now_us >= settles_us(m, r));
}

/* [M7] The previous change must be over: no client relies on the masters from before it, and each
 * held lock was renewed since, so that the master that joined has its key. */
static uint64_t move_due_us(const struct rlk_membership *m)
{
    const struct rlk_record *r = m->in_use;

    if (rlk_record_has_newcomers(r)) {
        return settles_us(m, r);
    }
    return r->epoch == 1 ? 0 : agreed_for_us(m, r, rlk_time_from_ms(r->max_ttl_ms) / 2);
}

static bool is_move_due(const struct rlk_membership *m, uint64_t now_us)
{
    const struct rlk_record *r = m->in_use;

    return m->joins >= 0 && m->shown[m->joins].readable && now_us >= move_due_us(m) &&
           rlk_record_find(r, m->shown[m->joins].mark) < 0 &&
           rlk_membership_find(m, r, (unsigned)m->joins) < 0 &&
           rlk_membership_find(m, r, (unsigned)m->leaves) >= 0;
}

static void judge_task(const struct rlk_membership *m, const struct rlk_record *latest,
                       uint64_t now_us, struct rlk_membership_verdict *out)
{
    out->base = latest && is_later(latest, m->in_use) ? latest : m->in_use;
    out->base = out->base ? out->base : m->last;
    if (out->misfit != RLK_MISFIT_NOT) {
        out->task = RLK_RECORD_NOTHING;
    } else if (out->base == NULL) {
        out->task = are_all_known(m) ? RLK_RECORD_FIRST : RLK_RECORD_NOTHING;
    } else if (count_lost(m, out->base) > 0) {
        out->task = RLK_RECORD_REPLACED;
        out->settled = is_settled(m, out->base, now_us);
    } else if (out->base != m->in_use || is_missing(m, out->base)) {
        out->task = RLK_RECORD_AGAIN;
    } else if (rlk_record_moves(out->base) && is_settled(m, out->base, now_us)) {
        out->task = RLK_RECORD_SETTLED;
    } else if (is_move_due(m, now_us)) {
        out->task = RLK_RECORD_MOVED;
    }
}

void rlk_membership_judge(struct rlk_membership *m, uint64_t now_us,
                          struct rlk_membership_verdict *out)
{
    const struct rlk_record *latest, *by;

    memset(out, 0, sizeof(*out));
    find_in_use(m, now_us);
    latest = latest_shown(m);
    by = m->in_use;
    if (by == NULL && latest && is_alive(m, latest)) {
        by = latest;
    }
    judge_fit(m, latest, by, out);
    judge_moves(m, by, out);
    judge_task(m, latest, now_us, out);
    judge_votes(m, by, now_us, out);
    if (out->misfit == RLK_MISFIT_NOT) {
        out->record = by;
    }
}

enum rlk_move_stage rlk_membership_move_stage(const struct rlk_membership *m, uint64_t now_us,
                                              uint64_t *ret_until_us)
{
    const struct rlk_record *r = m->in_use;
    uint64_t mark = m->joins >= 0 ? m->shown[m->joins].mark : 0;
    bool is_master = r && find_master(r, mark);

    *ret_until_us = 0;
    if (r == NULL || mark == 0) {
        return RLK_MOVE_UNKNOWN;
    }
    if (!is_settled(m, r, now_us)) {
        *ret_until_us = settles_us(m, r);
        return is_master ? RLK_MOVE_SETTLES : RLK_MOVE_WAITS;
    }
    if (is_master) {
        return rlk_record_moves(r) ? RLK_MOVE_SETTLES : RLK_MOVE_DONE;
    }
    if (now_us < move_due_us(m)) {
        *ret_until_us = move_due_us(m);
        return RLK_MOVE_WAITS;
    }
    return RLK_MOVE_WRITES;
}

/* ---- writing ---- */

/* So many that no record that we have not seen can be agreed on without one of them. For the first
 * record: all. */
bool rlk_membership_may_write(const struct rlk_membership *m,
                              const struct rlk_membership_verdict *v, uint64_t promised)
{
    uint64_t marks[RLK_MAX_NODES];
    unsigned i, n = 0;
    struct rlk_record r;

    if (v->task == RLK_RECORD_FIRST) {
        return promised == rlk_mask_all(m->n);
    }
    for (i = 0; i < m->n; i++) {
        if (promised & rlk_mask_bit(i)) {
            marks[n++] = m->shown[i].mark;
        }
    }
    rlk_membership_write(m, v, &v->base->ballot, &r);
    return rlk_record_is_agreed(&r, marks, n);
}

static void add_ours(const struct rlk_membership *m, unsigned node, struct rlk_record *r)
{
    const struct rlk_shown *s = &m->shown[node];

    if (r->n == RLK_RECORD_MASTERS) {
        return;
    }
    r->master[r->n++] = (struct rlk_record_master){
        .mark = s->mark, .from = r->epoch, .address = s->address, .len = s->len};
}

static void write_first(const struct rlk_membership *m, struct rlk_record *r)
{
    unsigned i;

    r->epoch = 1;
    r->max_ttl_ms = m->max_ttl_ms;
    for (i = 0; i < m->n; i++) {
        add_ours(m, i, r);
    }
}

/* Drop masters that left in an earlier epoch when there are too many of them: the oldest first,
 * which are at the front. */
static void drop_former(struct rlk_record *r)
{
    unsigned i, former = r->n - rlk_record_size(r), n = 0;

    for (i = 0; i < r->n; i++) {
        if (!rlk_record_is_master(&r->master[i]) && r->master[i].until < r->epoch &&
            former > RLK_RECORD_FORMER / 2) {
            former--;
        } else {
            r->master[n++] = r->master[i];
        }
    }
    r->n = n;
}

/* A change that nobody may rely on yet becomes part of this one: its newcomers join with the new
 * epoch, and the masters that they replaced leave with it. */
static void begin_again(struct rlk_record *r, uint32_t former_epoch)
{
    unsigned i, n = 0;

    for (i = 0; i < r->n; i++) {
        struct rlk_record_master *on_record = &r->master[i];

        on_record->from = on_record->from == former_epoch ? r->epoch : on_record->from;
        on_record->until = on_record->until == former_epoch ? r->epoch : on_record->until;
        if (on_record->from < r->epoch || on_record->until == 0) {
            r->master[n++] = *on_record;
        }
    }
    r->n = n;
}

static void write_replaced(const struct rlk_membership *m, bool settled, struct rlk_record *r)
{
    uint32_t former_epoch = r->epoch++;
    unsigned i;

    for (i = 0; i < m->n; i++) {
        int at = is_listed(m, i) && m->shown[i].readable ? rlk_membership_find(m, r, i) : -1;

        if (is_lost(m, r, i, at)) {
            r->master[at].until = r->epoch;
            r->master[at].lost = true;
            add_ours(m, i, r);
        }
    }
    if (!settled) {
        begin_again(r, former_epoch);
    }
}

static void write_moved(const struct rlk_membership *m, struct rlk_record *r)
{
    int at = rlk_membership_find(m, r, (unsigned)m->leaves);

    r->epoch++;
    if (at >= 0) {
        r->master[at].until = r->epoch;
        add_ours(m, (unsigned)m->joins, r);
    }
}

void rlk_membership_write(const struct rlk_membership *m, const struct rlk_membership_verdict *v,
                          const struct rlk_ballot *ballot, struct rlk_record *ret_record)
{
    if (v->task == RLK_RECORD_FIRST) {
        *ret_record = (struct rlk_record){.n = 0};
        write_first(m, ret_record);
    } else {
        *ret_record = *v->base;
    }
    if (v->task == RLK_RECORD_SETTLED) {
        ret_record->epoch++;
    } else if (v->task == RLK_RECORD_MOVED) {
        drop_former(ret_record);
        write_moved(m, ret_record);
    } else if (v->task == RLK_RECORD_REPLACED) {
        drop_former(ret_record);
        write_replaced(m, v->settled, ret_record);
    }
    ret_record->ballot = *ballot;
}

uint64_t rlk_membership_next_number(const struct rlk_membership *m)
{
    uint64_t number = 0;
    unsigned i;

    for (i = 0; i < m->n; i++) {
        const struct rlk_shown *s = &m->shown[i];

        number = rlk_time_max(number, s->promised.number);
        number = s->record ? rlk_time_max(number, s->record->ballot.number) : number;
    }
    return number + 1;
}
