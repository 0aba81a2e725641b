/* node_info.c - the calls that read the state of the masters. */
#include <redlock/error.h>
#include <redlock/manager.h>

#include "base/mask.h"
#include "base/sized.h"
#include "base/time.h"
#include "lock/manager.h"
#include "net/clock.h"
#include "node/upkeep.h"

REDLOCK_EXPORT size_t redlock_node_count(const struct redlock *rl)
{
    return rl ? rlk_mask_count(rlk_options_seen(&rl->options)) : 0;
}

static enum redlock_node_state public_state(const struct rlk_node *n, uint64_t now_us)
{
    if (n->link.state == RLK_LINK_UP) {
        return rlk_node_unresponsive(n, now_us) ? REDLOCK_NODE_UNRESPONSIVE : REDLOCK_NODE_UP;
    }
    return n->was_down ? REDLOCK_NODE_DOWN : REDLOCK_NODE_CONNECTING;
}

static uint64_t not_up_for_us(const struct rlk_node *n, uint64_t now_us)
{
    if (n->link.state != RLK_LINK_UP) {
        return rlk_time_sub(now_us, n->since_us);
    }
    return rlk_node_unresponsive(n, now_us)
               ? rlk_time_sub(now_us, rlk_inflight_oldest_us(&n->link.inflight))
               : 0;
}

static uint64_t quarantine_ms(const struct rlk_node *n, uint64_t now_us)
{
    uint64_t until_us;

    if (!rlk_upkeep_is_allowed(n)) {
        return UINT64_MAX;
    }
    if (rlk_quarantine_reason(&n->quarantine, now_us, &until_us) == RLK_QUARANTINED_NOT) {
        return 0;
    }
    return until_us == RLK_NEVER ? UINT64_MAX : (until_us - now_us + 999) / 1000;
}

static bool quarantine_ends(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_upkeep_is_allowed(n) && rlk_quarantine_ends(&n->quarantine, now_us);
}

REDLOCK_EXPORT int redlock_get_node_info(const struct redlock *rl, size_t index,
                                         struct redlock_node_info *ret_info)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_node_info, down_ms);
    uint64_t now_us = rlk_clock_us();
    struct redlock_node_info info;
    struct rlk_node *n;

    if (rl == NULL || ret_info == NULL || index >= redlock_node_count(rl) ||
        !rlk_sized_valid(ret_info, least)) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    n = &rl->nodes[rlk_options_find(&rl->options, index)];
    info = (struct redlock_node_info){.name = n->uri->name,
                                      .state = public_state(n, now_us),
                                      .down_ms = not_up_for_us(n, now_us) / 1000,
                                      .error = rlk_node_explain(n, now_us),
                                      .server = n->server,
                                      .quarantine_ms = quarantine_ms(n, now_us),
                                      .rtt_us = n->rtt_us,
                                      .login_refused = n->login_refused,
                                      .tls = n->tls,
                                      .quarantine_ends = quarantine_ends(n, now_us)};
    if (!rlk_clocks_offset(&rl->clocks, n->index, &info.clock_us, &info.clock_error_us)) {
        info.clock_error_us = UINT64_MAX;
    }
    rlk_sized_write(ret_info, &info, sizeof(info));
    return 0;
}
