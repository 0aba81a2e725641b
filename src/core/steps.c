#include "core/steps.h"

#include "base/mask.h"

static void excuse(struct rlk_standing *const *standing, uint64_t nodes)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        rlk_standing_clock_excused(standing[node]);
    }
}

/* A clock that fell behind hurts nobody. With quarantine=off a master is taken at its word, but
 * that it was we who stood still is no matter of theirs. */
static void judge(struct rlk_clocks *c, struct rlk_standing *const *standing, unsigned node,
                  const struct rlk_clock_sample *sample, struct rlk_steps_actions *out)
{
    uint64_t now_us = sample->received_us, by_us, nodes;

    switch (rlk_clocks_sample(c, node, sample, &by_us, &nodes)) {
    case RLK_CLOCK_AHEAD:
        rlk_standing_clock_moved(standing[node], sample->server_us, now_us);
        out->mistimed = rlk_standing_is_mistimed(standing[node], now_us);
        break;
    case RLK_CLOCK_WE_STOOD:
        excuse(standing, nodes);
        out->stood_us = by_us;
        break;
    case RLK_CLOCK_STEADY:
        rlk_standing_clock_steady(standing[node], now_us);
        break;
    case RLK_CLOCK_BEHIND:
        break;
    }
}

void rlk_steps_hear(struct rlk_clocks *c, struct rlk_standing *const *standing, unsigned node,
                    const struct rlk_clock_sample *sample, struct rlk_steps_actions *out)
{
    uint64_t now_us = sample->received_us;
    unsigned i;

    *out = (struct rlk_steps_actions){.mistimed = false};
    judge(c, standing, node, sample, out);
    for (i = 0; i < c->nodes; i++) {
        if (rlk_standing_note(standing[i], now_us) == 0) {
            continue; /* nothing was seen, or it is on record */
        }
        if (rlk_clocks_is_certain(c, i, now_us)) {
            out->note |= rlk_mask_bit(i);
        } else {
            out->ask |= rlk_clocks_to_ask(c, i);
        }
    }
}
