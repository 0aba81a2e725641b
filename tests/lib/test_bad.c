/* lib/test_bad.c - tests that pass, fail, crash, exit, hang and skip: test_runner.c reads what the
 * runner says of them. */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/loop.h"
#include "lib/runner.h"
#include "lib/story.h"
#include "lib/test.h"

SUITE("bad");

TEST(bad_passes)
{
    printf("# folder %s\n", rlk_test_folder());
    fflush(stdout);
}

TEST(bad_fails)
{
    ck_assert_int_eq(1, 2);
}

TEST(bad_crashes)
{
    abort();
}

TEST(bad_exits)
{
    _exit(3);
}

CASE("hangs");
TIME_LIMIT(1);

TEST(bad_hangs)
{
    printf("# hangs\n");
    fflush(stdout);
    for (;;) {
        pause();
    }
}

SUITE("other");

static bool never(void *arg)
{
    (void)arg;
    return false;
}

static bool at_once(unsigned waited_ms)
{
    (void)waited_ms;
    return true;
}

static void wait_in_vain(struct event_base *base)
{
    loop_must_true(base, never, NULL);
}

/* Its last call fails. */
TEST(other_fails_in_a_helper)
{
    loop_be_impatient(at_once);
    wait_in_vain(event_base_new());
}

TEST_LOOP(other_runs_in_a_loop, 0, 4)
{
    ck_assert_int_ne(_i, 2);
}

SUITE("rows");

struct thing {
    uint64_t mask;
    int status;
    bool yes;
};

/* All fields of the thing are ~0, -5 and true; the last three rows claim otherwise. */
static const struct {
    const char *claim;
    struct story_field field;
    uint64_t value;
} rows[] = {
    {"row_mask", STORY_FIELD(struct thing, mask), UINT64_MAX},
    {"row_status", STORY_FIELD(struct thing, status), (uint64_t)-5},
    {"row_yes", STORY_FIELD(struct thing, yes), true},
    {"row_other_mask", STORY_FIELD(struct thing, mask), UINT64_MAX - 1},
    {"row_other_status", STORY_FIELD(struct thing, status), 5},
    {"row_no", STORY_FIELD(struct thing, yes), false},
};

TEST_ROWS(row, rows)
{
    struct thing thing = {.mask = 0};
    size_t i;

    for (i = 0; i < 3; i++) {
        story_set(&thing, &rows[i].field, rows[i].value);
    }
    story_expect(&thing, &rows[_i].field, rows[_i].value, 7);
}

SUITE("skips");

TEST(skips_by_itself)
{
    rlk_test_skip("there is no sea");
}

TEST(skips_and_fails)
{
    rlk_test_skip("there is no sea");
    ck_assert_int_eq(1, 2);
}

TEST(skips_no_more)
{
}
