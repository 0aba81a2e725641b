/* small/mind.h - an attempt of the core as a few bytes, and back. */
#ifndef RLK_SMALL_MIND_H
#define RLK_SMALL_MIND_H

#include "core/attempt.h"
#include "small/world.h"

/* The moment at which everything happens. */
#define NOW_US ((uint64_t)1000000)

/* What client `c` asks for. */
void mind_configure(struct rlk_attempt_config *wanted, unsigned c);

/* A mind before START. */
void mind_clear(struct mind *mind);

void mind_load(const struct mind *mind, unsigned c, struct rlk_attempt *a);
void mind_store(struct mind *mind, const struct rlk_attempt *a);

/* An attempt that failed or waits is deaf to what mind_store() forgets of it. */
bool mind_is_quiet(const struct rlk_attempt *a);

/* A deadline as ticks to go: at none of the moments before that has it come. */
uint8_t mind_ticks(uint64_t deadline_us);

#endif
