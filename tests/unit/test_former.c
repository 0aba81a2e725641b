/* test_former.c - connections that ended with commands unanswered: which of them are ended by
 * CLIENT KILL, and how often [S5]. */
#include <stdbool.h>
#include <string.h>

#include "core/former.h"
#include "lib/test.h"

SUITE("former");

static struct rlk_former f;

static void begin(void)
{
    memset(&f, 0, sizeof(f));
}

static void expect(unsigned count, int64_t first)
{
    unsigned i;

    ck_assert_uint_eq(f.count, count);
    for (i = 0; i < count; i++) {
        ck_assert_int_eq(f.ids[i], first + i);
    }
}

/* No command can arrive late over the other connections. The id 0 is unknown. */
TEST_LOOP(only_a_connection_with_an_id_a_run_and_unanswered_commands_is_kept, 0, 8)
{
    bool unanswered = _i & 1, run = _i & 2, id = _i & 4;

    begin();
    rlk_former_ended(&f, run ? "abc" : "", id ? 7 : 0, unanswered ? 1 : 0);
    expect(_i == 7 ? 1 : 0, 7);
}

/* Also when the connection over which CLIENT KILL was sent broke as well. */
TEST(each_is_kept_until_the_server_has_replied)
{
    int64_t id;

    begin();
    for (id = 1; id <= 3; id++) {
        rlk_former_ended(&f, "abc", id, 2);
        rlk_former_note_run(&f, "abc");
    }
    expect(3, 1);
    rlk_former_drop(&f);
    expect(2, 2);
    rlk_former_drop(&f);
    rlk_former_drop(&f);
    rlk_former_drop(&f);
    expect(0, 0);
}

TEST(the_oldest_goes_first_when_they_are_many)
{
    int64_t id;

    begin();
    for (id = 1; id <= 3 * RLK_FORMER_MAX; id++) {
        rlk_former_ended(&f, "abc", id, 1);
    }
    expect(RLK_FORMER_MAX, 2 * RLK_FORMER_MAX + 1);
}

/* In another run the same id may be another client's. */
TEST_LOOP(connections_to_another_run_are_dropped, 0, 2)
{
    begin();
    rlk_former_ended(&f, "abc", 5, 1);
    if (_i == 0) {
        rlk_former_note_run(&f, "abd");
        expect(0, 0);
    } else {
        rlk_former_ended(&f, "abd", 9, 1);
        expect(1, 9);
    }
    rlk_former_note_run(&f, "abc");
    expect(0, 0);
}

TEST(a_run_that_is_too_long_is_cut)
{
    char run[100];

    begin();
    memset(run, 'r', sizeof(run) - 1);
    run[sizeof(run) - 1] = '\0';
    rlk_former_ended(&f, run, 5, 1);
    expect(1, 5);
    ck_assert_uint_eq(strlen(f.run_id), sizeof(f.run_id) - 1);
}
