/* steps.c - turns a verdict about clocks into quarantines, and says which steps to record. */
#include "core/steps.h"

#include "base/mask.h"

static void excuse_nodes(struct rlk_quarantine *const *quarantine, uint64_t nodes)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        rlk_quarantine_clock_excused(quarantine[node]);
    }
}

/* A clock that fell behind does no harm. With quarantine=off a master's clock is never suspected. A
 * suspension of this client shortens its leases under every policy. */
static void apply_verdict(struct rlk_clocks *c, struct rlk_quarantine *const *quarantine,
                          unsigned node, const struct rlk_clock_sample *sample,
                          struct rlk_steps_actions *out)
{
    uint64_t now_us = sample->received_us, by_us, nodes;

    switch (rlk_clocks_sample(c, node, sample, &by_us, &nodes)) {
    case RLK_CLOCK_AHEAD:
        rlk_quarantine_clock_moved(quarantine[node], sample->server_us, now_us);
        out->ahead_us = by_us;
        out->clock_suspect = rlk_quarantine_is_clock_suspect(quarantine[node], now_us);
        break;
    case RLK_CLOCK_WE_WERE_SUSPENDED:
        excuse_nodes(quarantine, nodes);
        out->suspended_us = by_us;
        break;
    case RLK_CLOCK_STEADY:
        rlk_quarantine_clock_steady(quarantine[node], now_us);
        break;
    case RLK_CLOCK_BEHIND:
        break;
    }
}

void rlk_steps_take_sample(struct rlk_clocks *c, struct rlk_quarantine *const *quarantine,
                           unsigned node, const struct rlk_clock_sample *sample,
                           struct rlk_steps_actions *out)
{
    uint64_t now_us = sample->received_us;
    unsigned i;

    *out = (struct rlk_steps_actions){.clock_suspect = false};
    apply_verdict(c, quarantine, node, sample, out);
    for (i = 0; i < c->nodes; i++) {
        if (rlk_quarantine_step_to_record(quarantine[i], now_us) == 0) {
            continue; /* there was no step, or it is recorded already */
        }
        if (rlk_clocks_is_certain(c, i, now_us)) {
            out->record |= rlk_mask_bit(i);
        } else {
            out->ask |= rlk_clocks_to_ask(c, i);
        }
    }
}
