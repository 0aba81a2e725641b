/* pay.c - tells a node the releases that it is owed [S5].
 *
 * As soon as it is connected, and from then on whenever an answer of it has made room. */
#include "base/time.h"
#include "core/validity.h"
#include "net/loop.h"
#include "node/claim.h"
#include "node/command.h"
#include "node/node.h"
#include "node/options.h"
#include "node/room.h"

/* How long to wait before telling a node again what it would not hear. */
#define PAY_AGAIN_US 250000

/* The request has a reference of its own. */
static bool pay(struct rlk_node *n, struct rlk_claim *claim, uint64_t now_us)
{
    struct rlk_command c;

    rlk_command_release(&c, claim, false);
    if (!rlk_node_ask(n, &c, claim->release, claim, now_us)) {
        return false;
    }
    rlk_claim_ref(claim);
    return true;
}

static void rest(struct rlk_node *n, uint64_t now_us)
{
    if (n->state == RLK_NODE_UP && !n->timer.set) {
        rlk_timer_set(&n->loop->timers, &n->timer, rlk_time_add(now_us, PAY_AGAIN_US));
    }
}

bool rlk_node_pays(const struct rlk_node *n)
{
    return n->state == RLK_NODE_UP && n->debts.count > 0 && !n->timer.set;
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

/* [S5] A key that was set before now ends a ttl after, by the node's clock, which may be the
 * slower one. A SET that was not answered may be carried out at any time: when a stopped server
 * wakes and reads what its socket still has. Any question that it still has to answer may be that
 * SET, unless it has answered the release behind it already. */
static uint64_t key_ends_us(const struct rlk_node *n, const struct rlk_claim *claim, bool refused,
                            uint64_t now_us)
{
    bool is_open = !refused && n->state == RLK_NODE_UP && n->inflight.count > 0;
    uint64_t ttl_us = rlk_time_from_ms(claim->life_ms);
    uint64_t drift_us = ttl_us - rlk_validity_lease_us(ttl_us, n->options->drift_ppm);

    return claim->set_lost || is_open ? RLK_NEVER : rlk_time_add(now_us, ttl_us + drift_us);
}

void rlk_node_owe(struct rlk_node *n, struct rlk_claim *claim, bool refused, uint64_t now_us)
{
    bool many = n->debts.count >= RLK_DEBT_MAX;

    if (!rlk_debts_add(&n->debts, claim, key_ends_us(n, claim, refused, now_us))) {
        rlk_node_complain(n, many ? RLK_TROUBLE_RELEASES_MANY : RLK_TROUBLE_RELEASES_NO_MEMORY,
                          NULL);
    }
    if (refused || n->inflight.count == 0) {
        rest(n, now_us); /* otherwise an answer to come makes room */
    }
}
