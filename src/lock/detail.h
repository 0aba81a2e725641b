/* detail.h - what each master last said of a lock, and when: for redlock_lock_node().
 *
 * The machines of core/ know which votes count. A person also wants to know why: a master that
 * confirmed the lock a moment ago is not the same as one that has not replied for seconds. */
#ifndef RLK_LOCK_DETAIL_H
#define RLK_LOCK_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/lock.h>

/* What one master said; all zero: it was not asked. */
struct rlk_detail {
    enum redlock_said said;
    bool waiting;      /* the last question has no reply yet, and may never get one */
    uint64_t said_us;  /* when the last reply came; 0: none came */
    uint64_t asked_us; /* when it was last asked; 0: never */
};

/* A round begins: no master was asked yet. */
void rlk_detail_reset(struct rlk_detail *details, unsigned n_nodes);

/* These nodes are asked now. details: by node. */
void rlk_detail_asked(struct rlk_detail *details, uint64_t nodes, uint64_t now_us);

/* A node has replied. */
void rlk_detail_said(struct rlk_detail *d, enum redlock_said said, uint64_t now_us);

#endif
