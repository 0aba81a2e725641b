/* membership.c - compares the records that the masters show with the masters that we were given. */
#include "core/membership.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/inspection.h"
#include "core/match.h"

static bool is_alive(const struct rlk_membership *m, const struct rlk_record *r)
{
    return rlk_record_is_alive(r, rlk_match_count_lost(m, r));
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

static void admit_guests(struct rlk_membership *m)
{
    uint64_t left = m->in_use ? m->guests : 0;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (rlk_membership_find(m, m->in_use, node) >= 0) {
            m->guests &= ~rlk_mask_bit(node);
        }
    }
}

/* `wait_us` after the record was agreed on: as the clocks of the masters say, or as we saw it. */
static uint64_t agreed_for_us(const struct rlk_membership *m, const struct rlk_record *r,
                              uint64_t wait_us)
{
    uint64_t marks[RLK_MAX_NODES], since_us[RLK_MAX_NODES];
    unsigned n = gather(m, r, marks, since_us);
    uint64_t us = rlk_record_settles_us(r, marks, since_us, n, wait_us);

    return r == m->in_use ? rlk_time_min(us, rlk_time_add(m->in_use_us, wait_us)) : us;
}

/* A master that shows the next record, or that we leave, no longer says since when it has had the
 * one in use, so keep what it said before. */
static void note_agreed(struct rlk_membership *m)
{
    if (m->in_use) {
        m->in_use_us = agreed_for_us(m, m->in_use, 0);
    }
}

static uint64_t settles_us(const struct rlk_membership *m, const struct rlk_record *r)
{
    return agreed_for_us(m, r, m->wait_us);
}

/* Whether the change that a record makes is over, or it makes none. */
static bool is_settled(const struct rlk_membership *m, const struct rlk_record *r, uint64_t now_us)
{
    bool changes = rlk_record_has_newcomers(r) || rlk_record_changes_servers(r);

    return !changes || (r == m->in_use && now_us >= settles_us(m, r));
}

