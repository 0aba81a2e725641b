/* Not more messages than the rules allow, and time goes on.
 *
 * A round sends one SET to a node at most [S4], and one release; each further release has a
 * reason: it was refused, or could not be sent, or its connection broke. A node whose oldest
 * answer is overdue is not asked [S14]: what it is sent is bounded. What a lock holds is released
 * nowhere [S5]. */
#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/drive.h"
#include "sim/trace.h"
#include "sim/wire.h"

/* So many events of one instant are a machine that asks for the same timer for ever. */
#define AT_ONCE 20000

/* Long after the faults of any history have ended. */
#define TOO_MANY 400000

/* [S5] What was owed before the connection was there is paid before anything is asked. */
static void check_debts_first(struct world *w, unsigned claim, unsigned node)
{
    const struct client *c = &w->clients[w->claims[claim].client];
    const struct peer *p = &c->peers[node];
    size_t i;

    for (i = 0; i < p->n_debts; i++) {
        const struct debt *d = &p->debts[i];

        if (!d->waited && d->since_us < p->since_us && world_client_us(w, c) < d->until_us &&
            world_client_us(w, c) >= w->claims[d->claim].wanted_us) {
            check_violated(w, "work", "t%u was sent to n%u before the debt of t%u", claim, node,
                           d->claim);
        }
    }
}

void check_set_sent(struct world *w, unsigned claim, unsigned node)
{
    struct claim *c = world_claim(w, claim);
    const struct client *client = &w->clients[c->client];
    uint64_t oldest_us = wire_oldest_us(w, client->peers[node].wire);

    if (c->asked & rlk_mask_bit(node)) {
        check_violated(w, "work", "t%u was sent to n%u twice", claim, node);
    }
    check_debts_first(w, claim, node);
    if (rlk_time_add(oldest_us, w->o.timeout_us) < world_client_us(w, client)) {
        check_violated(w, "work", "t%u was sent to n%u, which has not answered for %.1f ms", claim,
                       node, trace_ms(oldest_us, world_client_us(w, client)));
    }
    c->asked |= rlk_mask_bit(node);
    c->sent_us[node] = world_client_us(w, client);
}

/* Its worker holds it now, or may win with it yet. */
static bool is_in_use(const struct world *w, unsigned claim)
{
    const struct claim *c = &w->claims[claim];
    const struct worker *k = &w->clients[c->client].workers[c->worker];

    if (k->op != c->op || k->claim != claim || k->attempt.tries != c->round) {
        return false;
    }
    return drive_holds(w, c->client, c->worker) ||
           (world_client_us(w, &w->clients[c->client]) < c->wanted_us &&
            k->phase == WORKER_PENDING &&
            (k->attempt.state == RLK_ATTEMPT_ASKING || k->attempt.state == RLK_ATTEMPT_WON));
}

void check_release_sent(struct world *w, unsigned claim, unsigned node)
{
    struct claim *c = world_claim(w, claim);

    if (is_in_use(w, claim)) {
        check_violated(w, "work", "t%u was released on n%u while it was held, or could be", claim,
                       node);
    }
    c->releases++;
    c->told |= rlk_mask_bit(node);
    if (c->releases > w->clients[c->client].nodes + c->excuses) {
        check_violated(w, "work", "release %u of t%u (to n%u): %u would have been enough",
                       c->releases, claim, node, w->clients[c->client].nodes + c->excuses);
    }
}

void check_owed(struct world *w, unsigned claim, unsigned node)
{
    struct claim *c = world_claim(w, claim);

    c->told |= rlk_mask_bit(node);
    c->excuses++;
}

void check_work(struct world *w)
{
    w->same = w->now_us == w->same_us ? w->same + 1 : 0;
    w->same_us = w->now_us;
    if (w->events > TOO_MANY) {
        check_violated(w, "work", "%d events, and no end", TOO_MANY);
    }
    if (w->same > AT_ONCE) {
        check_violated(w, "work", "%d events, and time stands still", AT_ONCE);
    }
}
