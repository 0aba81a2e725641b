/* io/test_delete_record.c - the record of the masters is deleted [S15]. */
#include <stdio.h>
#include <string.h>

#include "io/farm.h"
#include "testing/model.h"
#include "lib/test.h"

SUITE("delete_record");
FIXTURE(NULL, farm_end_all);

#define KEY "redlock:masters"

static struct farm f;

/* What the callback saw, copied. */
static struct seen {
    int calls;
    int status;
    bool has_result;
    size_t gone;
    struct redlock_delete_record_node nodes[FARM_MOST];
    char errors[FARM_MOST][300];
} seen;

static void on_deleted(const struct redlock_delete_record_result *result, int status, void *arg)
{
    size_t i;

    (void)arg;
    seen.calls++;
    seen.status = status;
    seen.has_result = result != NULL;
    seen.gone = result ? result->gone : 0;
    for (i = 0; result && i < result->n_nodes; i++) {
        ck_assert_uint_eq(result->nodes[i]->size, sizeof(*result->nodes[i]));
        seen.nodes[i] = *result->nodes[i];
        snprintf(seen.errors[i], sizeof(seen.errors[i]), "%s", result->nodes[i]->error);
    }
}

static void begin_to_delete(void)
{
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_delete_record(f.rl, on_deleted, NULL), REDLOCK_OK);
}

static void delete_record(void)
{
    begin_to_delete();
    loop_must(f.base, &seen.calls);
}

static enum redlock_record_state state(void)
{
    struct redlock_record_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_record(f.rl, &info), REDLOCK_OK);
    return info.state;
}

static bool is_everywhere(void *arg)
{
    size_t i, n = 0;

    (void)arg;
    for (i = 0; i < f.n; i++) {
        n += rlk_model_get(fake_model(f.nodes[i]), KEY) != NULL;
    }
    return n == f.n;
}

/* Three masters that have a record. */
static void start_recorded(void)
{
    farm_start(&f, 3, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    farm_open(&f);
    farm_must_acquire(&f, "k");
    loop_must_true(f.base, is_everywhere, NULL);
}

TEST(every_master_deletes_the_record)
{
    size_t i;

    start_recorded();
    delete_record();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.gone, 3);
    for (i = 0; i < 3; i++) {
        ck_assert(seen.nodes[i].gone && seen.nodes[i].had);
        ck_assert_str_eq(seen.errors[i], "");
        ck_assert_ptr_null(rlk_model_get(fake_model(f.nodes[i]), KEY));
    }
}

TEST(the_manager_writes_it_nowhere_again)
{
    start_recorded();
    delete_record();
    farm_must_acquire(&f, "other");
    fake_hang_up(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    delete_record();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert(seen.nodes[0].gone && !seen.nodes[0].had);
    ck_assert_int_eq(state(), REDLOCK_RECORD_AGREED);
}

TEST(a_manager_without_a_record_deletes_that_of_others)
{
    start_recorded();
    farm_close(&f);
    f.options.record = 0;
    farm_open(&f);
    ck_assert_int_eq(state(), REDLOCK_RECORD_OFF);
    delete_record();
    ck_assert_uint_eq(seen.gone, 3);
    ck_assert(seen.nodes[2].had);
}

TEST(the_key_has_the_prefix)
{
    farm_start(&f, 1, FAKE_UNIX);
    f.options.key_prefix = "app:";
    farm_open(&f);
    rlk_model_set(fake_model(f.nodes[0]), "app:" KEY, "v", 0);
    rlk_model_set(fake_model(f.nodes[0]), KEY, "v", 0);
    delete_record();
    ck_assert(seen.nodes[0].had);
    ck_assert_ptr_null(rlk_model_get(fake_model(f.nodes[0]), "app:" KEY));
    ck_assert_str_eq(rlk_model_get(fake_model(f.nodes[0]), KEY), "v");
}

TEST(a_master_that_is_down_or_refuses_may_still_have_it)
{
    start_recorded();
    fake_down(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    fake_on(f.nodes[1], "DEL", FAKE_REPLY, "-NOPERM this user has no permissions\r\n");
    delete_record();
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(seen.gone, 1);
    ck_assert(!seen.nodes[0].gone && !seen.nodes[1].gone && seen.nodes[2].gone);
    ck_assert_str_ne(seen.errors[0], "");
    ck_assert_ptr_nonnull(strstr(seen.errors[1], "refused to delete the record: "));
}

TEST(a_master_that_does_not_reply_may_still_have_it)
{
    start_recorded();
    fake_on(f.nodes[2], "DEL", FAKE_MUTE, NULL);
    begin_to_delete();
    farm_time_out(&f);
    loop_must(f.base, &seen.calls);
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(seen.gone, 2);
    ck_assert_str_eq(seen.errors[2], "did not reply in time");
}

TEST(a_close_ends_it)
{
    start_recorded();
    begin_to_delete();
    farm_close(&f);
    ck_assert_int_eq(seen.calls, 1);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
    ck_assert(!seen.has_result);
}

TEST(a_call_without_a_callback_is_refused)
{
    farm_start_open(&f, 1);
    ck_assert_int_eq(redlock_delete_record(f.rl, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_delete_record(NULL, on_deleted, NULL), REDLOCK_EINVAL);
}