/* [M8] The old masters still vote, and their number decides what is a majority. */
static bool resizes(const struct rlk_membership *m, const struct rlk_record *r, uint64_t now_us)
{
    return rlk_record_resizes(r) && !is_settled(m, r, now_us);
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

static bool all_tried(const struct rlk_membership *m)
{
    unsigned i;

    for (i = 0; i < m->n && (m->shown[i].tried || !rlk_match_is_listed(m, i)); i++) {
    }
    return i == m->n;
}

/* One of its masters shows it. Former ones may have missed later changes. */
static bool has_master(const struct rlk_membership *m, const struct rlk_record *r)
{
    unsigned i;

    for (i = 0; i < m->n && !(shown_by(m, i) == r && rlk_record_find_master(r, m->shown[i].mark));
         i++) {
    }
    return i < m->n;
}

/* Enough masters of our list are connected that at least one of them has the latest record. */
static bool hears_most(const struct rlk_membership *m)
{
    unsigned i, n = 0;

    for (i = 0; i < m->n; i++) {
        n += m->shown[i].connected && rlk_match_is_listed(m, i);
    }
    return n >= rlk_validity_quorum(rlk_membership_count_listed(m));
}

/* A master that missed a change may be the first one to show its record. So a list with too few or
 * too many masters for it may still fit a later record, until all masters were tried and a majority
 * is connected. (A minority grants no lock anyway.) A list that was found not to fit stays so when
 * a master is lost: otherwise a held lock would go by a record that does not fit [M3]. */
static bool may_fit_later(const struct rlk_membership *m, const struct rlk_record *r)
{
    return r != m->in_use && !(all_tried(m) && hears_most(m)) &&
           rlk_ballot_compare(&r->ballot, &m->unfit) != 0;
}

static void judge_record(const struct rlk_membership *m, const struct rlk_record *r,
                         struct rlk_membership_verdict *out)
{
    if (out->misfit == RLK_MISFIT_NOT && r && (r == m->in_use || has_master(m, r))) {
        out->record = r;
        out->misfit = rlk_match_compare(m, r, &out->node);
        if (out->misfit == RLK_MISFIT_NUMBER && may_fit_later(m, r)) {
            out->misfit = RLK_MISFIT_NOT;
        }
    }
}

/* Compare the record in use, and a later one even if a single master has it. An earlier one may be
 * from before a change: masters that show it do not vote until we know which record is in use.
 * While there is no record to use they would vote, so compare all. */
static void judge_fit(const struct rlk_membership *m, const struct rlk_record *latest,
                      const struct rlk_record *by, struct rlk_membership_verdict *out)
{
    unsigned i;

    out->misfit = rlk_match_find_copy(m, m->in_use ? m->in_use : latest, &out->node);
    judge_record(m, m->in_use, out);
    if (latest && is_later(latest, m->in_use)) {
        judge_record(m, latest, out);
    }
    for (i = 0; i < m->n && by == NULL; i++) {
        judge_record(m, shown_by(m, i), out);
    }
}

/* A client that changes the masters is connected to the former master and to the new one, so it
 * follows only earlier changes. [M8] A master that was removed keeps its vote for a time. */
static bool may_move(const struct rlk_membership *m, const struct rlk_record *r, unsigned node,
                     uint64_t now_us)
{
    const struct rlk_record_master *former = rlk_match_find_former(r, &m->shown[node]);

    return rlk_match_is_listed(m, node) && (int)node != m->leaves && former &&
           rlk_membership_find(m, r, node) < 0 &&
           !(rlk_record_was_master(r, former) && resizes(m, r, now_us));
}

/* A master that shows a later record is relied on for a short time more, and votes again when that
 * one is agreed on. [M6] One that hides its record may have a later one. Until we know of an agreed
 * record, only masters that show the latest one vote: if they are a majority, they have agreed on
 * it. */
static bool shows_other(const struct rlk_membership *m, const struct rlk_record *r, unsigned node,
                        uint64_t now_us)
{
    const struct rlk_record *shown = shown_by(m, node);
    bool hidden = m->shown[node].hidden;

    if (r == m->in_use) {
        return (hidden || (shown && is_later(shown, r) && !rlk_record_is_same(shown, r))) &&
               now_us >= m->shown[node].former_us;
    }
    return hidden || shown == NULL || rlk_ballot_compare(&shown->ballot, &r->ballot) != 0;
}

/* It is on record, and we could read this record there, but it has none or another. */
static bool lacks(const struct rlk_membership *m, const struct rlk_record *r, unsigned node)
{
    const struct rlk_record *shown = shown_by(m, node);

    return m->shown[node].readable && rlk_record_find(r, m->shown[node].mark) >= 0 &&
           (shown == NULL || !rlk_record_is_same(shown, r));
}

static int find_movable(const struct rlk_membership *m, const struct rlk_record *r, uint64_t now_us)
{
    unsigned i;

    for (i = 0; i < m->n && !may_move(m, r, i, now_us); i++) {
    }
    return i < m->n ? (int)i : -1;
}

static void add(const struct rlk_membership *m, const struct rlk_record *r,
                const struct rlk_match *x, struct rlk_membership_verdict *out)
{
    if (x->others > x->unknown) {
        out->adds = rlk_match_find_other(m, r, x, x->unknown > 0);
        out->adds_of = r;
    }
}

/* Find what we have to do to have the masters on record: one node after the other. */
static void follow(const struct rlk_membership *m, uint64_t now_us,
                   struct rlk_membership_verdict *out)
{
    const struct rlk_record *r = m->in_use;
    struct rlk_match x = rlk_match_of(m, r);
    int former = find_movable(m, r, now_us);

    if (former >= 0 && x.others > x.unknown) {
        out->moves_to = rlk_match_find_other(m, r, &x, x.unknown > 0);
        out->moves = out->moves_to >= 0 ? former : -1;
        return;
    }
    add(m, r, &x, out);
    out->vacates = out->adds < 0 ? former : -1;
}

/* It was a master until the change that this record makes, and that may not be over: it votes still
 * [M8], or can show that the record is agreed on. */
static bool is_leaving(const struct rlk_membership *m, const struct rlk_record *r,
                       const struct rlk_record_master *former, uint64_t now_us)
{
    return !rlk_record_is_master(former) && !former->lost && rlk_record_was_master(r, former) &&
           (r != m->in_use || resizes(m, r, now_us));
}

static bool may_be_leaving(const struct rlk_membership *m, const struct rlk_record *r,
                           unsigned node, uint64_t now_us)
{
    unsigned i;

    for (i = 0; i < r->n && !(is_leaving(m, r, &r->master[i], now_us) &&
                              rlk_match_may_be(&r->master[i], &m->shown[node]));
         i++) {
    }
    return i < r->n;
}

static int find_former_guest(const struct rlk_membership *m, const struct rlk_record *r,
                             uint64_t now_us)
{
    uint64_t left = m->guests;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (rlk_membership_find(m, r, node) < 0 && !may_be_leaving(m, r, node, now_us)) {
            return (int)node;
        }
    }
    return -1;
}

