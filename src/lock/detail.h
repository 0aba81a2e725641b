/* detail.h - what each master last said of a lock, and when: for redlock_lock_node().
 *
 * The machines of core/ know what counts. This is what a person wants to know when they have
 * decided: whoever kept the lock until a moment ago is not the same as who has been silent for
 * seconds. */
#ifndef RLK_LOCK_DETAIL_H
#define RLK_LOCK_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/lock.h>

/* About one master; all zero: it was not asked. */
struct rlk_detail {
    enum redlock_said said;
    bool waiting;      /* what it was asked last has no answer, and may never get one */
    uint64_t said_us;  /* when */
    uint64_t asked_us; /* when it was asked last */
};

/* Nothing was asked yet: a round begins. */
void rlk_detail_reset(struct rlk_detail *details, unsigned n_nodes);

/* These are asked now; details: by node. */
void rlk_detail_asked(struct rlk_detail *details, uint64_t nodes, uint64_t now_us);

/* One has answered. */
void rlk_detail_said(struct rlk_detail *d, enum redlock_said said, uint64_t now_us);

#endif
