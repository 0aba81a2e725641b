/* test_past.c - what the entries of several masters say together. Each test is a story: entries,
 * and the events that they are. */
#include "lock/past.h"

#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "lib/voters.h"

SUITE("past");

#define MOST 16
#define NEVER UINT64_MAX

static struct rlk_past_entry entries[MOST];
static size_t n_entries;
static struct rlk_past_masters masters;
static struct redlock_history_event events[2 * MOST];

/* Masters that know everything. */
static void begin(unsigned n)
{
    memset(&masters, 0, sizeof(masters));
    masters.n = n;
    masters.voters = all_voters(n);
    n_entries = 0;
}

static struct rlk_past_entry *add(uint64_t ms, unsigned node, const char *event, const char *id)
{
    struct rlk_past_entry *e = &entries[n_entries++];

    *e = (struct rlk_past_entry){.ms = ms, .node = node, .kind = rlk_past_kind(event)};
    snprintf(e->id, sizeof(e->id), "%s", id);
    return e;
}

static void add_on(uint64_t ms, unsigned first, unsigned last, const char *event, const char *id)
{
    unsigned node;

    for (node = first; node < last; node++) {
        add(ms + node, node, event, id);
    }
}

/* "acquired a 7" for each event: what, whose, on which masters; "!" behind a lost round. */
static void must_be(const char *expected)
{
    static const char *const names[] = {"?",      "acquired",  "adopted",
                                        "broken", "released",  "handed over",
                                        "lost",   "withdrawn", "expired"};
    char text[512] = "";
    size_t n = rlk_past_events(entries, n_entries, &masters, events), i, used = 0;

    for (i = 0; i < n; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s %x%s", i ? ", " : "",
                                 names[events[i].kind], events[i].id, (unsigned)events[i].masters,
                                 events[i].lost_round ? "!" : "");
    }
    ck_assert_str_eq(text, expected);
}

TEST(entries_of_one_token_are_one_event)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add_on(50, 0, 3, "released", "a");
    must_be("acquired a 7, released a 7");
    ck_assert_uint_eq(events[0].time_ms, 11);
    ck_assert_uint_eq(events[0].missing, 0);
}

TEST(no_entry_is_no_event)
{
    begin(3);
    must_be("");
}

/* A clock that is a day ahead moves nothing: the median counts. */
TEST(one_clock_that_is_wrong_does_not_matter)
{
    begin(3);
    add(10, 0, "acquired", "a");
    add(86400000, 1, "acquired", "a");
    add(12, 2, "acquired", "a");
    add_on(50, 0, 3, "released", "a");
    must_be("acquired a 7, released a 7");
    ck_assert_uint_eq(events[0].time_ms, 12);
}

TEST(the_largest_fencing_token_counts)
{
    begin(3);
    add(10, 0, "acquired", "a")->fence = 7;
    add(11, 1, "acquired", "a")->fence = 9;
    must_be("acquired a 3");
    ck_assert_uint_eq(events[0].fencing_token, 9);
    ck_assert_uint_eq(events[0].missing, 4);
}

/* A release that was sent again says so twice on one master. */
TEST(what_one_master_says_twice_is_one_event)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add(50, 0, "lost", "a");
    add(90, 0, "lost", "a");
    must_be("acquired a 7, lost a 1");
    ck_assert_uint_eq(events[1].time_ms, 50);
}

TEST(each_adoption_is_an_event)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add_on(50, 0, 3, "adopted", "a");
    add_on(90, 0, 3, "adopted", "a");
    must_be("acquired a 7, adopted a 7, adopted a 7");
}

/* Nothing tells them apart. */
TEST(locks_of_other_libraries_are_told_apart_by_their_masters)
{
    begin(3);
    add_on(10, 0, 3, "released", "");
    add_on(50, 0, 3, "released", "");
    must_be("released  7, released  7");
}

TEST(tokens_that_begin_alike_are_told_apart_by_their_owners)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add_on(50, 0, 3, "acquired", "a");
    snprintf(entries[3].owner, sizeof(entries[3].owner), "ann");
    snprintf(entries[4].owner, sizeof(entries[4].owner), "ann");
    snprintf(entries[5].owner, sizeof(entries[5].owner), "ann");
    must_be("acquired a 7, expired a 0, acquired a 7");
}

/* Within the same ms: the number of the entry on each master decides. */
TEST(a_lock_of_the_same_millisecond_comes_after_the_release_before_it)
{
    begin(1);
    add(10, 0, "released", "b")->seq = 3;
    add(10, 0, "acquired", "b")->seq = 2;
    add(10, 0, "released", "a")->seq = 1;
    add(10, 0, "acquired", "a")->seq = 0;
    must_be("acquired a 1, released a 1, acquired b 1, released b 1");
    ck_assert_uint_eq(events[3].time_ms, 10);
}

/* ---- rounds that were lost ---- */

TEST(what_a_minority_granted_is_a_lost_round)
{
    begin(3);
    add(10, 0, "acquired", "a");
    must_be("acquired a 1!");
}

TEST(what_was_withdrawn_is_a_lost_round_on_however_many_masters)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add_on(20, 0, 3, "withdrawn", "a");
    must_be("acquired a 7!, withdrawn a 7!");
    ck_assert_uint_eq(events[1].missing, 0);
}

/* A late vote of a lock that is held is given back alone. */
TEST(a_lock_that_was_released_was_held)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add(20, 2, "withdrawn", "a");
    add_on(50, 0, 2, "released", "a");
    must_be("acquired a 7, withdrawn a 4!, released a 3");
}

