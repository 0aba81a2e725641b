/* proposal.c - the record to write, and whether enough masters have promised. */
#include "core/proposal.h"

#include "base/mask.h"
#include "base/time.h"

/* So many that no record that we have not seen can be agreed on without one of them. For the first
 * record: all. */
bool rlk_membership_may_write(const struct rlk_membership *m,
                              const struct rlk_membership_verdict *v, uint64_t promised)
{
    uint64_t marks[RLK_MAX_NODES];
    unsigned i, n = 0;
    struct rlk_record r;

    if (rlk_membership_next_number(m) > RLK_BALLOT_MOST) {
        return false; /* a broken server shows such a number */
    }
    if (v->task == RLK_RECORD_FIRST) {
        return promised == rlk_membership_listed(m);
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
        if (rlk_match_is_listed(m, i)) {
            add_ours(m, i, r);
        }
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
        int at =
            rlk_match_is_listed(m, i) && m->shown[i].readable ? rlk_membership_find(m, r, i) : -1;

        if (rlk_match_is_lost(m, r, i, at)) {
            r->master[at].until = r->epoch;
            r->master[at].lost = true;
            add_ours(m, i, r);
        }
    }
    if (!settled) {
        begin_again(r, former_epoch);
    }
}

static void write_change(const struct rlk_membership *m, struct rlk_record *r)
{
    int at = m->leaves >= 0 ? rlk_membership_find(m, r, (unsigned)m->leaves) : -1;

    r->epoch++;
    if (at >= 0) {
        r->master[at].until = r->epoch;
    }
    if (m->joins >= 0 && (m->leaves < 0 || at >= 0)) {
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
    } else if (v->task == RLK_RECORD_CHANGED) {
        drop_former(ret_record);
        write_change(m, ret_record);
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