/* A master that is leaving and for which we have no node. */
static int find_leaving(const struct rlk_membership *m, const struct rlk_record *r, uint64_t now_us)
{
    unsigned i, node;

    for (i = 0; i < r->n; i++) {
        for (node = 0; node < m->n && !rlk_match_may_be(&r->master[i], &m->shown[node]); node++) {
        }
        if (node == m->n && is_leaving(m, r, &r->master[i], now_us)) {
            return (int)i;
        }
    }
    return -1;
}

/* A majority still shows the record in use: so no other is agreed on yet, whatever a single master
 * shows. */
static bool is_in_use_kept(const struct rlk_membership *m)
{
    unsigned i, n = 0;

    for (i = 0; m->in_use && i < m->n; i++) {
        const struct rlk_record *shown = shown_by(m, i);

        n += shown && m->shown[i].readable && rlk_record_is_same(shown, m->in_use) &&
             rlk_record_find_master(m->in_use, m->shown[i].mark);
    }
    return m->in_use && n >= rlk_validity_quorum(rlk_record_size(m->in_use));
}

/* [M8] Perhaps only the masters that we do not have can show that the latest record is agreed on.
 * So we connect to these as guests; but we leave no master because of it. As long as one of ours is
 * unknown it may be the one that is leaving: no server gets two nodes. A list that does not fit
 * gets no guests: with them it would grow until it fits. */
static void judge_guests(const struct rlk_membership *m, const struct rlk_record *latest,
                         uint64_t now_us, struct rlk_membership_verdict *out)
{
    struct rlk_match x = rlk_match_of(m, latest);
    unsigned misfit;

    out->vacates = latest == m->in_use ? find_former_guest(m, latest, now_us) : -1;
    if (out->vacates >= 0 || (m->in_use == NULL && !all_tried(m)) ||
        (latest != m->in_use && is_in_use_kept(m)) ||
        rlk_match_compare(m, latest, &misfit) != RLK_MISFIT_NOT) {
        return;
    }
    add(m, latest, &x, out);
    if (out->adds < 0 && x.unknown == 0) {
        out->adds = find_leaving(m, latest, now_us);
        out->adds_of = latest;
    }
    out->adds_guest = true;
}

static void judge_moves(const struct rlk_membership *m, const struct rlk_record *latest,
                        uint64_t now_us, struct rlk_membership_verdict *out)
{
    out->moves = out->moves_to = out->adds = out->vacates = -1;
    if (out->misfit != RLK_MISFIT_NOT) {
        return;
    }
    if (m->in_use) {
        follow(m, now_us, out);
    }
    if (out->moves < 0 && out->adds < 0 && out->vacates < 0 && latest) {
        judge_guests(m, latest, now_us, out);
    }
}

/* ---- whose votes count ---- */

/* The master with this mark, if it has a vote at this time, or will have; NULL: it has not. */
static const struct rlk_record_master *find_voter(const struct rlk_membership *m,
                                                  const struct rlk_record *r, unsigned node,
                                                  uint64_t now_us)
{
    int at = rlk_record_find(r, m->shown[node].mark);
    const struct rlk_record_master *on_record = at >= 0 ? &r->master[at] : NULL;

    if (on_record && resizes(m, r, now_us) && rlk_record_was_master(r, on_record)) {
        return on_record->lost ? NULL : on_record;
    }
    return rlk_record_find_master(r, m->shown[node].mark);
}

