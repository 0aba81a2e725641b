/* shown.c - keeps what the masters have shown. */
#include "core/shown.h"

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
    m->voters = (struct rlk_voters){rlk_mask_all(nodes), nodes};
    m->max_ttl_ms = max_ttl_ms;
    m->wait_us = rlk_validity_gone_us(rlk_time_add(gone_us, RLK_INSPECTION_OLDEST_US), drift_ppm);
}

void rlk_membership_set_mark(struct rlk_membership *m, unsigned node, uint64_t mark)
{
    struct rlk_shown *s = &m->shown[node];

    if (m->last && s->mark != mark && rlk_record_find_master(m->last, s->mark)) {
        s->former_mark = s->mark;
    }
    s->mark = mark;
}

static bool shows_in_use(const struct rlk_membership *m, const struct rlk_shown *s)
{
    return m->in_use && s->record && rlk_record_is_same(s->record, m->in_use);
}

/* [M2] A lease that is asked for at most so long after it showed the record in use has ended when
 * the newcomers of a later one vote. */
static uint64_t former_until_us(const struct rlk_shown *s)
{
    return rlk_time_add(s->read_us, RLK_INSPECTION_OLDEST_US);
}

void rlk_membership_set_record(struct rlk_membership *m, unsigned node,
                               const struct rlk_record *record)
{
    struct rlk_shown *s = &m->shown[node];
    bool showed_it = shows_in_use(m, s);

    if (record == NULL || m->in_use == NULL || rlk_record_is_same(record, m->in_use)) {
        s->former_us = 0;
    } else if (showed_it) {
        s->former_us = former_until_us(s);
    }
    s->record = record;
    s->shows = true;
    s->hidden = false;
}

/* For a master that has shown another record than the one in use, the time is known already. */
void rlk_membership_hide_record(struct rlk_membership *m, unsigned node)
{
    struct rlk_shown *s = &m->shown[node];

    if (s->shows && !s->hidden && shows_in_use(m, s)) {
        s->former_us = former_until_us(s);
    }
    s->hidden = s->shows;
}

void rlk_membership_suspended(struct rlk_membership *m)
{
    unsigned i;

    for (i = 0; i < m->n; i++) {
        m->shown[i].former_us = m->shown[i].read_us = 0;
    }
}

void rlk_membership_clear(struct rlk_membership *m, unsigned node)
{
    struct rlk_shown *s = &m->shown[node];

    *s = (struct rlk_shown){.address = s->address, .len = s->len};
}

uint64_t rlk_membership_listed(const struct rlk_membership *m)
{
    return rlk_mask_all(m->n) & ~m->vacant & ~m->guests &
           ~(m->joins >= 0 ? rlk_mask_bit((unsigned)m->joins) : 0);
}

unsigned rlk_membership_count_listed(const struct rlk_membership *m)
{
    return rlk_mask_count(rlk_membership_listed(m));
}

void rlk_membership_add(struct rlk_membership *m)
{
    m->shown[m->n++] = (struct rlk_shown){.address = ""};
}

void rlk_membership_vacate(struct rlk_membership *m, unsigned node)
{
    m->shown[node] = (struct rlk_shown){.address = ""};
    m->vacant |= rlk_mask_bit(node);
    m->guests &= ~rlk_mask_bit(node);
}
