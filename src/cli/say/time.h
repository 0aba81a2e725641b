/* time.h - prints times for people and programs. */
#ifndef CLI_SAY_TIME_H
#define CLI_SAY_TIME_H

#include <stdint.h>

#define CLI_TIME_TEXT 32

/* Write a time in milliseconds since 1970: "2026-11-28T16:40:01.123Z". */
void cli_time_print(uint64_t time_ms, char out[CLI_TIME_TEXT]);

#endif