static uint64_t judge_vote(const struct rlk_membership *m, const struct rlk_record *r,
                           unsigned node, uint64_t now_us)
{
    const struct rlk_record_master *on_record = find_voter(m, r, node, now_us);

    if (on_record == NULL || rlk_match_is_copy(m, r, node) || shows_other(m, r, node, now_us)) {
        return RLK_NEVER;
    }
    return rlk_record_is_newcomer(r, on_record) ? settles_us(m, r) : 0;
}

/* A node of which we do not know yet which master it is may turn out to be one. A former master
 * whose place another took has leases that count until we have connected to that one: replaced. */
static bool is_voter(const struct rlk_membership *m, const struct rlk_record *r, unsigned node,
                     bool old, bool replaced)
{
    int at = rlk_membership_find(m, r, node);
    const struct rlk_record_master *former = rlk_match_find_former(r, &m->shown[node]);

    if (at < 0 && former == NULL) {
        return rlk_match_is_listed(m, node);
    }
    if (old) {
        return rlk_record_was_master(r, at >= 0 ? &r->master[at] : former);
    }
    return at >= 0 || replaced;
}

/* [M8] The number of masters on record counts, whether or not we have nodes for all. */
static struct rlk_voters find_voters(const struct rlk_membership *m, const struct rlk_record *r,
                                     bool old)
{
    struct rlk_voters v = {.size = old ? rlk_record_former_size(r) : rlk_record_size(r)};
    bool replaced = rlk_match_of(m, r).others > 0;
    uint64_t left = rlk_mask_all(m->n) & ~m->vacant;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        v.set |= is_voter(m, r, node, old, replaced) ? rlk_mask_bit(node) : 0;
    }
    return v;
}

/* When the clock alone changes who votes. */
static uint64_t judge_again_us(const struct rlk_membership *m, uint64_t settles, uint64_t now_us)
{
    uint64_t again_us = settles;
    unsigned i;

    for (i = 0; i < m->n; i++) {
        uint64_t until_us = m->shown[i].former_us;

        again_us = until_us > now_us ? rlk_time_min(again_us, until_us) : again_us;
    }
    return again_us;
}

/* [M3] Where the masters do not fit, locks that are held go on with the voters that they had. */
static void judge_voters(struct rlk_membership *m, const struct rlk_record *r, uint64_t now_us,
                         struct rlk_membership_verdict *out)
{
    bool old = r && resizes(m, r, now_us);

    out->again_us = judge_again_us(m, old ? settles_us(m, r) : RLK_NEVER, now_us);
    if (out->misfit == RLK_MISFIT_NOT && r) {
        m->voters = find_voters(m, r, old);
    } else if (out->misfit == RLK_MISFIT_NOT) {
        m->voters = (struct rlk_voters){rlk_membership_listed(m), rlk_membership_count_listed(m)};
    }
    out->voters = m->voters;
}

/* Its record matters: a master that has never let us read it votes without one. */
static bool shows_or_hides(const struct rlk_membership *m, unsigned node)
{
    return m->shown[node].readable || m->shown[node].hidden;
}

/* [M7] Until they vote, these masters do not extend a held lock: one that shows another
 * record or hides it, and one that took the place of a master which may still have its data. */
static bool extends_nothing(const struct rlk_membership *m, const struct rlk_record *r,
                            unsigned node, uint64_t until_us, uint64_t now_us)
{
    int at = rlk_record_find(r, m->shown[node].mark);

    if (!shows_or_hides(m, node) || (until_us <= now_us && until_us != RLK_NEVER)) {
        return false;
    }
    if (m->guests & rlk_mask_bit(node)) {
        return true;
    }
    return at >= 0 && (r->master[at].lost || shows_other(m, r, node, now_us) ||
                       (rlk_record_is_newcomer(r, &r->master[at]) && rlk_record_moves(r)));
}

