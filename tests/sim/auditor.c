/* auditor.c - the audit streams: of each claim it is kept which servers have an entry of which
 * kind.
 *
 * A lock that a user is handed is in the streams of a majority, except for servers that could not
 * add the entry, or have lost their stream since. And no stream says what did not happen: that a
 * lock was released or lost which nobody had, or that a round was withdrawn which was won. */
#include "sim/auditor.h"

#include "base/mask.h"
#include "core/validity.h"
#include "sim/check.h"
#include "sim/trace.h"

static const char *const names[ENTRY_KINDS] = {"",     "acquired",  "adopted", "released",
                                               "lost", "withdrawn", "broken",  "handed over"};

/* The lock that the entry is about. */
static struct claim *claim_of(struct world *w, const struct message *m)
{
    return world_claim(w, m->entry == ENTRY_BROKEN ? m->holder : m->claim);
}

static void check_is_true(struct world *w, unsigned server, const struct message *m)
{
    const struct claim *c = claim_of(w, m);
    bool ends =
        m->entry == ENTRY_RELEASED || m->entry == ENTRY_LOST || m->entry == ENTRY_HANDED_OVER;

    if ((ends && !c->handed_out) || (m->entry == ENTRY_WITHDRAWN && c->handed_out)) {
        check_violated(w, "audit", "n%u says that t%08x was %s, and it was%s handed out", server,
                       m->claim, names[m->entry], c->handed_out ? "" : " not");
    }
}

void auditor_add(struct world *w, unsigned server, struct message *m)
{
    struct claim *c;

    if (m->entry == ENTRY_NONE) {
        return;
    }
    check_is_true(w, server, m);
    c = claim_of(w, m);
    m->unaudited = (w->o.no_audit & rlk_mask_bit(server)) != 0;
    if (m->unaudited) {
        c->unentered |= rlk_mask_bit(server);
        return;
    }
    c->entries[m->entry] |= rlk_mask_bit(server);
    trace(w, "n%u    enters that t%08x was %s", server, m->claim, names[m->entry]);
}

void auditor_forgot(struct world *w, unsigned server)
{
    unsigned i, kind;

    for (i = 0; w->o.audit && i < w->n_claims; i++) {
        for (kind = 0; kind < ENTRY_KINDS; kind++) {
            w->claims[i].unentered |= w->claims[i].entries[kind] & rlk_mask_bit(server);
            w->claims[i].entries[kind] &= ~rlk_mask_bit(server);
        }
    }
}

void auditor_reported(struct world *w, unsigned client, unsigned worker)
{
    struct claim *c = world_claim(w, world_worker(w, client, worker)->claim);
    uint64_t there = c->entries[c->adopted ? ENTRY_ADOPTED : ENTRY_ACQUIRED] | c->unentered;

    c->handed_out = true;
    if (w->o.audit && rlk_mask_count(there) < rlk_validity_quorum(w->clients[client].nodes)) {
        check_violated(w, "audit", "c%u.%u is handed t%08x, and only %u streams say so", client,
                       worker, world_worker(w, client, worker)->claim, rlk_mask_count(there));
    }
}
