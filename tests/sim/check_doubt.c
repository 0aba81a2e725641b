/* check_doubt.c - [S11] What is known about a node reaches everything that relies on it: its
 * time is compared; every lock is notified of a suspension and of replaced data; a vote reads
 * the mark when it can; and no lock is handed out by the vote of a node that may have forgotten
 * by now. */
#include "base/mask.h"
#include "sim/check.h"
#include "sim/trace.h"

/* A writable replica refuses nothing: only INFO shows its role. TIME may come between INFO
 * and the mark. */
void check_role_asked(struct world *w, unsigned client, unsigned node,
                      const struct message *question)
{
    const struct wire *x = &w->wires[w->clients[client].peers[node].wire];
    const struct message *m = x->last == NONE ? NULL : &w->messages[x->last];
    bool follows_time = m != NULL && m->kind == MESSAGE_TIME && question->kind == MESSAGE_MARK;

    if (world_node_up(w, client, node) &&
        !(w->o.no_info & rlk_mask_bit(world_server(w, client, node))) && !follows_time &&
        (m == NULL || m->kind != MESSAGE_INFO || m->section != SECTION_REPLICATION)) {
        check_violated(w, "work", "c%u inspects n%u, and does not ask for its role", client, node);
    }
}

void check_compared(struct world *w, unsigned client, unsigned node)
{
    if (!w->timed && world_node_up(w, client, node)) {
        check_violated(w, "reported", "c%u does not compare the time that n%u sent", client, node);
    }
}

void check_suspension_notified(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->suspension_unnotified && (k->phase == WORKER_PENDING || k->phase == WORKER_HELD)) {
        check_violated(w, "reported", "c%u.%u is not notified that its client was suspended",
                       client, worker);
    }
    k->suspension_unnotified = false;
}

/* [S7] */
void check_data_replaced_notified(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->data_replaced && k->phase == WORKER_HELD) {
        check_violated(w, "reported", "c%u.%u is not notified that %s has other data", client,
                       worker, trace_nodes(k->data_replaced));
    }
    k->data_replaced = 0;
}

void check_vote_reads_mark(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    const struct peer *p = &w->clients[client].peers[node];
    bool knows = world_node(w, client, node)->quarantine.mark != 0 && p->inspected_us > 0;

    if (m->kind == MESSAGE_VOTE && m->mark.mark == 0 && knows && !p->unread &&
        w->o.policy != RLK_QUARANTINE_OFF) {
        check_violated(w, "fence", "t%08x asks n%u to vote, and does not check its mark", m->claim,
                       node);
    }
}

void check_voters(struct world *w, unsigned client, unsigned worker)
{
    unsigned claim = world_worker(w, client, worker)->claim, node;
    uint64_t left = world_claim(w, claim)->adopted && !world_claim(w, claim)->fenced
                        ? 0
                        : check_counted(w, claim);

    RLK_MASK_EACH (node, left) {
        const struct rlk_quarantine *s = &world_node(w, client, node)->quarantine;

        if (rlk_quarantine_reason(s, world_client_us(w, client), NULL) != RLK_QUARANTINED_NOT) {
            check_violated(w, "exclusion",
                           "c%u.%u is handed a lock by the vote of n%u, which may have forgotten",
                           client, worker, node);
        }
    }
}
