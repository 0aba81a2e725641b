/* io/test_duplicates.c - one server has one vote, whatever its addresses. */
#include <stdio.h>
#include <string.h>

#include "io/rig.h"
#include "lib/test.h"

SUITE("duplicates");
FIXTURE(NULL, farm_end_all);

static size_t refused_duplicate(void)
{
    size_t i = strstr(farm_error(&rig, 0), "same server") ? 0 : 1;

    farm_wait_error(&rig, i, "same server");
    return i;
}

static bool is_a_duplicate_refused(void *arg)
{
    (void)arg;
    return strstr(farm_error(&rig, 0), "same server") || strstr(farm_error(&rig, 1), "same server");
}

TEST_LOOP(one_server_at_two_addresses_is_refused, 0, 3)
{
    char own[41];
    struct outcome got;
    size_t i, duplicate;

    rig_set_up((enum redlock_quarantine)_i, RIG_HEALTH_MS);
    memcpy(own, rig_model(1)->run_id, sizeof(own));
    memcpy(rig_model(1)->run_id, rig_model(0)->run_id, sizeof(own));
    farm_open_at_once(&rig);
    loop_must_true(rig.base, is_a_duplicate_refused, NULL);
    duplicate = refused_duplicate();
    ck_assert_ptr_nonnull(strstr(farm_error(&rig, duplicate), rig_name(1 - duplicate)));
    ck_assert_str_ne(rig_name(0), rig_name(1));
    farm_wait(&rig, 2, REDLOCK_NODE_UP);
    got = farm_acquire(&rig, "k");
    ck_assert_int_eq(got.status, REDLOCK_ECONFIG);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_count(rig.nodes[i], "SET"), 0);
    }

    memcpy(rig_model(1)->run_id, own, sizeof(own));
    farm_wait(&rig, 0, REDLOCK_NODE_UP);
    farm_wait(&rig, 1, REDLOCK_NODE_UP);
    got = farm_must_acquire(&rig, "k");
    ck_assert_int_eq(farm_release(&rig, got.lock), REDLOCK_OK);
}

/* The acquire had asked one of them already. */
TEST(an_acquire_in_progress_ends_when_a_duplicate_is_found)
{
    struct outcome got = {.n = 3};
    struct redlock_request request = outcome_request("k");

    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    memcpy(rig_model(1)->run_id, rig_model(0)->run_id, sizeof(rig_model(1)->run_id));
    fake_pause(rig.nodes[1]);
    fake_pause(rig.nodes[2]);
    farm_open_at_once(&rig);
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(rig.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&rig, 0, "SET", 1);
    ck_assert_int_eq(got.calls, 0);
    fake_go_on(rig.nodes[1]);
    loop_must(rig.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(farm_error(&rig, 1), rig_name(0)));
    farm_wait_gone(&rig, "k");
}

/* Nodes 0 and 1 are one server; returns which of them was refused. */
static size_t start_with_duplicates(char own[41])
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    memcpy(own, rig_model(1)->run_id, 41);
    memcpy(rig_model(1)->run_id, rig_model(0)->run_id, 41);
    farm_open_at_once(&rig);
    farm_wait(&rig, 2, REDLOCK_NODE_UP);
    loop_must_true(rig.base, is_a_duplicate_refused, NULL);
    return refused_duplicate();
}

static void must_acquire(const char *key)
{
    struct outcome got = farm_acquire(&rig, key);

    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&rig, got.lock), REDLOCK_OK);
}

/* A server that is down is nobody's duplicate: the other two are a majority. */
TEST(a_duplicate_that_is_down_no_longer_counts)
{
    char own[41];
    size_t duplicate = start_with_duplicates(own);

    ck_assert_int_eq(farm_acquire(&rig, "k").status, REDLOCK_ECONFIG);
    fake_down(rig.nodes[duplicate]);
    farm_wait_error(&rig, duplicate, "cannot be reached");
    must_acquire("k");
}

/* The address now leads to another server, which cannot vote for a reason of its own. */
TEST(a_duplicate_address_that_moved_to_a_replica_no_longer_counts)
{
    char own[41];
    size_t duplicate = start_with_duplicates(own);

    ck_assert_int_eq(farm_acquire(&rig, "k").status, REDLOCK_ECONFIG);
    memcpy(rig_model(duplicate)->run_id, own, sizeof(own));
    rig_model(duplicate)->role = "replica";
    farm_wait_error(&rig, duplicate, "replica");
    must_acquire("k");
}

/* For a moment a name leads to the server of another node: that does not count as a restart. */
TEST_LOOP(being_a_duplicate_for_a_moment_is_no_restart, 0, 2)
{
    struct model *model;
    char own[41], mark[128];

    rig_start((enum redlock_quarantine)_i, RIG_NO_HEALTH_MS);
    model = rig_model(1);
    snprintf(mark, sizeof(mark), "%s", rlk_model_get(model, "redlock:incarnation"));
    memcpy(own, model->run_id, sizeof(own));
    memcpy(model->run_id, rig_model(0)->run_id, sizeof(own));
    fake_hang_up(rig.nodes[1]);
    farm_wait_error(&rig, 1, "same server");
    memcpy(model->run_id, own, sizeof(own));
    rlk_model_set(model, "redlock:incarnation", mark,
                  0); /* the key was written for the other one */
    farm_wait(&rig, 1, REDLOCK_NODE_UP);
    rig_must_count(1);
}
