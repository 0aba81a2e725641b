/* detail.h - what each master last said of a lock, and when: for redlock_lock_node().
 *
 * The machines of core/ know which votes count. A person also wants to know why: a master that
 * confirmed the lock a moment ago is not the same as one that has not replied for seconds. */
#ifndef RLK_LOCK_DETAIL_H
#define RLK_LOCK_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/lock.h>

/* What one master said; all zero: it was not asked. Beside each time, in the lowest bits, is what
 * goes with it: the clock counts from the boot of this machine, and never needs all 64 bits. */
struct rlk_detail {
    uint64_t said;  /* when the last reply came, and what it said */
    uint64_t asked; /* when it was last asked, and the bits below */
};

#define RLK_DETAIL_SAID_BITS 3 /* for an enum redlock_said */
#define RLK_DETAIL_ASKED_BITS 2
#define RLK_DETAIL_WAITING 1 /* the last question has no reply yet, and may never get one */
#define RLK_DETAIL_UNNAMED 2 /* who has the key there was not kept: out of memory */

static inline enum redlock_said rlk_detail_word(const struct rlk_detail *d)
{
    return (enum redlock_said)(d->said & ((1 << RLK_DETAIL_SAID_BITS) - 1));
}

/* 0: no reply came. */
static inline uint64_t rlk_detail_said_us(const struct rlk_detail *d)
{
    return d->said >> RLK_DETAIL_SAID_BITS;
}

/* 0: never. */
static inline uint64_t rlk_detail_asked_us(const struct rlk_detail *d)
{
    return d->asked >> RLK_DETAIL_ASKED_BITS;
}

static inline bool rlk_detail_waits(const struct rlk_detail *d)
{
    return (d->asked & RLK_DETAIL_WAITING) != 0;
}

static inline bool rlk_detail_is_unnamed(const struct rlk_detail *d)
{
    return (d->asked & RLK_DETAIL_UNNAMED) != 0;
}

/* Until the node is asked again. */
static inline void rlk_detail_name(struct rlk_detail *d, bool named)
{
    d->asked &= ~(uint64_t)RLK_DETAIL_UNNAMED;
    d->asked |= named ? 0 : RLK_DETAIL_UNNAMED;
}

/* A round begins: no master was asked yet. */
void rlk_detail_reset(struct rlk_detail *details, unsigned n_nodes);

/* These nodes are asked now. details: by node. */
void rlk_detail_asked(struct rlk_detail *details, uint64_t nodes, uint64_t now_us);

/* A node has replied. */
void rlk_detail_said(struct rlk_detail *d, enum redlock_said said, uint64_t now_us);

#endif
