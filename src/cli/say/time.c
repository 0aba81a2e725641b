/* time.c - writes a time in UTC. */
#include "cli/say/time.h"

#include <stdio.h>
#include <time.h>

/* A time that gmtime() cannot convert is shown as the last one with a year of four digits. */
void cli_time_print(uint64_t time_ms, char out[CLI_TIME_TEXT])
{
    time_t s = time_ms < UINT64_C(253402300800000) ? (time_t)(time_ms / 1000) : 253402300799;
    struct tm tm;
    char day[24];

    gmtime_r(&s, &tm);
    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, CLI_TIME_TEXT, "%s.%03uZ", day, (unsigned)(time_ms % 1000));
}
