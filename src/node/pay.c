/* pay.c - tells a node the releases that it is owed [S5].
 *
 * As soon as it is connected, and from then on whenever an answer of it has made room. */
#include "base/time.h"
#include "core/pending.h"
#include "net/loop.h"
#include "node/claim.h"
#include "node/command.h"
#include "node/node.h"
#include "node/options.h"
#include "node/room.h"

static bool pay(struct rlk_node *n, struct rlk_claim *claim, uint64_t now_us)
{
    struct rlk_command c;

    rlk_command_release(&c, claim, false);
    return rlk_node_ask(n, &c, claim->release, claim, now_us);
}

static void rest(struct rlk_node *n, uint64_t now_us)
{
    if (n->state == RLK_NODE_UP && !n->timer.set) {
        rlk_timer_set(&n->loop->timers, &n->timer, rlk_time_add(now_us, RLK_PENDING_AGAIN_US));
    }
}

void rlk_node_pay(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_claim *claim;

    while (rlk_node_pays(n) && rlk_room_at(n, RLK_RANK_FRESH) &&
           (claim = rlk_debts_first(&n->debts, now_us)) != NULL) {
        if (!pay(n, claim, now_us)) {
            rest(n, now_us);
            return;
        }
        rlk_debts_drop(&n->debts);
    }
}

void rlk_node_owe(struct rlk_node *n, struct rlk_claim *claim, bool refused, uint64_t now_us)
{
    struct rlk_pending p = {.set_lost = claim->set_lost,
                            .unanswered = n->state == RLK_NODE_UP && n->inflight.ring.count > 0,
                            .refused = refused,
                            .life_us = rlk_time_from_ms(claim->life_ms)};
    bool many = n->debts.ring.count >= RLK_DEBT_MAX;

    if (!rlk_debts_add(&n->debts, claim, rlk_pending_until_us(&p, n->options->drift_ppm, now_us))) {
        rlk_node_complain(n, many ? RLK_TROUBLE_RELEASES_MANY : RLK_TROUBLE_RELEASES_NO_MEMORY,
                          NULL);
    }
    if (rlk_pending_rests(&p)) {
        rest(n, now_us);
    }
}
