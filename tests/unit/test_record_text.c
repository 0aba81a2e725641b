/* test_record_text.c - a record of the masters as text: read and written, and every text that
 * is no record [S15]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "node/record_text.h"

SUITE("record-text");

#define HEAD "1 7 00000000000000ab 3 300000\n"
#define ID "00000000000000ab"
#define A "000000000000000a 1 - redis://a:6379/0\n"
#define B "000000000000000b 1 2! redis://b:6379/0\n"
#define C "ffffffffffffffff 3 - unix:///tmp/a%20b on here\n"
#define D "000000000000000d 2 3 redis://d:6379/0\n"

static struct rlk_record r;

/* The same bytes alone in memory, so that the sanitizers see each byte that is read behind them. */
static bool is_record(const char *text)
{
    char *copy = strdup(text);
    bool is = rlk_record_read(copy, &r);

    free(copy);
    return is;
}

static const char *write(const struct rlk_record *record)
{
    static char memory[8192];
    struct rlk_text text = {.to = memory, .size = sizeof(memory) - 1};

    rlk_record_write(record, &text);
    ck_assert_uint_lt(text.len, sizeof(memory));
    memory[text.len] = '\0';
    return memory;
}

/* ---- what is a record ---- */

TEST(each_field_is_read)
{
    ck_assert(rlk_record_read(HEAD A B C D, &r));
    ck_assert_uint_eq(r.ballot.number, 7);
    ck_assert_uint_eq(r.ballot.id, 0xab);
    ck_assert_uint_eq(r.epoch, 3);
    ck_assert_uint_eq(r.max_ttl_ms, 300000);
    ck_assert_uint_eq(r.n, 4);
    ck_assert_uint_eq(r.master[0].mark, 0xa);
    ck_assert_uint_eq(r.master[0].from, 1);
    ck_assert_uint_eq(r.master[0].until, 0);
    ck_assert(!r.master[0].lost);
    ck_assert_uint_eq(r.master[0].len, strlen("redis://a:6379/0"));
    ck_assert_int_eq(strncmp(r.master[0].address, "redis://a:6379/0\n", r.master[0].len + 1), 0);
    ck_assert_uint_eq(r.master[1].until, 2);
    ck_assert(r.master[1].lost);
    ck_assert_uint_eq(r.master[2].mark, UINT64_MAX);
    ck_assert_int_eq(strncmp(r.master[2].address, "unix:///tmp/a%20b on here\n", 26), 0);
    ck_assert_uint_eq(r.master[3].until, 3);
    ck_assert(!r.master[3].lost);
}

static const struct {
    const char *claim, *text;
} records[] = {
    {"one_master_is_written_as_it_was_read", HEAD A},
    {"former_masters_are_written_as_they_were_read", HEAD A B C D},
    {"the_largest_numbers_are_written_as_they_were_read",
     "1 9007199254740992 ffffffffffffffff 4294967295 4294967295\n"
     "ffffffffffffffff 4294967294 4294967295! x\nfffffffffffffffe 4294967295 - x\n"},
    {"the_smallest_numbers_are_written_as_they_were_read",
     "1 0 0000000000000000 1 0\n0000000000000001 1 - x\n"},
};

TEST_ROWS(round_trip, records)
{
    ck_assert(rlk_record_read(records[_i].text, &r));
    ck_assert_str_eq(write(&r), records[_i].text);
}

/* As many masters as there may be; and one more. */
TEST_LOOP(a_record_has_so_many_entries_and_no_more, RLK_RECORD_MASTERS, RLK_RECORD_MASTERS + 2)
{
    char text[16384];
    size_t len = (size_t)snprintf(text, sizeof(text), HEAD);
    int i;

    for (i = 0; i < _i; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%016x 1 - redis://a:6379/0\n",
                                (unsigned)i + 1);
    }
    ck_assert(is_record(text) == (_i == RLK_RECORD_MASTERS));
    if (_i == RLK_RECORD_MASTERS) {
        ck_assert_uint_eq(r.n, RLK_RECORD_MASTERS);
    }
}

