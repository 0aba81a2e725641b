/* io/test_record_memory.c - a record for which there is no memory may be that of other masters: so
 * nobody votes before it could be kept [S15]. */
#include <stdio.h>

#include "base/alloc.h"
#include "core/record.h"
#include "io/farm.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("record-memory");
FIXTURE(NULL, farm_end_all);

#define INSPECTION_MS 1000

static struct farm f;

/* Only a record with its text has such a size. */
static int allow_no_record(size_t size)
{
    return size < sizeof(struct rlk_record) || size > sizeof(struct rlk_record) + 512;
}

static void open_without_memory(void)
{
    size_t i;

    farm_open_at_once(&f);
    rlk_alloc_hook(allow_no_record);
    for (i = 0; i < f.n; i++) {
        farm_wait(&f, i, REDLOCK_NODE_UP);
    }
}

/* The last master has the record of a client with another max_ttl_ms. */
static void set_up(void)
{
    char value[256];

    farm_start(&f, 3, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    f.options.inspection_ms = INSPECTION_MS;
    rlk_model_make_old(fake_model(f.nodes[2]));
    snprintf(value, sizeof(value),
             "5 00000000000000aa 7\n1 5 00000000000000aa 1 1000\n%.16s 1 - redis://a\n",
             rlk_model_get(fake_model(f.nodes[2]), "redlock:incarnation") + 41);
    rlk_model_set(fake_model(f.nodes[2]), "redlock:masters", value, 0);
}

static enum redlock_record_state state(void)
{
    struct redlock_record_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_record(f.rl, &info), REDLOCK_OK);
    return info.state;
}

TEST(nobody_votes_before_a_record_could_be_kept)
{
    struct outcome got;

    set_up();
    open_without_memory();
    got = farm_acquire_to_timeout(&f, "k");
    rlk_alloc_hook(NULL);
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET k"), 0);
    ck_assert_ptr_null(rlk_model_get(fake_model(f.nodes[0]), "redlock:masters"));
    ck_assert_int_eq(state(), REDLOCK_RECORD_NONE);

    suspend_ms(INSPECTION_MS);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_ECONFIG);
    ck_assert_int_eq(state(), REDLOCK_RECORD_OTHER);
}

/* It is not waited for after its connection has ended. */
TEST(a_master_that_is_gone_holds_up_nobody)
{
    struct outcome got;

    set_up();
    open_without_memory();
    rlk_alloc_hook(NULL);
    fake_down(f.nodes[2]);
    farm_wait_error(&f, 2, "");
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}
