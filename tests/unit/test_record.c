/* test_record.c - when a record of the masters is agreed on, by every set of masters that may have
 * it, and when its newcomers vote [S15]. */
#include <stdio.h>

#include "base/time.h"
#include "core/record.h"
#include "lib/test.h"
#include "unit/records.h"

SUITE("record");

#define MOST 5

static bool is_agreed_by(const struct rlk_record *r, const char *letters)
{
    uint64_t marks[RLK_MAX_NODES];
    unsigned n = records_marks(letters, marks);

    return rlk_record_is_agreed(r, marks, n);
}

/* ---- the text of records.h ---- */

TEST(a_record_of_a_test_is_as_it_was_written)
{
    static const char text[] = "a1 b1:2 c1:3! C3@c d4";
    struct rlk_record r = records_make(7, 4, text);

    ck_assert_str_eq(records_print(&r), text);
    ck_assert_uint_eq(r.ballot.number, 7);
    ck_assert_uint_eq(r.epoch, 4);
    ck_assert_uint_eq(r.n, 5);
    ck_assert_uint_eq(r.master[2].mark, 'c');
    ck_assert(r.master[2].lost && !r.master[1].lost);
}

/* ---- ballots ---- */

/* The number decides, and the id where the numbers are the same. */
TEST_LOOP(ballots_have_an_order, 0, 9 * 9)
{
    struct rlk_ballot a = {(uint64_t)(_i % 9 / 3), (uint64_t)(_i % 3)},
                      b = {(uint64_t)(_i / 9 / 3), (uint64_t)(_i / 9 % 3)};
    int order = _i % 9 - _i / 9, is = rlk_ballot_compare(&a, &b);

    ck_assert_int_eq((is > 0) - (is < 0), (order > 0) - (order < 0));
}

/* ---- what a record says ---- */

static const struct {
    const char *claim, *entries;
    uint32_t epoch, max_ttl_ms;
    bool same;
} others[] = {
    {"the_same_is_the_same", "a1 b1:2! B2@b", 2, RECORDS_MAX_TTL_MS, true},
    {"another_epoch_is_another_record", "a1 b1:2! B2@b", 3, RECORDS_MAX_TTL_MS, false},
    {"another_max_ttl_is_another_record", "a1 b1:2! B2@b", 2, RECORDS_MAX_TTL_MS + 1, false},
    {"one_master_fewer_is_another_record", "a1 b1:2!", 2, RECORDS_MAX_TTL_MS, false},
    {"one_master_more_is_another_record", "a1 b1:2! B2@b c1", 2, RECORDS_MAX_TTL_MS, false},
    {"another_mark_is_another_record", "a1 b1:2! C2@b", 2, RECORDS_MAX_TTL_MS, false},
    {"another_beginning_is_another_record", "a1 b1:2! B1@b", 2, RECORDS_MAX_TTL_MS, false},
    {"another_end_is_another_record", "a1 b1:1! B2@b", 2, RECORDS_MAX_TTL_MS, false},
    {"another_reason_is_another_record", "a1 b1:2 B2@b", 2, RECORDS_MAX_TTL_MS, false},
    {"another_address_is_another_record", "a1 b1:2! B2@c", 2, RECORDS_MAX_TTL_MS, false},
    {"another_order_is_another_record", "a1 B2@b b1:2!", 2, RECORDS_MAX_TTL_MS, false},
};

TEST_ROWS(what_a_record_says, others)
{
    struct rlk_record one = records_make(3, 2, "a1 b1:2! B2@b"),
                      other = records_make(4, others[_i].epoch, others[_i].entries);

    other.max_ttl_ms = others[_i].max_ttl_ms;
    ck_assert(rlk_record_is_same(&one, &other) == others[_i].same);
    ck_assert(rlk_record_is_same(&other, &one) == others[_i].same);
}

/* ---- agreed on ---- */

/* The first `n` masters are a, b, c ...; those in `lost` lost their data, and A, B, C ... are in
 * their places in epoch 2. */
