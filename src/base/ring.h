/* ring.h - a queue of values of one size. It grows up to a bound and never shrinks, so there is no
 * allocation in the steady state.
 *
 * A zeroed ring is empty and has no memory. `size` is the size of a value, always the same for one
 * ring; it is an argument so that the compiler sees a constant. */
#ifndef RLK_BASE_RING_H
#define RLK_BASE_RING_H

#include <stdbool.h>
#include <stddef.h>

struct rlk_ring {
    void *values;
    size_t cap, first, count; /* cap: a power of two, or 0 */
};

/* Frees the memory; the ring is empty. */
void rlk_ring_end(struct rlk_ring *r);

/* Double the capacity of a full ring. False: out of memory, or the capacity would be more than
 * `most`; nothing has changed then. */
bool rlk_ring_grow(struct rlk_ring *r, size_t size, size_t most);

/* Make room for one more value. Returns like rlk_ring_grow(). */
static inline bool rlk_ring_reserve(struct rlk_ring *r, size_t size, size_t most)
{
    return r->count < r->cap || rlk_ring_grow(r, size, most);
}

/* The value at place `i`; 0 is the oldest. */
static inline void *rlk_ring_at(const struct rlk_ring *r, size_t size, size_t i)
{
    return (char *)r->values + ((r->first + i) & (r->cap - 1)) * size;
}

/* After rlk_ring_reserve(): add a value, and return where to write it. */
static inline void *rlk_ring_push(struct rlk_ring *r, size_t size)
{
    return rlk_ring_at(r, size, r->count++);
}

/* Remove the oldest value. The ring must not be empty. */
static inline void rlk_ring_drop(struct rlk_ring *r)
{
    r->first = (r->first + 1) & (r->cap - 1);
    r->count--;
}

#endif
