/* fuzz_duration.c - any bytes as a span of time on the command line, and any number printed.
 *
 * Reading is compared with a calculation in 128 bits; what is printed is read back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/duration.h"
#include "fuzz.h"

__extension__ typedef unsigned __int128 wide;

#define UNTOUCHED UINT64_C(0x5eed)

/* The value of digits[0..n), stuck far above 64 bits. */
static wide value_of(const char *digits, size_t n)
{
    wide value = 0, most = (wide)1 << 80;

    for (; n > 0; n--, digits++) {
        value = value * 10 + (wide)(*digits - '0');
        value = value > most ? most : value;
    }
    return value;
}

static uint64_t unit_of(const char *text)
{
    if (strcmp(text, "ms") == 0) {
        return 1;
    }
    if (text[0] == '\0' || strcmp(text, "s") == 0) {
        return 1000;
    }
    if (strcmp(text, "m") == 0) {
        return UINT64_C(60) * 1000;
    }
    return strcmp(text, "h") == 0 ? UINT64_C(3600) * 1000 : 0;
}

/* What the text means; false when it means nothing. */
static bool meaning(const char *text, uint64_t *ret_ms)
{
    size_t whole_len = strspn(text, "0123456789"), part_len = 0, i;
    const char *part = text + whole_len;
    wide value, scale = 1;

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
    value =
        (value_of(text, whole_len) * scale + value_of(part, part_len)) * unit_of(part + part_len);
    *ret_ms = (uint64_t)(value / scale);
    return whole_len > 0 && unit_of(part + part_len) > 0 && value % scale == 0 &&
           value / scale <= UINT64_MAX;
}

static void check_reading(const char *text)
{
    uint64_t got_ms = UNTOUCHED, meant_ms;
    bool means = meaning(text, &meant_ms);
    int status = cli_duration_parse(text, &got_ms);

    FUZZ_CHECK(status == (means ? 0 : -1), "exactly the spans are taken");
    FUZZ_CHECK(got_ms == (means ? meant_ms : UNTOUCHED), "a span is read exactly, or not at all");
}

/* What a printed span says, and how much it may leave out. */
static uint64_t read_back(const char *text, uint64_t *ret_less)
{
    uint64_t a, b;
    int end = 0;

    if (sscanf(text, "%" SCNu64 " h %" SCNu64 " min%n", &a, &b, &end) == 2 && end > 0) {
        *ret_less = 60000;
        FUZZ_CHECK(a >= 2 && b < 60, "two hours and more, of 60 minutes");
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

static void check_printing(uint64_t ms)
{
    char *text = malloc(CLI_DURATION_TEXT);
    uint64_t said, less;

    if (text == NULL) {
        abort();
    }
    FUZZ_CHECK(cli_duration_print(ms, text) == text, "it returns its buffer");
    FUZZ_CHECK(strlen(text) < CLI_DURATION_TEXT - 1, "nothing is cut");
    said = read_back(text, &less);
    FUZZ_CHECK(said <= ms && ms - said < less, "what is printed is rounded down");
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