static struct rlk_record make_second(unsigned n, unsigned lost)
{
    char entries[200] = "";
    unsigned i;
    size_t len = 0;

    for (i = 0; i < n; i++) {
        char a = (char)('a' + i), big = (char)('A' + i);

        if (lost & 1u << i) {
            len +=
                (size_t)snprintf(entries + len, sizeof(entries) - len, "%c1:2! %c2@%c ", a, big, a);
        } else {
            len += (size_t)snprintf(entries + len, sizeof(entries) - len, "%c1 ", a);
        }
    }
    return records_make(9, 2, entries);
}

static struct rlk_record make_first(unsigned n)
{
    struct rlk_record r = make_second(n, 0);

    r.epoch = 1;
    return r;
}

/* Letters of a set: bit i is the i-th small letter, bit MOST + i the i-th big one. */
static const char *letters_of(unsigned set)
{
    static char letters[2 * MOST + 1];
    unsigned i, n = 0;

    for (i = 0; i < 2 * MOST; i++) {
        if (set & 1u << i) {
            letters[n++] = (char)(i < MOST ? 'a' + i : 'A' + i - MOST);
        }
    }
    letters[n] = '\0';
    return letters;
}

TEST_LOOP(the_first_record_is_agreed_on_by_a_majority, 1, MOST + 1)
{
    struct rlk_record r = make_first((unsigned)_i);
    unsigned set;

    ck_assert_uint_eq(rlk_record_size(&r), (unsigned)_i);
    ck_assert(!rlk_record_has_newcomers(&r));
    for (set = 0; set < 1u << _i; set++) {
        ck_assert(is_agreed_by(&r, letters_of(set)) == (2 * __builtin_popcount(set) > _i));
    }
}

/* _i: of how many masters. Each of them counts once, by the data that it has now. Nobody has the
 * record with data that were lost: those are in the sets all the same, and must not count. */
TEST_LOOP(a_change_is_agreed_on_by_majorities_of_old_and_new, 1, MOST + 1)
{
    unsigned n = (unsigned)_i, all = (1u << n) - 1, lost, set;

    for (lost = 0; lost <= all; lost++) {
        struct rlk_record r = make_second(n, lost);

        for (set = 0; set < 1u << 2 * MOST; set++) {
            unsigned count =
                (unsigned)__builtin_popcount((set & all & ~lost) | (set >> MOST & lost));

            if ((set & ~(all | all << MOST)) == 0) {
                ck_assert(is_agreed_by(&r, letters_of(set)) == (2 * count > n));
            }
        }
    }
}

/* What that is for: two clients have seen different masters without their data, each a minority.
 * Whatever agrees on the record of one has a master in common with whatever agrees on that of the
 * other. No master has both its data and new ones. */
TEST_LOOP(two_changes_share_a_master, 1, MOST + 1)
{
    unsigned n = (unsigned)_i, all = (1u << n) - 1, one, other, set;

    for (one = 0; one <= all; one++) {
        for (other = 0; other <= all; other++) {
            struct rlk_record r = make_second(n, one), s = make_second(n, other);
            unsigned lost = one | other;

            /* Each server goes to the first or to the second record. */
            for (set = 0; set <= all; set++) {
                unsigned rest = all & ~set;
                bool first = is_agreed_by(&r, letters_of((set & ~lost) | (set & lost) << MOST));

                ck_assert(!first ||
                          !is_agreed_by(&s, letters_of((rest & ~lost) | (rest & lost) << MOST)));
            }
        }
    }
}

TEST_LOOP(a_record_lives_while_a_majority_has_its_data, 1, MOST + 1)
{
    struct rlk_record r = make_first((unsigned)_i);
    unsigned lost;

    for (lost = 0; lost <= (unsigned)_i + 1; lost++) {
        ck_assert(rlk_record_is_alive(&r, lost) == (2 * lost < (unsigned)_i));
    }
}

/* A server that has moved may be shown twice. */
TEST(each_master_counts_once)
{
    struct rlk_record r = make_first(3);

    ck_assert(!is_agreed_by(&r, "aa"));
    ck_assert(!is_agreed_by(&r, "aaa"));
    ck_assert(is_agreed_by(&r, "aab"));
}

