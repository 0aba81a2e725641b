/* io/test_twins.c - one server has one vote, whatever its addresses. */
#include <stdio.h>
#include <string.h>

#include "io/suites.h"
#include "io/ward.h"

static size_t refused_twin(void)
{
    size_t i = strstr(farm_error(&ward, 0), "same server") ? 0 : 1;

    farm_wait_error(&ward, i, "same server");
    return i;
}

static bool is_a_twin_refused(void *arg)
{
    (void)arg;
    return strstr(farm_error(&ward, 0), "same server") ||
           strstr(farm_error(&ward, 1), "same server");
}

START_TEST(one_server_under_two_addresses_is_refused)
{
    char own[41];
    struct outcome got;
    size_t i, twin;

    ward_set_up((enum redlock_quarantine)_i, WARD_HEALTH_MS);
    memcpy(own, ward_model(1)->run_id, sizeof(own));
    memcpy(ward_model(1)->run_id, ward_model(0)->run_id, sizeof(own));
    farm_open_at_once(&ward);
    loop_must_true(ward.base, is_a_twin_refused, NULL);
    twin = refused_twin();
    ck_assert_ptr_nonnull(strstr(farm_error(&ward, twin), ward_name(1 - twin)));
    ck_assert_str_ne(ward_name(0), ward_name(1));
    farm_wait(&ward, 2, REDLOCK_NODE_UP);
    got = farm_acquire(&ward, "k");
    ck_assert_int_eq(got.status, REDLOCK_ECONFIG);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_count(ward.nodes[i], "SET"), 0);
    }

    memcpy(ward_model(1)->run_id, own, sizeof(own));
    farm_wait(&ward, 0, REDLOCK_NODE_UP);
    farm_wait(&ward, 1, REDLOCK_NODE_UP);
    got = farm_acquire(&ward, "k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&ward, got.lock), REDLOCK_OK);
    farm_end(&ward);
}
END_TEST

/* It had asked one of them already. */
START_TEST(an_acquire_under_way_ends_when_two_are_found_to_be_one)
{
    struct outcome got = {.n = 3};
    struct redlock_request request = outcome_request("k");

    ward_set_up(REDLOCK_QUARANTINE_STRICT, WARD_HEALTH_MS);
    memcpy(ward_model(1)->run_id, ward_model(0)->run_id, sizeof(ward_model(1)->run_id));
    fake_pause(ward.nodes[1]);
    fake_pause(ward.nodes[2]);
    farm_open_at_once(&ward);
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(ward.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&ward, 0, "SET", 1);
    ck_assert_int_eq(got.calls, 0);
    fake_go_on(ward.nodes[1]);
    loop_must(ward.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(farm_error(&ward, 1), ward_name(0)));
    farm_wait_gone(&ward, "k");
    farm_end(&ward);
}
END_TEST

/* Nodes 0 and 1 are one server; returns which of them was refused. */
static size_t start_with_twins(char own[41])
{
    ward_set_up(REDLOCK_QUARANTINE_STRICT, WARD_HEALTH_MS);
    memcpy(own, ward_model(1)->run_id, 41);
    memcpy(ward_model(1)->run_id, ward_model(0)->run_id, 41);
    farm_open_at_once(&ward);
    farm_wait(&ward, 2, REDLOCK_NODE_UP);
    loop_must_true(ward.base, is_a_twin_refused, NULL);
    return refused_twin();
}

static void must_acquire(const char *key)
{
    struct outcome got = farm_acquire(&ward, key);

    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&ward, got.lock), REDLOCK_OK);
}

/* Who is not there is nobody's twin: the other two are a majority. */
START_TEST(a_twin_that_is_down_is_none)
{
    char own[41];
    size_t twin = start_with_twins(own);

    ck_assert_int_eq(farm_acquire(&ward, "k").status, REDLOCK_ECONFIG);
    fake_down(ward.nodes[twin]);
    farm_wait_error(&ward, twin, "connect");
    must_acquire("k");
    farm_end(&ward);
}
END_TEST

/* The address has become another's, and that one cannot vote for a reason of its own. */
START_TEST(a_twin_that_points_to_a_replica_is_none)
{
    char own[41];
    size_t twin = start_with_twins(own);

    ck_assert_int_eq(farm_acquire(&ward, "k").status, REDLOCK_ECONFIG);
    memcpy(ward_model(twin)->run_id, own, sizeof(own));
    ward_model(twin)->role = "replica";
    farm_wait_error(&ward, twin, "replica");
    must_acquire("k");
    farm_end(&ward);
}
END_TEST

/* For a moment a name leads to the server of another node: that is no restart of its own. */
START_TEST(a_moment_as_a_twin_is_no_restart)
{
    struct model *model;
    char own[41], mark[128];

    ward_start((enum redlock_quarantine)_i, WARD_NO_HEALTH_MS);
    model = ward_model(1);
    snprintf(mark, sizeof(mark), "%s", model_get(model, "redlock:incarnation"));
    memcpy(own, model->run_id, sizeof(own));
    memcpy(model->run_id, ward_model(0)->run_id, sizeof(own));
    fake_hang_up(ward.nodes[1]);
    farm_wait_error(&ward, 1, "same server");
    memcpy(model->run_id, own, sizeof(own));
    model_set(model, "redlock:incarnation", mark, 0); /* that was the other one's */
    farm_wait(&ward, 1, REDLOCK_NODE_UP);
    ward_must_count(1);
    farm_end(&ward);
}
END_TEST

Suite *twins_suite(void)
{
    Suite *suite = suite_create("twins");
    TCase *tcase = tcase_create("twins");

    tcase_add_loop_test(tcase, one_server_under_two_addresses_is_refused, 0, 3);
    tcase_add_test(tcase, an_acquire_under_way_ends_when_two_are_found_to_be_one);
    tcase_add_test(tcase, a_twin_that_is_down_is_none);
    tcase_add_test(tcase, a_twin_that_points_to_a_replica_is_none);
    tcase_add_loop_test(tcase, a_moment_as_a_twin_is_no_restart, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
