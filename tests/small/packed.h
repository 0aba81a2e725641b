/* small/packed.h - an attempt of the core as a few bytes, and back. */
#ifndef RLK_SMALL_PACKED_H
#define RLK_SMALL_PACKED_H

#include "core/attempt.h"
#include "small/world.h"

/* The moment at which everything happens. */
#define NOW_US ((uint64_t)1000000)

/* What client `c` asks for. */
void packed_configure(struct rlk_attempt_config *wanted, unsigned c);

/* A mind before START. */
void packed_clear(struct packed *mind);

void packed_load(const struct packed *mind, unsigned c, struct rlk_attempt *a);
void packed_store(struct packed *mind, const struct rlk_attempt *a);

/* An attempt that failed or waits is deaf to what packed_store() forgets of it. */
bool packed_is_quiet(const struct rlk_attempt *a);

/* A deadline as ticks to go: at none of the moments before that has it come. */
uint8_t packed_ticks(uint64_t deadline_us);

#endif
