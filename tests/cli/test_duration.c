/* test_duration.c - durations as people write and read them. */
#include <stdint.h>
#include <stdio.h>

#include "settings/duration.h"
#include "lib/test.h"

SUITE("duration");

/* The text, and what it means in milliseconds. */
static const struct {
    const char *text;
    uint64_t ms;
} good[] = {
    {"0", 0},
    {"0ms", 0},
    {"1", 1000},
    {"10", 10000},
    {"500ms", 500},
    {"10s", 10000},
    {"2m", 120000},
    {"1h", 3600000},
    {"24h", 86400000},
    {"1d", 86400000},
    {"1.5d", 129600000},
    {"7min", 420000},
    {"1m30s", 90000},
    {"1h2m", 3720000},
    {"1 s", 1000},
    {"2 min 5 s", 125000},
    {"2min5s", 125000},
    {"3  d  4h 1ms", 273600001},
    {"1.5h0.5s", 5400500},
    {"1.5s", 1500},
    {"1.5", 1500},
    {"0.001s", 1},
    {"1.000s", 1000},
    {"1.0ms", 1},
    {"0.1m", 6000},
    {"0.25h", 900000},
    {"0.000005h", 18},
    {"007s", 7000},
    {"18446744073709551615ms", UINT64_MAX},
    {"18446744073709551.615s", UINT64_MAX},
};

static const char *const bad[] = {
    "",
    " ",
    "s",
    "ms",
    "-1s",
    "+1s",
    " 1s",
    "1s ",
    "1.s",
    ".5s",
    "1.5.5s",
    "1,5s",
    "1x",
    "1S",
    "1sec",
    "0x10",
    "1e3",
    "inf",
    "nan",
    "1.5ms",
    "0.0001s",
    "1.0001s",
    "1s1",
    "1h30",
    "1 ",
    "1h 30",
    "1 h ",
    " ms",
    "1s 1s",
    "1m1min",
    "5s 2m",
    "500ms 2s",
    "1h-2m",
    "1h,2m",
    "1 .5s",
    "1. 5s",
    "1mi",
    "1mins",
    "1.999999h",
    "0.1234567890s",
    "1.0000000000s",
};

static const char *const too_large[] = {
    "18446744073709551616ms", "18446744073709551.616s",  "18446744073709552s",
    "307445734561825861m",    "5124095576030432h",       "99999999999999999999999999999",
    "213503982335d",          "18446744073709551s616ms", "5124095576030h 26 min",
    "18446744073709551615",   "18446744073709551615h",   "18446744073709551615.999999999s",
};

/* What is printed for people. */
static const struct {
    uint64_t ms;
    const char *text;
} written[] = {
    {0, "0 ms"},
    {999, "999 ms"},
    {1000, "1.0 s"},
    {9999, "9.9 s"},
    {119999, "119.9 s"},
    {120000, "2 min"},
    {7199999, "119 min 59 s"},
    {7200000, "2 h"},
    {86400000, "24 h"},
    {172799999, "47 h 59 min"},
    {172800000, "2 d"},
    {UINT64_MAX, "213503982334 d 14 h"},
};

TEST_LOOP(numbers_with_units_are_read, 0, N_ROWS(good))
{
    uint64_t ms = 77;

    ck_assert_msg(rlk_duration_parse(good[_i].text, &ms) == 0, "'%s'", good[_i].text);
    ck_assert_msg(ms == good[_i].ms, "'%s'", good[_i].text);
}

TEST_LOOP(what_is_no_span_is_refused, 0, N_ROWS(bad))
{
    uint64_t ms = 77;

    ck_assert_msg(rlk_duration_parse(bad[_i], &ms) != 0, "'%s'", bad[_i]);
    ck_assert_uint_eq(ms, 77);
}

TEST_LOOP(what_does_not_fit_is_refused, 0, N_ROWS(too_large))
{
    uint64_t ms = 77;

    ck_assert_msg(rlk_duration_parse(too_large[_i], &ms) != 0, "'%s'", too_large[_i]);
    ck_assert_uint_eq(ms, 77);
}

TEST(every_whole_number_of_milliseconds_is_read_back)
{
    char text[32];
    uint64_t ms;

    for (unsigned n = 0; n <= 5000; n++) {
        snprintf(text, sizeof text, "%u.%03us", n / 1000, n % 1000);
        ck_assert_int_eq(rlk_duration_parse(text, &ms), 0);
        ck_assert_uint_eq(ms, n);
    }
}

/* Printed text can be read again; it was rounded down, by less than its smaller unit. */
TEST_LOOP(spans_are_written_for_people, 0, N_ROWS(written))
{
    char text[RLK_DURATION_TEXT];
    uint64_t ms;

    ck_assert_str_eq(rlk_duration_print(written[_i].ms, text), written[_i].text);
    ck_assert_msg(rlk_duration_parse(text, &ms) == 0, "'%s'", text);
    ck_assert_msg(ms <= written[_i].ms && written[_i].ms - ms < 3600000, "'%s'", text);
}
