/* send_pending.c - sends a node its pending releases [S5].
 *
 * They are sent as soon as the node is UP, and later whenever a reply has made room. */
#include "base/mask.h"
#include "base/time.h"
#include "core/pending.h"
#include "net/loop.h"
#include "node/claim.h"
#include "node/node.h"
#include "node/options.h"
#include "node/capacity.h"
#include "node/talk.h"
#include "node/trace.h"

static bool send_release(struct rlk_node *n, struct rlk_claim *claim, uint64_t now_us)
{
    if (!rlk_talk_begin(&n->link, claim->release, claim, now_us)) {
        return false;
    }
    RLK_TRACE_CLAIM(n, claim, .kind = REDLOCK_TRACE_SENT, .question = REDLOCK_QUESTION_RELEASE,
                    .nodes = rlk_mask_bit(n->index));
    return true;
}

static void send_later(struct rlk_node *n, uint64_t now_us)
{
    if (n->link.state == RLK_LINK_UP && !rlk_timer_is_set(&n->pending_timer)) {
        rlk_timer_set(&n->loop->timers, &n->pending_timer,
                      rlk_time_add(now_us, RLK_PENDING_RETRY_US));
    }
}

void rlk_node_send_pending(struct rlk_node *n, uint64_t now_us)
{
    struct rlk_claim *claim;

    while (rlk_node_can_send_pending(n) && rlk_capacity_is_free(n, RLK_RANK_FRESH) &&
           (claim = rlk_pending_list_first(&n->pending, now_us)) != NULL) {
        if (!send_release(n, claim, now_us)) {
            send_later(n, now_us);
            return;
        }
        rlk_pending_list_drop(&n->pending);
    }
}

void rlk_node_add_pending(struct rlk_node *n, struct rlk_claim *claim, bool refused,
                          uint64_t now_us)
{
    struct rlk_pending p = {.set_lost = claim->set_lost,
                            .unanswered =
                                n->link.state == RLK_LINK_UP && n->link.inflight.ring.count > 0,
                            .refused = refused,
                            .max_life_us = rlk_time_from_ms(claim->life_ms)};
    bool many = n->pending.ring.count >= RLK_PENDING_MAX;
    uint64_t bit = rlk_mask_bit(n->index);

    if (n->options->vacant & bit) {
        return; /* its master was removed, and is not connected again: the key expires */
    }
    claim->native_refused &= ~bit; /* its user may have other rights by then */
    claim->script_refused &= ~bit;
    RLK_TRACE_CLAIM(n, claim, .kind = REDLOCK_TRACE_PENDING);
    if (!rlk_pending_list_add(&n->pending, claim,
                              rlk_pending_until_us(&p, n->options->drift_ppm, now_us))) {
        rlk_node_note_kind(n, many ? RLK_TROUBLE_RELEASES_MANY : RLK_TROUBLE_RELEASES_NO_MEMORY,
                           NULL);
    }
    if (rlk_pending_needs_timer(&p)) {
        send_later(n, now_us);
    }
}
