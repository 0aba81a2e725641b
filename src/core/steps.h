/* steps.h - what one TIME reply means for all masters, and for this client [S11].
 *
 * core/clocks.h finds out which clock moved. A master whose clock went ahead goes into quarantine.
 * When this client was suspended instead, the masters that seemed to have moved leave the
 * quarantine that this began.
 *
 * A step that is certain is recorded in the master's incarnation key, for clients that did not
 * see it. To make it certain, the other masters are asked for the time at once. */
#ifndef RLK_CORE_STEPS_H
#define RLK_CORE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clocks.h"
#include "core/quarantine.h"

struct rlk_steps_actions {
    uint64_t ahead_us;     /* its clock went forward by this; 0: it did not */
    bool clock_suspect;    /* report to all locks: no lease on this node can be relied on */
    uint64_t suspended_us; /* report to all locks: the client was suspended for this long; 0: it was
                              not */
    uint64_t record;       /* nodes whose step has to be recorded */
    uint64_t ask;          /* nodes to ask for the time now */
};

/* A node has replied to TIME. `quarantine`: that of each node, by its number. `out` is written
 * completely. */
void rlk_steps_take_sample(struct rlk_clocks *c, struct rlk_quarantine *const *quarantine,
                           unsigned node, const struct rlk_clock_sample *sample,
                           struct rlk_steps_actions *out);

#endif