/* _i: two masters could not be read; or they know only since later. */
TEST_LOOP(masters_that_do_not_know_may_have_granted_it, 0, 2)
{
    begin(3);
    masters.since_ms[1] = masters.since_ms[2] = _i ? 20 : NEVER;
    add(10, 0, "acquired", "a");
    must_be("acquired a 1");
    ck_assert_uint_eq(events[0].missing, 0);
}

TEST(a_master_that_knows_and_does_not_say_so_is_missing)
{
    begin(5);
    masters.since_ms[4] = 20;
    add_on(10, 0, 3, "acquired", "a");
    must_be("acquired a 7");
    ck_assert_uint_eq(events[0].missing, 8);
}

/* ---- locks that ended by themselves ---- */

TEST(a_lock_that_is_acquired_again_without_a_release_has_expired)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add_on(50, 0, 3, "acquired", "b");
    must_be("acquired a 7, expired a 0, acquired b 7");
    ck_assert_uint_eq(events[1].time_ms, events[2].time_ms);
}

/* _i: what ended it. */
TEST_LOOP(what_ended_otherwise_has_not_expired, 0, 4)
{
    static const char *const ends[] = {"released", "lost", "broken", "handed over"};
    char expected[64];

    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add_on(30, 0, 3, ends[_i], "a");
    add_on(50, 0, 3, "acquired", "b");
    snprintf(expected, sizeof(expected), "acquired a 7, %s a 7, acquired b 7", ends[_i]);
    must_be(expected);
    ck_assert_int_eq(events[0].ended, 1);
}

/* What was pending when the call ended is an ordinary release [H4]. */
TEST(a_hand_over_that_reached_few_masters_is_followed_by_a_release)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add_on(50, 0, 2, "handed over", "a");
    add(70, 2, "released", "a");
    must_be("acquired a 7, handed over a 3, released a 4");
    ck_assert_int_eq(events[0].ended, 1);
}

/* _i: which event. */
TEST_LOOP(a_break_is_by_somebody_and_a_hand_over_to_somebody, 0, 2)
{
    begin(1);
    snprintf(add(10, 0, _i ? "handed over" : "broken", "a")->other, RLK_PAST_TEXT, "ann");
    must_be(_i ? "handed over a 1" : "broken a 1");
    ck_assert_str_eq(events[0].by, _i ? "" : "ann");
    ck_assert_str_eq(events[0].to, _i ? "ann" : "");
}

/* The holder noticed it only when somebody else had the lock. */
TEST(a_loss_that_is_entered_late_is_no_expiry)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add_on(50, 0, 3, "acquired", "b");
    add_on(90, 0, 3, "lost", "a");
    must_be("acquired a 7, acquired b 7, lost a 7");
    ck_assert_int_eq(events[0].ended, 1);
    ck_assert_int_eq(events[1].ended, 0);
}

TEST(a_lost_round_ends_no_lock)
{
    begin(3);
    add_on(10, 0, 2, "acquired", "a");
    add(20, 2, "acquired", "b");
    add(30, 2, "withdrawn", "b");
    must_be("acquired a 3, acquired b 4!, withdrawn b 4!");
}

TEST(an_adoption_ends_no_lock)
{
    begin(3);
    add_on(10, 0, 3, "acquired", "a");
    add_on(20, 0, 3, "adopted", "a");
    add_on(50, 0, 3, "acquired", "b");
    must_be("acquired a 7, adopted a 7, expired a 0, acquired b 7");
}

/* As many events as there can be: each entry is one, and each but the first follows an expiry. */
TEST(all_locks_of_one_master_may_have_expired)
{
    char expected[512] = "acquired a 1", id[2] = "a";
    size_t used = strlen(expected);
    int i;

    begin(1);
    for (i = 0; i < 8; i++) {
        id[0] = (char)('a' + i);
        add((uint64_t)i, 0, "acquired", id);
        if (i > 0) {
            used += (size_t)snprintf(expected + used, sizeof(expected) - used,
                                     ", expired %c 0, acquired %c 1", 'a' + i - 1, 'a' + i);
        }
    }
    must_be(expected);
}

/* ---- the beginning ---- */

TEST(what_not_all_can_have_sent_is_left_out)
{
    begin(3);
    masters.cut = 6;
    masters.since_ms[1] = masters.since_ms[2] = 50;
    add_on(10, 0, 1, "acquired", "a");
    add_on(40, 0, 1, "released", "a");
    add_on(60, 0, 3, "acquired", "b");
    must_be("acquired b 7");
}

/* Each has sent its last entry alone. The time of the event is before one of these. */
TEST(what_all_have_sent_is_shown)
{
    begin(3);
    masters.cut = 7;
    masters.since_ms[0] = 10;
    masters.since_ms[1] = 11;
    masters.since_ms[2] = 12;
    add_on(10, 0, 3, "released", "a");
    must_be("released a 7");
}

/* Two have sent the newer one of two events, and the third the older one. */
TEST(what_comes_before_an_event_that_is_cut_is_left_out)
{
    begin(3);
    masters.cut = 7;
    masters.since_ms[0] = masters.since_ms[1] = 60;
    masters.since_ms[2] = 10;
    add(10, 2, "acquired", "a");
    add_on(60, 0, 2, "released", "a");
    must_be("released a 3");
}

TEST(other_words_are_no_kind)
{
    ck_assert_int_eq(rlk_past_kind("expired"), 0);
    ck_assert_int_eq(rlk_past_kind(""), 0);
}