/* Its votes count as soon as a record is agreed on, or the masters are known to have no record. */
static bool is_pending(const struct rlk_membership *m, const struct rlk_record *r, unsigned node,
                       uint64_t until_us)
{
    const struct rlk_record_master *on_record =
        r ? rlk_record_find_master(r, m->shown[node].mark) : NULL;

    return until_us == RLK_NEVER && !m->shown[node].hidden &&
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
        if (!shows_or_hides(m, i)) {
            out->until_us[i] = 0;
        } else if (out->misfit != RLK_MISFIT_NOT) {
            out->until_us[i] = RLK_NEVER;
        } else {
            out->until_us[i] = r                    ? judge_vote(m, r, i, now_us)
                               : m->shown[i].hidden ? RLK_NEVER
                                                    : without;
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

    for (i = 0; i < m->n &&
                (!rlk_match_is_listed(m, i) || (m->shown[i].readable && m->shown[i].mark != 0));
         i++) {
    }
    return i == m->n && all_tried(m);
}

/* Whether one of our masters is on record, perhaps as a former one, and lacks the record. */
static bool is_missing(const struct rlk_membership *m, const struct rlk_record *r)
{
    unsigned i;

    for (i = 0; i < m->n && !(rlk_match_is_listed(m, i) && lacks(m, r, i)); i++) {
    }
    return i < m->n;
}

/* [M7] The previous change must be over: no client relies on the masters from before it, and each
 * held lock was renewed since, so that the master that joined has its key. */
static uint64_t move_due_us(const struct rlk_membership *m)
{
    const struct rlk_record *r = m->in_use;

    if (rlk_record_has_newcomers(r) || rlk_record_changes_servers(r)) {
        return settles_us(m, r);
    }
    return r->epoch == 1 ? 0 : agreed_for_us(m, r, rlk_time_from_ms(r->max_ttl_ms) / 2);
}

static bool may_join(const struct rlk_membership *m, const struct rlk_record *r)
{
    const struct rlk_shown *s = &m->shown[m->joins];

    return s->readable && rlk_record_find(r, s->mark) < 0 &&
           rlk_membership_find(m, r, (unsigned)m->joins) < 0 &&
           (m->leaves >= 0 || rlk_record_size(r) < RLK_MAX_NODES);
}

static bool may_leave(const struct rlk_membership *m, const struct rlk_record *r)
{
    return rlk_membership_find(m, r, (unsigned)m->leaves) >= 0 &&
           (m->joins >= 0 || rlk_record_size(r) > 1);
}

static bool is_change_due(const struct rlk_membership *m, uint64_t now_us)
{
    const struct rlk_record *r = m->in_use;

    return (m->joins >= 0 || m->leaves >= 0) && now_us >= move_due_us(m) &&
           (m->joins < 0 || may_join(m, r)) && (m->leaves < 0 || may_leave(m, r));
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
    } else if (rlk_match_count_lost(m, out->base) > 0) {
        out->task = RLK_RECORD_REPLACED;
        out->settled = is_settled(m, out->base, now_us);
    } else if (out->base != m->in_use || is_missing(m, out->base)) {
        out->task = RLK_RECORD_AGAIN;
    } else if (rlk_record_changes_servers(out->base) && is_settled(m, out->base, now_us)) {
        out->task = RLK_RECORD_SETTLED;
    } else if (is_change_due(m, now_us)) {
        out->task = RLK_RECORD_CHANGED;
    }
    if (out->task > RLK_RECORD_AGAIN && out->base->epoch == UINT32_MAX) {
        out->task = RLK_RECORD_NOTHING; /* only a broken server shows that */
    }
}

void rlk_membership_judge(struct rlk_membership *m, uint64_t now_us,
                          struct rlk_membership_verdict *out)
{
    const struct rlk_record *latest, *by;
    bool later;

    memset(out, 0, sizeof(*out));
    find_in_use(m, now_us);
    note_agreed(m);
    admit_guests(m);
    latest = latest_shown(m);
    by = m->in_use;
    if (by == NULL && latest && is_alive(m, latest)) {
        by = latest;
    }
    later = latest && is_later(latest, m->in_use) &&
            !(m->in_use && rlk_record_is_same(latest, m->in_use));
    judge_fit(m, latest, by, out);
    if (out->misfit == RLK_MISFIT_NUMBER) {
        m->unfit = out->record->ballot;
    }
    judge_moves(m, later ? latest : m->in_use, now_us, out);
    judge_voters(m, by, now_us, out);
    judge_task(m, latest, now_us, out);
    judge_votes(m, by, now_us, out);
    if (out->misfit == RLK_MISFIT_NOT) {
        out->record = by;
    }
}

