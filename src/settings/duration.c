/* duration.c - reads and writes durations. Pure: no I/O, no clock, no locale. */
#include "settings/duration.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The most digits after the point. */
#define MAX_FRACTION 9

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read digits at *text into *ret_value, and move *text past them. Returns the number of digits; -1
 * when the value does not fit. */
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

/* Read a unit at *text, and move *text past it. Returns its milliseconds; 0 when there is no unit.
 */
static uint64_t read_unit(const char **text)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"ms", 1},      {"s", 1000},    {"m", 60000},
                 {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
    size_t length = strspn(*text, "abcdefghijklmnopqrstuvwxyz"), i;

    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == length && strncmp(units[i].name, *text, length) == 0) {
            *text += length;
            return units[i].ms;
        }
    }
    return 0;
}

/* Read the digits after a point as *ret_part / *ret_whole. Returns 0 or -1. */
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

/* Read a number with or without a fraction as *ret_whole + *ret_part / *ret_scale. */
static int read_number(const char **text, uint64_t *ret_whole, uint64_t *ret_part,
                       uint64_t *ret_scale)
{
    *ret_part = 0;
    *ret_scale = 1;
    if (read_digits(text, ret_whole) < 1) {
        return -1;
    }
    if (**text == '.') {
        (*text)++;
        return read_fraction(text, ret_part, ret_scale);
    }
    return 0;
}

/* Read a number and its unit, which must be smaller than *unit, and set *unit to it. A number alone
 * means seconds. */
static int read_term(const char **text, bool first, uint64_t *unit, uint64_t *ret_ms)
{
    uint64_t whole, part, scale, own;

    if (read_number(text, &whole, &part, &scale) != 0) {
        return -1;
    }
    if (first && !**text) {
        own = 1000;
    } else {
        *text += strspn(*text, " ");
        own = read_unit(text);
    }
    /* part < 10^9 and own < 10^8: the product fits. */
    if (own == 0 || own >= *unit || part * own % scale != 0) {
        return -1;
    }
    part = part * own / scale;
    if (whole > (UINT64_MAX - part) / own) {
        return -1;
    }
    *unit = own;
    *ret_ms = whole * own + part;
    return 0;
}

int rlk_duration_parse(const char *text, uint64_t *ret_ms)
{
    uint64_t unit = UINT64_MAX, total = 0, ms;
    bool first = true;

    do {
        if (read_term(&text, first, &unit, &ms) != 0 || ms > UINT64_MAX - total) {
            return -1;
        }
        total += ms;
        first = false;
        if (text[0] == ' ' && text[strspn(text, " ")]) { /* no blank after the last one */
            text += strspn(text, " ");
        }
    } while (*text);
    *ret_ms = total;
    return 0;
}

/* "2 min 5 s", or "5 min". */
static void print_two(char *buf, uint64_t whole, const char *unit, uint64_t rest,
                      const char *smaller)
{
    int n = snprintf(buf, RLK_DURATION_TEXT, "%" PRIu64 " %s", whole, unit);

    if (rest > 0) {
        snprintf(buf + n, RLK_DURATION_TEXT - (size_t)n, " %" PRIu64 " %s", rest, smaller);
    }
}

const char *rlk_duration_print(uint64_t ms, char *buf)
{
    uint64_t s = ms / 1000;

    if (ms < 1000) {
        snprintf(buf, RLK_DURATION_TEXT, "%" PRIu64 " ms", ms);
    } else if (s < 120) {
        snprintf(buf, RLK_DURATION_TEXT, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
    } else if (s < 7200) {
        print_two(buf, s / 60, "min", s % 60, "s");
    } else if (s < 48 * 3600) {
        print_two(buf, s / 3600, "h", s % 3600 / 60, "min");
    } else {
        print_two(buf, s / 86400, "d", s % 86400 / 3600, "h");
    }
    return buf;
}
