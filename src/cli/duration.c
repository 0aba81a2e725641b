/* cli/duration.c - reading and writing spans of time. Pure: no I/O, no clock, no locale. */
#include "cli/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The digits behind the point that are looked at; more are refused. */
#define MAX_FRACTION 9

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read digits at *text into *ret_value and move *text behind them. Returns how many there
 * were, -1 when they do not fit. */
static int read_digits(const char **text, uint64_t *ret_value)
{
    uint64_t value = 0;
    int n = 0;

    for (; is_digit(**text); (*text)++, n++) {
        unsigned digit = (unsigned)(**text - '0');

        if (value > (UINT64_MAX - digit) / 10) {
            return -1;
        }
        value = value * 10 + digit;
    }
    *ret_value = value;
    return n;
}

/* Milliseconds in a unit; 0 for what is none. */
static uint64_t unit_ms(const char *unit)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].name) == 0) {
            return units[i].ms;
        }
    }
    return 0;
}

/* Read the digits behind a point as *ret_part / *ret_whole. Returns 0 or -1. */
static int read_fraction(const char **text, uint64_t *ret_part, uint64_t *ret_whole)
{
    int n = read_digits(text, ret_part);

    if (n < 1 || n > MAX_FRACTION) {
        return -1;
    }
    *ret_whole = 1;
    while (n-- > 0) {
        *ret_whole *= 10;
    }
    return 0;
}

int cli_duration_parse(const char *text, uint64_t *ret_ms)
{
    uint64_t whole;
    uint64_t part = 0;
    uint64_t scale = 1;
    uint64_t unit;

    if (read_digits(&text, &whole) < 1) {
        return -1;
    }
    if (*text == '.') {
        text++;
        if (read_fraction(&text, &part, &scale) != 0) {
            return -1;
        }
    }
    unit = unit_ms(text);
    /* part < 10^9 and unit < 4 * 10^6, so that their product fits. */
    if (unit == 0 || part * unit % scale != 0) {
        return -1;
    }
    part = part * unit / scale;
    if (whole > (UINT64_MAX - part) / unit) {
        return -1;
    }
    *ret_ms = whole * unit + part;
    return 0;
}

const char *cli_duration_print(uint64_t ms, char *buf)
{
    uint64_t s = ms / 1000;

    if (ms < 1000) {
        snprintf(buf, CLI_DURATION_TEXT, "%" PRIu64 " ms", ms);
    } else if (s < 120) {
        snprintf(buf, CLI_DURATION_TEXT, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
    } else if (s < 7200) {
        snprintf(buf, CLI_DURATION_TEXT, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    } else {
        snprintf(buf, CLI_DURATION_TEXT, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
    }
    return buf;
}
