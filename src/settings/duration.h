/* duration.h - durations as people write and read them. */
#ifndef RLK_SETTINGS_DURATION_H
#define RLK_SETTINGS_DURATION_H

#include <stdint.h>

/* Enough for every text of rlk_duration_print(). */
#define RLK_DURATION_TEXT 40

/* Read "500ms", "10s", "2m", "1h", "3d", "1.5s", several of these from large to small ("1h30m"),
 * and what rlk_duration_print() writes. A number alone means seconds, as for flock(1) and sleep(1).
 * Nothing smaller than a millisecond, no sign; blanks only before and after a unit.
 *
 * Returns 0; -1 when `text` is not a duration, or does not fit into *ret_ms. */
int rlk_duration_parse(const char *text, uint64_t *ret_ms);

/* Write a duration for people to read: "500 ms", "9.2 s", "2 min 5 s", "2 h", "3 d 4 h".
 *
 * Returns buf, which has RLK_DURATION_TEXT bytes. */
const char *rlk_duration_print(uint64_t ms, char *buf);

/* The same in a buffer of its own, which lasts until the end of the block. */
#define rlk_duration(ms) rlk_duration_print((ms), (char[RLK_DURATION_TEXT]){0})

#endif
