/* record_info.c - the calls that read the record of the masters. */
#include <redlock/error.h>
#include <redlock/record.h>

#include <stdio.h>

#include "base/sized.h"
#include "lock/manager.h"

static const struct rlk_record *record_of(const struct redlock *rl)
{
    return rl->record.nodes ? rl->record.verdict.record : NULL;
}

static enum redlock_record_state state_of(const struct redlock *rl)
{
    const struct rlk_record_keeper *k = &rl->record;

    if (k->nodes == NULL) {
        return REDLOCK_RECORD_OFF;
    }
    if (rlk_keeper_has_misfit(k)) {
        return REDLOCK_RECORD_OTHER;
    }
    if (k->verdict.record == NULL) {
        return REDLOCK_RECORD_NONE;
    }
    return k->verdict.record == k->membership.in_use ? REDLOCK_RECORD_AGREED : REDLOCK_RECORD_SEEN;
}

static size_t shown_by(const struct redlock *rl, const struct rlk_record *r)
{
    size_t n = 0;
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        const struct rlk_shown *s = &rl->record.membership.shown[i];

        n += s->record && !s->hidden && rlk_record_is_same(s->record, r);
    }
    return n;
}

static size_t count_readable(const struct redlock *rl)
{
    size_t n = 0;
    unsigned i;

    for (i = 0; rl->record.nodes && i < rl->options.n_nodes; i++) {
        n += rl->record.membership.shown[i].readable;
    }
    return n;
}

/* A master that is on record, and that we could not add. */
static const char *explain_missing(struct rlk_record_keeper *k)
{
    const struct rlk_membership_verdict *v = &k->verdict;
    const struct rlk_record_master *m =
        v->adds >= 0 && v->adds_of ? &v->adds_of->master[v->adds] : NULL;

    if (m == NULL || k->add_error[0] == '\0') {
        return "";
    }
    snprintf(k->error, sizeof(k->error), "the master at %.*s cannot be used from here: %s",
             (int)m->len, m->address, k->add_error);
    return k->error;
}

const char *rlk_keeper_explain(struct rlk_record_keeper *k)
{
    const struct rlk_record *r = k->verdict.record;
    const struct rlk_uri *uri = k->nodes ? k->nodes[k->verdict.node].uri : NULL;
    unsigned listed = rlk_membership_count_listed(&k->membership);

    switch (k->verdict.misfit) {
    case RLK_MISFIT_NOT:
        return explain_missing(k);
    case RLK_MISFIT_MAX_TTL:
        snprintf(k->error, sizeof(k->error),
                 "the longest ttl (max-ttl) is %u ms on record, and %u ms here", r->max_ttl_ms,
                 k->membership.max_ttl_ms);
        break;
    case RLK_MISFIT_NUMBER:
        snprintf(k->error, sizeof(k->error), "%u %s on record, and %u %s listed here",
                 rlk_record_size(r), rlk_record_size(r) == 1 ? "master is" : "masters are", listed,
                 listed == 1 ? "is" : "are");
        break;
    case RLK_MISFIT_MASTER:
        snprintf(k->error, sizeof(k->error), "the server at %s is not on record", uri->name);
        break;
    case RLK_MISFIT_COPY:
        snprintf(k->error, sizeof(k->error), "the server at %s has a copy of another master's data",
                 uri->name);
        break;
    }
    return k->error;
}

REDLOCK_EXPORT int redlock_get_record(const struct redlock *rl,
                                      struct redlock_record_info *ret_info)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_record_info, readable);
    struct redlock_record_info info;
    const struct rlk_record *r;

    if (rl == NULL || ret_info == NULL || !rlk_sized_valid(ret_info, least)) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    r = record_of(rl);
    info = (struct redlock_record_info){
        .state = state_of(rl),
        .error = rlk_keeper_explain((struct rlk_record_keeper *)(uintptr_t)&rl->record),
        .epoch = r ? r->epoch : 0,
        .max_ttl_ms = r ? r->max_ttl_ms : 0,
        .n_entries = r ? r->n : 0,
        .shown_by = r ? shown_by(rl, r) : 0,
        .readable = count_readable(rl)};
    rlk_sized_write(ret_info, &info, sizeof(info));
    return 0;
}

static int node_of(const struct redlock *rl, const struct rlk_record *r, unsigned entry)
{
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        if (rlk_membership_find(&rl->record.membership, r, i) == (int)entry) {
            return (int)rlk_options_number(&rl->options, i);
        }
    }
    return -1;
}

/* The addresses of a record end with a line feed. */
static const char *text_of(struct rlk_record_keeper *k, const struct rlk_record_master *m)
{
    snprintf(k->address, sizeof(k->address), "%.*s", (int)m->len, m->address);
    return k->address;
}

REDLOCK_EXPORT int redlock_get_record_master(const struct redlock *rl, size_t index,
                                             struct redlock_record_master *ret_master)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_record_master, lost);
    struct redlock_record_master master;
    const struct rlk_record *r;
    const struct rlk_record_master *m;

    if (rl == NULL || ret_master == NULL || !rlk_sized_valid(ret_master, least)) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    r = record_of(rl);
    if (r == NULL || index >= r->n) {
        return REDLOCK_EINVAL;
    }
    m = &r->master[index];
    master = (struct redlock_record_master){
        .address = text_of((struct rlk_record_keeper *)(uintptr_t)&rl->record, m),
        .node = node_of(rl, r, (unsigned)index),
        .from_epoch = m->from,
        .until_epoch = m->until,
        .lost = m->lost};
    rlk_sized_write(ret_master, &master, sizeof(master));
    return 0;
}
