/* pace.h - at most so many commands a second for a master, with a little haste after a pause.
 *
 * Each command moves the time up to which the pace is used. That time may be a burst ahead of now,
 * so that a timer of a few milliseconds is fine enough. In any time T no more commands are sent
 * than the rate allows in T and a burst, and one conversation. */
#ifndef RLK_CORE_PACE_H
#define RLK_CORE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define RLK_PACE_BURST_US 10000

struct rlk_pace {
    uint32_t rate; /* commands per second; at least 1 */
    uint64_t used_us;
};

/* Whether the next conversation may be sent. */
bool rlk_pace_allows(const struct rlk_pace *p, uint64_t now_us);

/* So many commands are sent now. */
void rlk_pace_charge(struct rlk_pace *p, uint32_t commands, uint64_t now_us);

/* When to try again if it is not allowed: a whole burst is free then. */
uint64_t rlk_pace_free_us(const struct rlk_pace *p);

#endif