/* ---- what is no record ---- */

static const struct {
    const char *claim, *text;
} broken[] = {
    {"an_empty_text_is_no_record", ""},
    {"a_line_end_is_no_record", "\n"},
    {"another_version_is_not_read", "2 7 " ID " 3 300000\n" A},
    {"a_version_that_begins_alike_is_not_read", "11 7 " ID " 3 300000\n" A},
    {"a_head_without_masters_is_no_record", HEAD},
    {"former_masters_alone_are_no_record", HEAD B D},
    {"a_head_without_its_end_is_no_record", "1 7 " ID " 3 300000"},
    {"a_blank_more_is_no_record", "1  7 " ID " 3 300000\n" A},
    {"a_blank_in_front_is_no_record", " " HEAD A},
    {"a_field_more_is_no_record", "1 7 " ID " 3 300000 5\n" A},
    {"a_number_with_a_sign_is_refused", "1 +7 " ID " 3 300000\n" A},
    {"a_negative_number_is_refused", "1 -7 " ID " 3 300000\n" A},
    {"a_ballot_that_lua_cannot_tell_apart_is_refused", "1 9007199254740993 " ID " 3 300000\n" A},
    {"a_ballot_of_twenty_digits_is_refused", "1 18446744073709551616 " ID " 3 300000\n" A},
    {"a_short_id_is_refused", "1 7 ab 3 300000\n" A},
    {"a_long_id_is_refused", "1 7 0" ID " 3 300000\n" A},
    {"an_id_in_upper_case_is_refused", "1 7 00000000000000AB 3 300000\n" A},
    {"an_id_that_is_no_hex_is_refused", "1 7 00000000000000xy 3 300000\n" A},
    {"the_epoch_zero_is_refused", "1 7 " ID " 0 300000\n" A},
    {"an_epoch_above_32_bits_is_refused", "1 7 " ID " 4294967296 300000\n" A},
    {"a_ttl_above_32_bits_is_refused", "1 7 " ID " 3 4294967296\n" A},
    {"a_master_without_a_mark_is_refused", HEAD "0000000000000000 1 - x\n"},
    {"a_master_with_a_short_mark_is_refused", HEAD "a 1 - x\n"},
    {"a_master_with_a_long_mark_is_refused", HEAD "0000000000000000a 1 - x\n"},
    {"a_master_from_no_epoch_is_refused", HEAD "000000000000000a 0 - x\n"},
    {"a_master_from_later_on_is_refused", HEAD A "000000000000000b 4 - x\n"},
    {"a_master_until_later_is_refused", HEAD A "000000000000000b 1 4 x\n"},
    {"a_master_until_zero_is_refused", HEAD A "000000000000000b 1 0 x\n"},
    {"a_master_lost_in_no_epoch_is_refused", HEAD A "000000000000000b 1 ! x\n"},
    {"a_master_that_ends_before_it_begins_is_refused", HEAD A "000000000000000b 2 2 x\n"},
    {"a_master_that_is_and_is_lost_is_refused", HEAD A "000000000000000b 1 -! x\n"},
    {"a_master_without_an_until_is_refused", HEAD A "000000000000000b 1 x\n"},
    {"a_lost_master_wants_a_blank", HEAD A "000000000000000b 1 2!x\n"},
    {"a_master_without_an_address_is_refused", HEAD A "000000000000000b 1 - \n"},
    {"a_master_without_the_line_end_is_refused", HEAD A "000000000000000b 1 - x"},
    {"an_empty_line_is_no_master", HEAD A "\n" C},
    {"a_text_behind_the_masters_is_refused", HEAD A "x"},
    {"an_address_that_controls_a_terminal_is_refused", HEAD A "000000000000000b 1 - x\033[31m\n"},
    {"an_address_with_a_tab_is_refused", HEAD A "000000000000000b 1 - x\ty\n"},
    {"an_address_with_a_delete_is_refused", HEAD A "000000000000000b 1 - x\177\n"},
    {"an_address_that_is_not_ascii_is_refused", HEAD A "000000000000000b 1 - x\303\244\n"},
    {"a_carriage_return_is_no_line_end", "1 7 " ID " 3 300000\r\n" A},
};