TEST(who_is_not_on_record_does_not_count)
{
    struct rlk_record r = make_first(3);
    uint64_t marks[] = {'a', 0, 'z'};

    ck_assert(!is_agreed_by(&r, "axyz"));
    ck_assert(!rlk_record_is_agreed(&r, marks, 3));
    ck_assert(!rlk_record_is_agreed(&r, marks, 0));
}

/* A former master of before the last change does not count as an old one. */
TEST(only_the_masters_of_the_epoch_before_are_old)
{
    struct rlk_record r = records_make(9, 3, "a1:2! b1 c1:3! A2@a C3@c d2:3");

    ck_assert(!is_agreed_by(&r, "ab"));
    ck_assert(!is_agreed_by(&r, "aC"));
    ck_assert(!is_agreed_by(&r, "bd"));
    ck_assert(!is_agreed_by(&r, "bC"));
    ck_assert(!is_agreed_by(&r, "bA"));
    ck_assert(is_agreed_by(&r, "bAC"));
    ck_assert(is_agreed_by(&r, "bCd"));
}

/* Without losing its data: a master may also be taken off the record. It still agrees. */
TEST(who_leaves_agrees_as_an_old_one_only)
{
    struct rlk_record r = records_make(9, 2, "a1 b1 c1:2 d2");

    ck_assert(is_agreed_by(&r, "ab"));
    ck_assert(is_agreed_by(&r, "acd"));
    ck_assert(!is_agreed_by(&r, "ac"));
    ck_assert(!is_agreed_by(&r, "ad"));
    ck_assert(!is_agreed_by(&r, "bd"));
}

/* New data count in the place of lost ones, and so for no more of them than there are. */
TEST(newcomers_do_not_agree_in_the_place_of_masters_that_left)
{
    struct rlk_record r = records_make(9, 2, "a1 b1:2 c1:2! B2 C2@c");

    ck_assert(!is_agreed_by(&r, "BC"));
    ck_assert(!is_agreed_by(&r, "BCc")); /* nor does an old copy of what was lost */
    ck_assert(is_agreed_by(&r, "aC"));
    ck_assert(!is_agreed_by(&r, "bC"));
}

/* [M8] e joins, and d loses its data meanwhile. Where the new data are at the address of the lost
 * ones they are known; else they may be those that joined. */
TEST(a_server_that_is_added_does_not_agree_for_one_that_lost_its_data)
{
    struct rlk_record r = records_make(9, 3, "a1 b1 c1 d1:3! e3 D3@d"),
                      s = records_make(9, 3, "a1 b1 c1 d1:3! e3 D3@x");

    ck_assert(is_agreed_by(&r, "abc"));
    ck_assert(is_agreed_by(&r, "abD"));
    ck_assert(!is_agreed_by(&r, "abe"));
    ck_assert(!is_agreed_by(&s, "abD"));
    ck_assert(!is_agreed_by(&s, "abe"));
    ck_assert(is_agreed_by(&s, "abeD"));
}

/* [M8] */
TEST(what_a_record_changes)
{
    static const struct {
        const char *entries;
        unsigned former;
        bool servers, resizes, moves;
    } changes[] = {{"a1 b1 c1", 3, false, false, false},
                   {"a1 b1 c1 d3", 3, true, true, false},
                   {"a1 b1 c1:3", 3, true, true, true},
                   {"a1 b1 c1:3 d3", 3, true, false, true},
                   {"a1 b1 c1:3! C3@c", 3, false, false, false},
                   {"a1 b1 c1:3! C3@c d3", 3, true, true, false},
                   {"a1 b1:3! c1:3! B3@b C3@c d3", 3, true, false, false},
                   {"a1 b1 c1 d1:2", 3, false, false, false},
                   {"a3 b3 c3", 0, false, false, false}};
    unsigned i;

    for (i = 0; i < N_ROWS(changes); i++) {
        struct rlk_record r = records_make(9, 3, changes[i].entries);

        ck_assert_uint_eq(rlk_record_former_size(&r), changes[i].former);
        ck_assert(rlk_record_changes_servers(&r) == changes[i].servers);
        ck_assert(rlk_record_resizes(&r) == changes[i].resizes);
        ck_assert(rlk_record_moves(&r) == changes[i].moves);
    }
}

