/* small/packed.h - an attempt of the core as a few bytes, and back. */
#ifndef RLK_SMALL_PACKED_H
#define RLK_SMALL_PACKED_H

#include "core/attempt.h"
#include "small/world.h"

/* The moment at which everything happens. */
#define NOW_US ((uint64_t)1000000)

/* What client `c` asks for. */
void packed_configure(struct rlk_attempt_config *wanted, unsigned c);

/* An attempt before START. */
void packed_clear(struct packed *packed);

void packed_load(const struct packed *packed, unsigned c, struct rlk_attempt *a);
void packed_store(struct packed *packed, const struct rlk_attempt *a);

/* An attempt that failed or waits ignores what packed_store() forgets of it. */
bool packed_is_quiet(const struct rlk_attempt *a);

/* A deadline in ticks from now. It has not come at any moment before. */
uint8_t packed_ticks(uint64_t deadline_us);

#endif
