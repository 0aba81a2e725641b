/* steps.h - what follows for all masters, and for us, from the time that one of them has told
 * [S11].
 *
 * core/clocks.h says who moved; here its votes stop to count, or those that seemed to have moved
 * are excused because it was we who stood still. And what those present saw is put on record for
 * strangers, when it is certain; the others are asked for the time at once to make it so. */
#ifndef RLK_CORE_STEPS_H
#define RLK_CORE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clocks.h"
#include "core/quarantine.h"

struct rlk_steps_actions {
    bool clock_suspect;    /* locks are told: no lease from this node can be relied on */
    uint64_t suspended_us; /* locks are told: we stood still for so long; 0: we did not */
    uint64_t note;         /* nodes: their step is put on record */
    uint64_t ask;          /* nodes: they are asked for the time now */
};

/* A node has told the time. `quarantine` is that of each node, by its number. */
void rlk_steps_take_sample(struct rlk_clocks *c, struct rlk_quarantine *const *quarantine,
                           unsigned node, const struct rlk_clock_sample *sample,
                           struct rlk_steps_actions *out);

#endif
