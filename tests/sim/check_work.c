/* check_work.c - no more messages than the rules allow, and time goes on.
 *
 * A round sends one SET to a node at most, unless the node has proven that it did not set the key
 * (check_split.c) [S4]. It sends one release to a node; each further release has a
 * reason: it was refused, or could not be sent, or its connection broke. A node whose oldest
 * answer is overdue is not asked [S14], so the number of unanswered commands is bounded. A lock
 * that is held is released nowhere [S5]. Nobody waits for a round that is decided [S6]. */
#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/process.h"
#include "sim/trace.h"
#include "sim/watch.h"
#include "sim/wire.h"

/* So many events at one instant mean that a state machine sets the same timer again and again. */
#define AT_ONCE 20000

/* No history has so many events before its end. */
#define TOO_MANY 1000000

/* [S5] Releases that were pending before the connection was made are sent before anything is
 * asked. Where capacity is scarce, not all of them can be: a round that has waited for the
 * connection does not wait for the rest. That costs it a vote where the key is an old one, and no
 * more: a release compares the token. */
void check_pending_releases_first(struct world *w, unsigned claim, unsigned node)
{
    unsigned client = w->claims[claim].client;
    const struct peer *p = &w->clients[client].peers[node];
    const struct rlk_pending_list *d = &world_node(w, client, node)->pending;
    size_t oldest = p->pending - d->ring.count, i; /* they are numbered in their order */

    for (i = 0; i < d->ring.count && oldest + i < p->pending_before && w->o.scarce == 0; i++) {
        const struct rlk_pending_release *pending_release = rlk_pending_list_at(d, i);

        if (world_client_us(w, client) < pending_release->until_us) {
            check_violated(w, "work", "t%08x was sent to n%u before the pending release of t%08x",
                           claim, node, watch_claim(w, pending_release->claim));
        }
    }
}

/* [S14] */
void check_not_unresponsive(struct world *w, unsigned claim, unsigned node)
{
    unsigned client = w->claims[claim].client;
    uint64_t now_us = world_client_us(w, client);
    uint64_t oldest_us = wire_oldest_us(w, w->clients[client].peers[node].wire);

    if (rlk_time_add(oldest_us, w->o.timeout_us) < now_us) {
        check_violated(w, "work", "t%08x was sent to n%u, which has not answered for %.1f ms",
                       claim, node, trace_ms(oldest_us, now_us));
    }
}

void check_set_sent(struct world *w, unsigned claim, unsigned node)
{
    struct claim *c = world_claim(w, claim);

    check_split_sent(w, claim, node);
    check_pending_releases_first(w, claim, node);
    check_not_unresponsive(w, claim, node);
    if (c->asked == 0) {
        check_fence_asked(w, claim);
    }
    c->asked |= rlk_mask_bit(node);
    c->sent_us[node] = world_client_us(w, c->client);
}

void check_adoption_sent(struct world *w, unsigned claim, unsigned node)
{
    struct claim *c = world_claim(w, claim);

    check_pending_releases_first(w, claim, node);
    check_not_unresponsive(w, claim, node);
    if (c->asked & rlk_mask_bit(node)) {
        check_violated(w, "work", "n%u is asked twice to keep t%08x for its adoption", node, claim);
    }
    if (c->asked == 0) {
        check_fence_asked(w, claim);
    }
    c->asked |= rlk_mask_bit(node);
    c->sent_us[node] = world_client_us(w, c->client);
}

/* Its worker holds it now, or may still win with it. */
static bool is_in_use(const struct world *w, unsigned claim)
{
    const struct claim *c = &w->claims[claim];
    const struct worker *k = &w->clients[c->client].workers[c->worker];

    if (k->op != c->op || k->claim != claim || k->phase == WORKER_IDLE ||
        rlk_lock_effort(k->lock).tries != c->round) {
        return false;
    }
    return process_holds(w, c->client, c->worker) ||
           (k->phase == WORKER_PENDING && process_may_win(k));
}

void check_adoption_again(struct world *w, unsigned claim, unsigned node)
{
    if (!is_in_use(w, claim)) {
        check_violated(w, "work", "n%u is asked again to keep t%08x, and nobody adopts it", node,
                       claim);
    }
}

/* The same question with the script's text. It must not come after the release, which could no
 * longer undo it. */
void check_set_again(struct world *w, unsigned claim, unsigned node)
{
    const struct claim *c = world_claim(w, claim);

    if (c->released || c->let_go || !is_in_use(w, claim) || !(c->asked & rlk_mask_bit(node))) {
        check_violated(w, "work", "t%08x was sent to n%u again, and nobody wants it", claim, node);
    }
}

void check_release_sent(struct world *w, unsigned claim, unsigned node)
{
    struct claim *c = world_claim(w, claim);

    check_lead_released(w, claim);
    if (is_in_use(w, claim)) {
        check_violated(w, "work", "t%08x was released on n%u while it was held, or could be", claim,
                       node);
    }
    c->releases++;
    c->released = true;
    c->release_nodes |= rlk_mask_bit(node);
    if (c->releases > w->clients[c->client].nodes + c->excuses) {
        check_violated(w, "work", "release %u of t%08x (to n%u): %u would have been enough",
                       c->releases, claim, node, w->clients[c->client].nodes + c->excuses);
    }
}

/* A command is sent to a server that has said over this connection that it knows it. */
void check_native_known(struct world *w, unsigned client, unsigned node, const struct message *m)
{
    const struct wire *x = &w->wires[w->clients[client].peers[node].wire];

    if (m->kind == MESSAGE_DELETE && !(x->natives & 1U << m->native)) {
        check_violated(w, "work", "t%08x was released on n%u by a command that it may not know",
                       m->claim, node);
    }
}

void check_release_pending(struct world *w, unsigned claim, unsigned node)
{
    struct claim *c = world_claim(w, claim);

    check_lead_released(w, claim);
    c->release_nodes |= rlk_mask_bit(node);
    c->released = true;
    c->excuses++;
}

/* [S6] A decided round ends; with a fence only the nodes that agree on it count [S12]. */
void check_decided(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    const struct rlk_round *r = &k->lock->acquiring->attempt.round;
    uint64_t open = (r->asked | r->connecting) & ~(r->yes | r->no | r->unknown);
    uint64_t yes = r->yes, hope = r->yes;

    if (k->fenced && k->claim != NONE &&
        world_claim(w, k->claim)->round == k->lock->acquiring->attempt.tries) {
        yes &= check_fence_agreed(w, k->claim);
        hope &= check_fence_hoped(w, k->claim);
    }
    if (world_is_majority(w, client, yes) || !world_is_majority(w, client, hope | open)) {
        check_violated(w, "work", "c%u.%u goes on with a round that is decided", client, worker);
    }
}

void check_work(struct world *w)
{
    w->same = w->now_us == w->same_us ? w->same + 1 : 0;
    w->same_us = w->now_us;
    if (w->events > TOO_MANY) {
        check_violated(w, "work", "%d events, and no end", TOO_MANY);
    }
    if (w->same > AT_ONCE) {
        check_violated(w, "work", "%d events at one instant", AT_ONCE);
    }
}