/* ---- where a mark is ---- */

TEST(a_mark_is_found_where_it_is_a_master)
{
    struct rlk_record r = records_make(9, 3, "a1 b1:2 B2:3!@b b3 c1");

    ck_assert_int_eq(rlk_record_find(&r, 'a'), 0);
    ck_assert_int_eq(rlk_record_find(&r, 'b'), 3);
    ck_assert_int_eq(rlk_record_find(&r, 'B'), 2);
    ck_assert_int_eq(rlk_record_find(&r, 'x'), -1);
    ck_assert_int_eq(rlk_record_find(&r, 0), -1);
}

/* ---- newcomers ---- */

TEST_LOOP(new_data_are_a_newcomer_where_a_majority_is_left, 1, MOST + 1)
{
    unsigned n = (unsigned)_i, lost, i;

    for (lost = 0; lost < 1u << n; lost++) {
        struct rlk_record r = make_second(n, lost);
        bool wait = 2 * (unsigned)__builtin_popcount(lost) < n;

        ck_assert(rlk_record_has_newcomers(&r) == (wait && lost != 0));
        for (i = 0; i < r.n; i++) {
            ck_assert(rlk_record_is_newcomer(&r, &r.master[i]) == (wait && r.master[i].from == 2));
        }
    }
}

/* The first time at which those that have it are enough to agree. */
static uint64_t agreed_since(const struct rlk_record *r, const uint64_t *marks,
                             const uint64_t *since_us, unsigned n)
{
    uint64_t at, having[4];
    unsigned i, found;

    for (at = 0; at < 4; at++) {
        for (i = found = 0; i < n; i++) {
            if (since_us[i] <= at) {
                having[found++] = marks[i];
            }
        }
        if (rlk_record_is_agreed(r, having, found)) {
            return at;
        }
    }
    return RLK_NEVER;
}

/* Four that may have it, each since 0, 1, 2, 3 or not at all; in any order, b is the one that lost
 * its data. */
TEST_LOOP(newcomers_wait_from_when_it_was_agreed_on, 0, 5 * 5 * 5 * 5)
{
    static const char *const records[] = {"a1 b1:2! c1 B2@b", "a1 b1 c1",
                                          "a1:2! b1:2! c1 A2@a B2@b"};
    static const uint64_t marks[] = {'a', 'B', 'c', 'A'};
    uint64_t since_us[4];
    unsigned i, left = (unsigned)_i;

    for (i = 0; i < 4; i++, left /= 5) {
        since_us[i] = left % 5 == 4 ? RLK_NEVER : left % 5;
    }
    for (i = 0; i < N_ROWS(records); i++) {
        struct rlk_record r = records_make(9, i == 1 ? 1 : 2, records[i]);

        ck_assert_uint_eq(rlk_record_settles_us(&r, marks, since_us, 4, 100),
                          rlk_time_add(agreed_since(&r, marks, since_us, 4), 100));
    }
}

TEST(a_time_in_the_past_is_no_time_before_all_others)
{
    struct rlk_record r = make_first(3);
    uint64_t marks[] = {'a', 'b'}, since_us[] = {RLK_NEVER, 5};

    ck_assert_uint_eq(rlk_record_settles_us(&r, marks, since_us, 2, 100), RLK_NEVER);
    ck_assert_uint_eq(rlk_record_settles_us(&r, marks, since_us, 0, 100), RLK_NEVER);
}

TEST(a_master_that_is_shown_twice_counts_once_for_the_wait)
{
    struct rlk_record r = make_first(3);
    uint64_t marks[] = {'a', 'a', 'b'}, since_us[] = {1, 2, 7};

    ck_assert_uint_eq(rlk_record_settles_us(&r, marks, since_us, 3, 100), 107);
}
