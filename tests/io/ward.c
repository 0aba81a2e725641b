/* io/ward.c - see ward.h. */
#include "io/ward.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/suspend.h"

struct farm ward;

void ward_set_up(enum redlock_quarantine policy, uint32_t health_ms)
{
    farm_start(&ward, 3, FAKE_UNIX);
    ward.options.quarantine = policy;
    ward.options.health_ms = health_ms;
}

void ward_start(enum redlock_quarantine policy, uint32_t health_ms)
{
    ward_set_up(policy, health_ms);
    farm_open(&ward);
}

struct model *ward_model(size_t node)
{
    return fake_model(ward.nodes[node]);
}

void ward_set_clock_forward(size_t node, uint64_t by_ms)
{
    ward_model(node)->clock_us += by_ms * 1000;
}

/* What is on its way arrives before: or it would be overdue. */
void ward_pass_ms(unsigned ms)
{
    size_t i;

    loop_settle(ward.base);
    for (i = 0; i < ward.n; i++) {
        ward_set_clock_forward(i, ms);
        ward_model(i)->uptime_s += ms / 1000;
    }
    suspend_ms(ms);
}

void ward_set_mark(size_t node, const char *run, uint64_t born_us)
{
    char value[128];

    snprintf(value, sizeof(value), "%s 00000000deadbeef %" PRIu64, run, born_us);
    model_set(ward_model(node), "redlock:incarnation", value, 0);
}

long long ward_data_age_s(size_t node)
{
    const char *value = model_get(ward_model(node), "redlock:incarnation");

    ck_assert_ptr_nonnull(value);
    ck_assert(strncmp(value, ward_model(node)->run_id, 40) == 0);
    return ((long long)model_now_us(ward_model(node)) - strtoll(strrchr(value, ' '), NULL, 10)) /
           1000000;
}

uint64_t ward_bar_ms(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_node_info(ward.rl, node, &info), REDLOCK_OK);
    return info.quarantine_ms;
}

const char *ward_name(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_node_info(ward.rl, node, &info), REDLOCK_OK);
    return info.name;
}

void ward_must_be_barred(size_t node, const char *why)
{
    ck_assert_uint_gt(ward_bar_ms(node), 0);
    ck_assert_ptr_nonnull(strstr(farm_error(&ward, node), "does not vote"));
    ck_assert_msg(strstr(farm_error(&ward, node), why) != NULL, "%s", farm_error(&ward, node));
}

/* Something else may be said about it. */
void ward_must_count(size_t node)
{
    ck_assert_msg(ward_bar_ms(node) == 0, "%s", farm_error(&ward, node));
    ck_assert_msg(strstr(farm_error(&ward, node), "does not vote") == NULL, "%s",
                  farm_error(&ward, node));
}

size_t ward_greetings(size_t node)
{
    return fake_count(ward.nodes[node], "CLIENT SETNAME");
}

void ward_wait_until_greeted(size_t node, size_t before)
{
    farm_wait_count(&ward, node, "CLIENT SETNAME", before + 1);
    farm_wait(&ward, node, REDLOCK_NODE_UP);
}

void ward_reconnect(size_t node)
{
    size_t before = ward_greetings(node);

    fake_hang_up(ward.nodes[node]);
    ward_wait_until_greeted(node, before);
}

void ward_restart(size_t node)
{
    model_restart(ward_model(node));
    ward_reconnect(node);
}

/* Acquire where node 1 refuses: so nodes 0 and 2 are both needed. */
static struct outcome acquire_without_1(const char *key, int fence)
{
    struct redlock_request request = outcome_request(key);

    request.fence = fence;
    model_set(ward_model(1), key, "somebody", 0);
    return farm_acquire_as(&ward, &request);
}

/* What node 0 granted is on record, is not counted, and is given back. */
void ward_vote_must_not_count(const char *key, int fence, const char *why)
{
    struct outcome got = acquire_without_1(key, fence);

    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_UNCOUNTED);
    ck_assert_msg(strstr(got.votes[0].error, why) != NULL, "%s", got.votes[0].error);
    model_del(ward_model(1), key);
    farm_wait_gone(&ward, key);
}

void ward_vote_must_count(const char *key, int fence)
{
    struct outcome got = acquire_without_1(key, fence);

    ck_assert_msg(got.status == REDLOCK_OK, "%d: %s", got.status, got.votes[0].error);
    ck_assert_int_eq(farm_release(&ward, got.lock), REDLOCK_OK);
}

/* What to wait for, of a node. */
static size_t the_node;

static bool is_barred(void *arg)
{
    (void)arg;
    return ward_bar_ms(the_node) != 0;
}

static bool counts(void *arg)
{
    (void)arg;
    return ward_bar_ms(the_node) == 0;
}

void ward_wait_until_barred(size_t node)
{
    the_node = node;
    loop_must_true(ward.base, is_barred, NULL);
}

void ward_wait_until_it_counts(size_t node)
{
    the_node = node;
    loop_must_true(ward.base, counts, NULL);
}

void ward_probe_all(void)
{
    size_t i, before[3];

    for (i = 0; i < 3; i++) {
        before[i] = fake_count(ward.nodes[i], "EVAL");
    }
    ward_pass_ms(WARD_HEALTH_MS);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&ward, i, "EVAL", before[i] + 1);
    }
    loop_settle(ward.base);
}
