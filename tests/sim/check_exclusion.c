/* At one instant of true time no two holders are inside their validity, each by its own clock.
 *
 * And what a winner believes follows from the votes that it has heard, before anybody collides.
 *
 * It is enough to look when one becomes a holder or its validity grows: a clock never goes
 * back, so a validity that has ended stays so. */
#include "base/mask.h"
#include "sim/check.h"
#include "sim/drive.h"
#include "sim/trace.h"

static void against(struct world *w, unsigned client, unsigned worker, unsigned other,
                    unsigned other_worker)
{
    const struct worker *k = &w->clients[client].workers[worker];
    const struct worker *l = &w->clients[other].workers[other_worker];

    if (k != l && k->key == l->key && drive_holds(w, other, other_worker)) {
        check_violated(
            w, "exclusion",
            "k%u is held by c%u.%u (t%u, %.3f ms left) and by c%u.%u (t%u, %.3f ms left)", k->key,
            client, worker, k->claim,
            trace_ms(world_client_us(w, &w->clients[client]), k->attempt.round.valid_until_us),
            other, other_worker, l->claim,
            trace_ms(world_client_us(w, &w->clients[other]), l->attempt.round.valid_until_us));
    }
}

void check_exclusion(struct world *w, unsigned client, unsigned worker)
{
    unsigned other, other_worker;

    if (!drive_holds(w, client, worker)) {
        return;
    }
    for (other = 0; other < w->o.clients; other++) {
        for (other_worker = 0; other_worker < w->o.workers; other_worker++) {
            against(w, client, worker, other, other_worker);
        }
    }
}

void check_voted(struct world *w, unsigned claim, unsigned node, enum rlk_vote vote)
{
    struct claim *c = world_claim(w, claim);
    struct worker *k = &w->clients[c->client].workers[c->worker];

    if (vote == RLK_VOTE_YES) {
        c->granted |= rlk_mask_bit(node);
    } else if (vote == RLK_VOTE_NO) {
        c->refused |= rlk_mask_bit(node);
        k->refusals += k->op == c->op;
    }
}

/* [S2] Said again, and not asked of the core: a majority granted it, each for its ttl less the
 * drift from before it was asked. */
static void check_validity(struct world *w, unsigned client, const struct worker *k)
{
    const struct claim *c = world_claim(w, k->claim);
    uint64_t ttl_us = (uint64_t)k->ttl_ms * 1000;
    uint64_t lease_us = ttl_us - ttl_us * w->o.drift_ppm / 1000000 - 2000;
    unsigned nodes = w->clients[client].nodes, node, lasting = 0;

    for (node = 0; node < nodes; node++) {
        lasting += (c->granted >> node & 1) &&
                   k->attempt.round.valid_until_us <= c->sent_us[node] + lease_us;
    }
    if (lasting <= nodes / 2) {
        check_violated(w, "exclusion", "t%u of c%u.%u is valid for longer than a majority has it",
                       k->claim, client, c->worker);
    }
}

/* [S6] What has been decided is not waited for. */
static void check_decided(struct world *w, unsigned client, unsigned worker)
{
    const struct rlk_round *r = &w->clients[client].workers[worker].attempt.round;
    unsigned nodes = w->clients[client].nodes;
    uint64_t open = (r->asked | r->coming) & ~(r->no | r->unknown);

    if (rlk_mask_count(r->yes) > nodes / 2 || rlk_mask_count(open) <= nodes / 2) {
        check_violated(w, "work", "c%u.%u goes on with a round that is decided", client, worker);
    }
}

/* A late yes may have strengthened a lock that is held. */
void check_stepped(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev)
{
    const struct worker *k = &w->clients[client].workers[worker];

    if (k->attempt.round.state == RLK_ROUND_WON && k->claim != NONE) {
        check_validity(w, client, k);
    }
    if (k->attempt.state == RLK_ATTEMPT_ASKING) {
        check_decided(w, client, worker);
    }
    if (ev->kind == RLK_EVENT_VOTE && ev->vote == RLK_VOTE_YES) {
        check_exclusion(w, client, worker);
    }
}