TEST_ROWS(broken_text, broken)
{
    ck_assert(!is_record(broken[_i].text));
}

/* Cut behind a whole line of a master it is another record; anywhere else it is no record. */
TEST(a_text_that_was_cut_is_no_record)
{
    static const char whole[] = HEAD A B C;
    size_t len;

    for (len = 0; len < sizeof(whole) - 1; len++) {
        char *cut = strndup(whole, len);
        bool at_line = len == strlen(HEAD A) || len == strlen(HEAD A B);

        ck_assert_msg(rlk_record_read(cut, &r) == at_line, "%zu bytes", len);
        free(cut);
    }
}

/* Whatever is read can be written, and is read again as the same. */
TEST(whatever_byte_is_changed)
{
    static const char whole[] = HEAD A B C D;
    char text[sizeof(whole)], again[sizeof(whole)];
    static struct rlk_record second;
    size_t at;
    int c;

    for (at = 0; at < sizeof(whole) - 1; at++) {
        for (c = 1; c < 256; c++) {
            memcpy(text, whole, sizeof(text));
            text[at] = (char)c;
            if (is_record(text) && rlk_record_read(text, &r)) {
                snprintf(again, sizeof(again), "%s", write(&r));
                ck_assert(rlk_record_read(again, &second));
                ck_assert(rlk_record_is_same(&r, &second));
                ck_assert_int_eq(rlk_ballot_compare(&r.ballot, &second.ballot), 0);
            }
        }
    }
}

/* ---- what a master keeps ---- */

static struct rlk_ballot promised;
static uint64_t since_us;
static const char *record;

TEST(what_a_master_keeps_is_read)
{
    ck_assert(
        rlk_record_read_kept("9 " ID " 1795896189865524\n" HEAD A, &promised, &since_us, &record));
    ck_assert_uint_eq(promised.number, 9);
    ck_assert_uint_eq(promised.id, 0xab);
    ck_assert_uint_eq(since_us, 1795896189865524);
    ck_assert_str_eq(record, HEAD A);
}

TEST(a_promise_without_a_record_is_read)
{
    ck_assert(rlk_record_read_kept("9 " ID " 5\n", &promised, &since_us, &record));
    ck_assert_str_eq(record, "");
}

static const struct {
    const char *claim, *text;
} kept[] = {
    {"an_empty_value_is_no_promise", ""},
    {"a_value_without_a_line_end_is_no_promise", "9 " ID " 5"},
    {"a_value_without_since_is_no_promise", "9 " ID "\n"},
    {"a_value_with_a_short_id_is_no_promise", "9 ab 5\n"},
    {"a_value_with_a_long_id_is_no_promise", "9 0" ID " 5\n"},
    {"a_value_with_a_negative_number_is_no_promise", "-9 " ID " 5\n"},
    {"a_value_with_too_large_a_number_is_no_promise", "9007199254740993 " ID " 5\n"},
    {"a_value_with_a_negative_time_is_no_promise", "9 " ID " -5\n"},
    {"a_value_with_a_time_of_twenty_digits_is_no_promise", "9 " ID " 10000000000000000000\n"},
    {"garbage_is_no_promise", "\n\n\n"},
};

TEST_ROWS(no_promise, kept)
{
    char *copy = strdup(kept[_i].text);

    ck_assert(!rlk_record_read_kept(copy, &promised, &since_us, &record));
    ck_assert_ptr_null(record);
    free(copy);
}

/* It is left to those that can read it. */
TEST(a_later_form_is_known_by_its_number)
{
    ck_assert(rlk_record_is_of_later_form("2 anything else"));
    ck_assert(rlk_record_is_of_later_form("10 "));
    ck_assert(!rlk_record_is_of_later_form("1 5 00000000000000aa 1 10000\n"));
    ck_assert(!rlk_record_is_of_later_form("2"));
    ck_assert(!rlk_record_is_of_later_form("x 2 "));
    ck_assert(!rlk_record_is_of_later_form(""));
}
