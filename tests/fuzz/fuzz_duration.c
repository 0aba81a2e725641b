/* fuzz_duration.c - any bytes as a span of time on the command line, and any number printed.
 *
 * Reading is compared with a calculation in 128 bits; what is printed is read back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/duration.h"
#include "fuzz.h"

__extension__ typedef unsigned __int128 wide;

#define UNTOUCHED UINT64_C(0x5eed)

/* The value of digits[0..n), stuck far above 64 bits. */
static wide value_of(const char *digits, size_t n)
{
    wide value = 0, most = (wide)1 << 70;

    for (; n > 0; n--, digits++) {
        value = value * 10 + (wide)(*digits - '0');
        value = value > most ? most : value;
    }
    return value;
}

static uint64_t unit_of(const char *text, size_t n)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"ms", 1},          {"s", 1000},        {"m", 60 * 1000},
                 {"min", 60 * 1000}, {"h", 3600 * 1000}, {"d", 24 * 3600 * 1000}};
    size_t i;

    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (n == strlen(units[i].name) && memcmp(text, units[i].name, n) == 0) {
            return units[i].ms;
        }
    }
    return 0;
}

/* One "12.5 min" of it: moves *text behind it. False when it means nothing. */
static bool term(const char **text, const char *all, uint64_t *ret_unit, wide *ret_ms)
{
    const char *whole = *text, *part, *unit;
    size_t whole_len = strspn(whole, "0123456789"), part_len = 0, i;
    wide value, scale = 1;

    part = whole + whole_len;
    if (*part == '.') {
        part++;
        part_len = strspn(part, "0123456789");
        if (part_len < 1 || part_len > 9) {
            return false;
        }
    }
    for (i = 0; i < part_len; i++) {
        scale *= 10;
    }
    unit = part + part_len;
    if (whole == all && *unit == '\0') {
        *ret_unit = 1000;
        *text = unit;
    } else {
        unit += strspn(unit, " ");
        *text = unit + strspn(unit, "abcdefghijklmnopqrstuvwxyz");
        *ret_unit = unit_of(unit, (size_t)(*text - unit));
    }
    value = (value_of(whole, whole_len) * scale + value_of(part, part_len)) * *ret_unit;
    *ret_ms = value / scale;
    return whole_len > 0 && *ret_unit > 0 && value % scale == 0;
}

/* What the text means; false when it means nothing. */
static bool meaning(const char *text, uint64_t *ret_ms)
{
    const char *all = text;
    uint64_t last = UINT64_MAX, unit;
    wide sum = 0, ms;

    if (*text == '\0' || text[strlen(text) - 1] == ' ') {
        return false;
    }
    for (; *text; text += strspn(text, " ")) {
        if (!term(&text, all, &unit, &ms) || unit >= last) {
            return false;
        }
        last = unit;
        sum += ms;
    }
    *ret_ms = (uint64_t)sum;
    return sum <= UINT64_MAX;
}

static void check_reading(const char *text)
{
    uint64_t got_ms = UNTOUCHED, meant_ms;
    bool means = meaning(text, &meant_ms);
    int status = rlk_duration_parse(text, &got_ms);

    FUZZ_CHECK(status == (means ? 0 : -1), "exactly the spans are taken");
    FUZZ_CHECK(got_ms == (means ? meant_ms : UNTOUCHED), "a span is read exactly, or not at all");
}

/* What a printed span says, and how much it may leave out. */
static uint64_t read_back(const char *text, uint64_t *ret_less)
{
    uint64_t a, b;
    int end = 0;

    if (sscanf(text, "%" SCNu64 " d %" SCNu64 " h%n", &a, &b, &end) == 2 && end > 0) {
        *ret_less = 3600000;
        FUZZ_CHECK(a >= 2 && b < 24, "two days and more, of 24 hours");
        a = a * 86400000 + b * 3600000;
    } else if (sscanf(text, "%" SCNu64 " h %" SCNu64 " min%n", &a, &b, &end) == 2 && end > 0) {
        *ret_less = 60000;
        FUZZ_CHECK(a >= 2 && a < 48 && b < 60, "two hours to two days");
        a = a * 3600000 + b * 60000;
    } else if (sscanf(text, "%" SCNu64 " min %" SCNu64 " s%n", &a, &b, &end) == 2 && end > 0) {
        *ret_less = 1000;
        FUZZ_CHECK(a >= 2 && a < 120 && b < 60, "two minutes to two hours");
        a = a * 60000 + b * 1000;
    } else if (sscanf(text, "%" SCNu64 ".%" SCNu64 " s%n", &a, &b, &end) == 2 && end > 0) {
        *ret_less = 100;
        FUZZ_CHECK(a >= 1 && a < 120 && b < 10, "a second to two minutes, with one digit");
        a = a * 1000 + b * 100;
    } else {
        *ret_less = 1;
        FUZZ_CHECK(sscanf(text, "%" SCNu64 " ms%n", &a, &end) == 1 && end > 0, "it has a unit");
        FUZZ_CHECK(a < 1000, "less than a second");
    }
    FUZZ_CHECK(text[end] == '\0', "nothing stands behind the unit");
    return a;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    return len >= n && strcmp(text + len - n, end) == 0;
}

/* "5 min" means "5 min 0 s", which is not printed. */
static void complete(const char *text, char *all, size_t size)
{
    const char *rest = "";

    FUZZ_CHECK(strstr(text, " 0 ") == NULL, "nothing is said of what is 0");
    if (ends_with(text, " d")) {
        rest = " 0 h";
    } else if (ends_with(text, " h") && !strstr(text, " d ")) {
        rest = " 0 min";
    } else if (ends_with(text, " min") && !strstr(text, " h ")) {
        rest = " 0 s";
    }
    snprintf(all, size, "%s%s", text, rest);
}

static void check_printing(uint64_t ms)
{
    char *text = malloc(RLK_DURATION_TEXT), all[RLK_DURATION_TEXT + 8];
    uint64_t said, less;

    if (text == NULL) {
        abort();
    }
    FUZZ_CHECK(rlk_duration_print(ms, text) == text, "it returns its buffer");
    FUZZ_CHECK(strlen(text) < RLK_DURATION_TEXT - 1, "nothing is cut");
    complete(text, all, sizeof(all));
    said = read_back(all, &less);
    FUZZ_CHECK(said <= ms && ms - said < less, "what is printed is rounded down");
    FUZZ_CHECK(rlk_duration_parse(text, &less) == 0 && less == said, "what is printed is read");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_script s = {data, data + size};
    char *text = fuzz_text(data, size);

    check_reading(text);
    check_printing(fuzz_number(&s));
    free(text);
    return 0;
}