/* The others were tried: the one that joins may have a copy of the data of one of them. It shows
 * its mark, and the one that leaves is a master, or was. */
static bool knows_servers(const struct rlk_membership *m, const struct rlk_record *r)
{
    unsigned leaves = m->leaves >= 0 ? (unsigned)m->leaves : 0;

    return all_tried(m) && (m->joins < 0 || m->shown[m->joins].mark != 0) &&
           (m->joins >= 0 || rlk_membership_find(m, r, leaves) >= 0 ||
            rlk_match_find_former(r, &m->shown[leaves]));
}

static bool is_written(const struct rlk_membership *m, const struct rlk_record *r)
{
    if (m->joins >= 0) {
        return rlk_record_find_master(r, m->shown[m->joins].mark) != NULL &&
               !rlk_match_is_copy(m, r, (unsigned)m->joins);
    }
    return rlk_membership_find(m, r, (unsigned)m->leaves) < 0;
}

static enum rlk_move_obstacle obstacle_to_join(const struct rlk_membership *m,
                                               const struct rlk_record *r)
{
    unsigned joins = (unsigned)m->joins;
    int at = rlk_record_find(r, m->shown[joins].mark);

    if (rlk_match_is_copy(m, r, joins)) {
        return RLK_OBSTACLE_COPY;
    }
    return at >= 0 && !rlk_record_is_master(&r->master[at]) ? RLK_OBSTACLE_FORMER_DATA
                                                            : RLK_OBSTACLE_NONE;
}

static enum rlk_move_obstacle obstacle_to_leave(const struct rlk_membership *m,
                                                const struct rlk_record *r)
{
    unsigned leaves = (unsigned)m->leaves;
    bool is_master = rlk_membership_find(m, r, leaves) >= 0;

    if (m->joins >= 0 && is_written(m, r)) {
        return is_master ? RLK_OBSTACLE_BOTH : RLK_OBSTACLE_NONE;
    }
    if (is_master) {
        return m->joins < 0 && rlk_record_size(r) == 1 ? RLK_OBSTACLE_ONLY_MASTER
                                                       : RLK_OBSTACLE_NONE;
    }
    return m->joins >= 0 && rlk_match_find_former(r, &m->shown[leaves]) ? RLK_OBSTACLE_NO_MASTER
                                                                        : RLK_OBSTACLE_NONE;
}

enum rlk_move_obstacle rlk_membership_obstacle(const struct rlk_membership *m)
{
    const struct rlk_record *r = m->in_use;
    enum rlk_move_obstacle obstacle = RLK_OBSTACLE_NONE;

    if (r && m->joins >= 0) {
        obstacle = obstacle_to_join(m, r);
    }
    if (r && m->leaves >= 0 && obstacle == RLK_OBSTACLE_NONE) {
        obstacle = obstacle_to_leave(m, r);
    }
    return obstacle;
}

enum rlk_move_stage rlk_membership_move_stage(const struct rlk_membership *m, uint64_t now_us,
                                              uint64_t *ret_until_us)
{
    const struct rlk_record *r = m->in_use;
    bool written;

    *ret_until_us = 0;
    if (r == NULL || !knows_servers(m, r)) {
        return RLK_MOVE_UNKNOWN;
    }
    written = is_written(m, r);
    if (!is_settled(m, r, now_us)) {
        *ret_until_us = settles_us(m, r);
        return written ? RLK_MOVE_SETTLES : RLK_MOVE_WAITS;
    }
    if (written) {
        return rlk_record_changes_servers(r) ? RLK_MOVE_SETTLES : RLK_MOVE_DONE;
    }
    if (now_us < move_due_us(m)) {
        *ret_until_us = move_due_us(m);
        return RLK_MOVE_WAITS;
    }
    return RLK_MOVE_WRITES;
}
