/* io/rig.c - see rig.h. */
#include "io/rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/suspend.h"

struct farm rig;

/* What clients have written: the marks of all masters, and where these are. */
static void write_record(void)
{
    char record[1024], machine[65] = "";
    size_t i, len;

    ck_assert_int_eq(gethostname(machine, sizeof(machine) - 1), 0);
    len = (size_t)snprintf(record, sizeof(record),
                           "1 0000000000000001 %" PRIu64 "\n1 1 0000000000000001 1 300000\n",
                           rlk_model_now_us(rig_model(0)));
    for (i = 0; i < rig.n; i++) {
        len += (size_t)snprintf(record + len, sizeof(record) - len, "%.16s 1 - %s on %s\n",
                                rlk_model_get(rig_model(i), "redlock:incarnation") + 41,
                                rig.uris[i], machine);
    }
    for (i = 0; i < rig.n; i++) {
        rlk_model_set(rig_model(i), "redlock:masters", record, 0);
    }
}

void rig_set_up(enum redlock_quarantine policy, uint32_t inspection_ms)
{
    size_t i;

    farm_start(&rig, 3, FAKE_UNIX);
    for (i = 0; i < rig.n && policy != REDLOCK_QUARANTINE_OFF; i++) {
        rlk_model_make_old(rig_model(i));
    }
    if (policy != REDLOCK_QUARANTINE_OFF) {
        write_record();
    }
    rig.options.quarantine = policy;
    rig.options.inspection_ms = inspection_ms;
}

void rig_start(enum redlock_quarantine policy, uint32_t inspection_ms)
{
    rig_set_up(policy, inspection_ms);
    farm_open(&rig);
}

void rig_leave_out_record(void)
{
    size_t i;

    rig.options.record = 0;
    for (i = 0; i < rig.n; i++) {
        rlk_model_del(rig_model(i), "redlock:masters");
    }
}

void rig_start_without_record(enum redlock_quarantine policy, uint32_t inspection_ms)
{
    rig_set_up(policy, inspection_ms);
    rig_leave_out_record();
    farm_open(&rig);
}

struct model *rig_model(size_t node)
{
    return fake_model(rig.nodes[node]);
}

void rig_set_clock_forward(size_t node, uint64_t by_ms)
{
    rig_model(node)->clock_us += by_ms * 1000;
}

/* Messages in flight must arrive first: otherwise they would be overdue. */
void rig_pass_ms(unsigned ms)
{
    size_t i;

    loop_settle(rig.base);
    for (i = 0; i < rig.n; i++) {
        rig_set_clock_forward(i, ms);
        rig_model(i)->uptime_s += ms / 1000;
    }
    suspend_ms(ms);
}

void rig_set_mark(size_t node, const char *run, uint64_t born_us)
{
    char value[128];

    snprintf(value, sizeof(value), "%s 00000000deadbee%zx %" PRIu64, run, node, born_us);
    rlk_model_set(rig_model(node), "redlock:incarnation", value, 0);
}

long long rig_data_age_s(size_t node)
{
    const char *value = rlk_model_get(rig_model(node), "redlock:incarnation");

    ck_assert_ptr_nonnull(value);
    ck_assert(strncmp(value, rig_model(node)->run_id, 40) == 0);
    return ((long long)rlk_model_now_us(rig_model(node)) - strtoll(strrchr(value, ' '), NULL, 10)) /
           1000000;
}

uint64_t rig_quarantine_ms(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(rig.rl, node, &info), REDLOCK_OK);
    return info.quarantine_ms;
}

const char *rig_name(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(rig.rl, node, &info), REDLOCK_OK);
    return info.name;
}

void rig_must_be_quarantined(size_t node, const char *why)
{
    ck_assert_uint_gt(rig_quarantine_ms(node), 0);
    ck_assert_ptr_nonnull(strstr(farm_error(&rig, node), "does not vote"));
    ck_assert_msg(strstr(farm_error(&rig, node), why) != NULL, "%s", farm_error(&rig, node));
}

/* Its text may still say something else. */
void rig_must_count(size_t node)
{
    ck_assert_msg(rig_quarantine_ms(node) == 0, "%s", farm_error(&rig, node));
    ck_assert_msg(strstr(farm_error(&rig, node), "does not vote") == NULL, "%s",
                  farm_error(&rig, node));
}

size_t rig_greetings(size_t node)
{
    return fake_count(rig.nodes[node], "CLIENT SETNAME");
}

void rig_wait_until_greeted(size_t node, size_t before)
{
    farm_wait_count(&rig, node, "CLIENT SETNAME", before + 1);
    farm_wait(&rig, node, REDLOCK_NODE_UP);
}

void rig_reconnect(size_t node)
{
    size_t before = rig_greetings(node);

    fake_hang_up(rig.nodes[node]);
    rig_wait_until_greeted(node, before);
}

void rig_restart(size_t node)
{
    rlk_model_restart(rig_model(node));
    rig_reconnect(node);
}

/* Acquire while node 1 refuses: so both nodes 0 and 2 are needed. */
static struct outcome acquire_without_1(const char *key, int fence)
{
    struct redlock_request request = outcome_request(key);

    request.fencing = fence;
    rlk_model_set(rig_model(1), key, "somebody", 0);
    return farm_acquire_as(&rig, &request);
}

/* The vote of node 0 is reported, does not count, and its key is released. */
void rig_vote_must_not_count(const char *key, int fence, const char *why)
{
    struct outcome got = acquire_without_1(key, fence);

    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_QUARANTINED);
    ck_assert_msg(strstr(got.votes[0].error, why) != NULL, "%s", got.votes[0].error);
    rlk_model_del(rig_model(1), key);
    farm_wait_gone(&rig, key);
}

void rig_vote_must_count(const char *key, int fence)
{
    struct outcome got = acquire_without_1(key, fence);

    ck_assert_msg(got.status == REDLOCK_OK, "%d: %s", got.status, got.votes[0].error);
    ck_assert_int_eq(farm_release(&rig, got.lock), REDLOCK_OK);
}

/* Conditions on a node. */
static size_t the_node;

static bool is_quarantined(void *arg)
{
    (void)arg;
    return rig_quarantine_ms(the_node) != 0;
}

static bool counts(void *arg)
{
    (void)arg;
    return rig_quarantine_ms(the_node) == 0;
}

void rig_wait_until_quarantined(size_t node)
{
    the_node = node;
    loop_must_true(rig.base, is_quarantined, NULL);
}

void rig_wait_until_it_counts(size_t node)
{
    the_node = node;
    loop_must_true(rig.base, counts, NULL);
}

void rig_idle(void)
{
    size_t before;

    rig_pass_ms(1000);
    loop_settle(rig.base);
    before = fake_count(rig.nodes[0], "EVAL");
    rig_pass_ms(2500);
    loop_settle(rig.base);
    ck_assert_uint_eq(fake_count(rig.nodes[0], "EVAL"), before);
}

void rig_inspect_all(void)
{
    size_t i, before[3];

    for (i = 0; i < 3; i++) {
        before[i] = fake_count(rig.nodes[i], "EVAL");
    }
    rig_pass_ms(RIG_HEALTH_MS);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&rig, i, "EVAL", before[i] + 1);
    }
    loop_settle(rig.base);
}
