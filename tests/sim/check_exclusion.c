/* At one instant of true time no two holders are inside their validity, each by its own clock.
 *
 * It is enough to look when one becomes a holder or its validity grows: a clock never goes
 * back, so a validity that has ended stays so. */
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

/* A late yes has strengthened a lock that is held. */
void check_stepped(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev,
                   const struct rlk_actions *out)
{
    (void)out;
    if (ev->kind == RLK_EVENT_VOTE && ev->vote == RLK_VOTE_YES) {
        check_exclusion(w, client, worker);
    }
}
