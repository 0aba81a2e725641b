/* io/test_upkeep.c - masters that would neither renew nor release a lock: the greeting asks for
 * what that needs, and no round asks a master that refuses it [S11]. */
#include <redlock/error.h>
#include <stdio.h>
#include <string.h>

#include "io/farm.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("upkeep");
FIXTURE(NULL, farm_end_all);

#define MASTERS 3
#define HEALTH_MS 20

#define NOPERM(command) "-NOPERM User app has no permissions to run the '" command "' command\r\n"
#define UNKNOWN "-ERR unknown command, with args beginning with: \r\n"

static struct farm f;

static const struct {
    const char *command, *reply, *says, *advice;
} refusals[] = {
    {"TRY EVALSHA", NOPERM("evalsha"), "denies our user EVALSHA", "ACL SETUSER"},
    {"TRY EVALSHA", UNKNOWN, "does not know EVALSHA", "rename-command"},
    {"TRY EVAL", NOPERM("eval"), "denies our user EVAL", "ACL SETUSER"},
    {"TRY EVAL", UNKNOWN, "does not know EVAL", "rename-command"},
    {"TRY EVAL", "$7\r\nPEXPIRE\r\n", "denies PEXPIRE to scripts", "rename-command"},
    {"TRY EVAL", "-ERR scripts may not write there: use Redis 3.2\r\n", "use Redis 3.2", ""},
    {"TRY EVAL", ":1\r\n", "runs no scripts", ""},
};
#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

static struct redlock_node_info info_of(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(f.rl, node, &info), REDLOCK_OK);
    return info;
}

static void refuse(size_t node, size_t at)
{
    fake_on(f.nodes[node], refusals[at].command, FAKE_REPLY, refusals[at].reply);
}

static void set_up(size_t refusing, size_t at)
{
    farm_start(&f, MASTERS, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    f.options.record = 0;
    for (; refusing > 0; refusing--) {
        refuse(MASTERS - refusing, at);
    }
}

static int acquire_at_once(void)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    request.wait_ms = 0;
    got = farm_acquire_as(&f, &request);
    if (got.lock) {
        farm_release(&f, got.lock);
    }
    return got.status;
}

/* Also where nothing else would ask: without a quarantine. */
TEST_LOOP(no_round_asks_a_master_that_refuses_upkeep, 0, 2 * REFUSALS)
{
    bool is_off = _i % 2;
    size_t i;

    set_up(2, (size_t)_i / 2);
    if (is_off) {
        f.options.quarantine = REDLOCK_QUARANTINE_OFF;
    }
    farm_open(&f);
    ck_assert_int_eq(acquire_at_once(), REDLOCK_ENOQUORUM);
    for (i = 1; i < MASTERS; i++) {
        struct redlock_node_info info = info_of(i);

        ck_assert_int_eq(info.state, REDLOCK_NODE_UP);
        ck_assert_uint_eq(info.quarantine_ms, UINT64_MAX);
        ck_assert_msg(strstr(info.error, refusals[_i / 2].says) != NULL, "%s", info.error);
        ck_assert_msg(strstr(info.error, refusals[_i / 2].advice) != NULL, "%s", info.error);
        ck_assert_uint_eq(fake_count(f.nodes[i], "SET"), 0);
    }
    ck_assert_uint_eq(info_of(0).quarantine_ms, 0);
}

TEST_LOOP(a_minority_that_refuses_upkeep_delays_nobody, 0, REFUSALS)
{
    set_up(1, (size_t)_i);
    farm_open(&f);
    ck_assert_int_eq(acquire_at_once(), REDLOCK_OK);
    ck_assert_uint_eq(fake_count(f.nodes[2], "SET"), 0);
}

/* One that connects while a round waits for it is not asked by that round either. */
TEST(a_round_does_not_wait_for_a_master_that_refuses_upkeep)
{
    set_up(2, 0);
    farm_open_at_once(&f);
    ck_assert_int_eq(acquire_at_once(), REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(fake_count(f.nodes[1], "SET") + fake_count(f.nodes[2], "SET"), 0);
}

/* These prove that the command is allowed, or say nothing about it. */
TEST_LOOP(other_answers_are_no_refusal, 0, 8)
{
    static const struct {
        const char *command, *reply;
    } answers[] = {
        {"TRY EVALSHA", "-NOPERM No permissions to access a key\r\n"},
        {"TRY EVAL", "-NOPERM No permissions to access a key\r\n"},
        {"TRY EVAL", "-NOPERM User app has no permissions to access the 'k' key\r\n"},
        {"TRY EVALSHA", "-OOM command not allowed when used memory > 'maxmemory'.\r\n"},
        {"TRY EVAL", "-OOM command not allowed when used memory > 'maxmemory'.\r\n"},
        {"TRY EVAL", "-MISCONF Redis is configured to save RDB snapshots\r\n"},
        {"SCRIPT", UNKNOWN},
        {"SCRIPT", NOPERM("script|load")},
    };

    farm_start(&f, MASTERS, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    farm_on(&f, 0, MASTERS, answers[_i].command, FAKE_REPLY, answers[_i].reply);
    farm_open(&f);
    ck_assert_int_eq(acquire_at_once(), REDLOCK_OK);
    ck_assert_uint_eq(info_of(0).quarantine_ms, 0);
}

/* Nobody knows yet whether it would. */
TEST_LOOP(a_busy_master_is_connected_when_it_has_answered, 0, 2)
{
    static const char *const replies[] = {"-BUSY Redis is busy running a script.\r\n",
                                          "-LOADING Redis is loading the dataset in memory\r\n"};
    const char *reply = replies[_i];

    farm_start(&f, MASTERS, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_OFF;
    fake_on_next(f.nodes[0], 1, "TRY EVALSHA", FAKE_REPLY, reply, strlen(reply));
    fake_on_next(f.nodes[0], 1, "TRY EVAL", FAKE_REPLY, reply, strlen(reply));
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "refuses all commands for now");
    ck_assert_int_ne(farm_state(&f, 0), REDLOCK_NODE_UP);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    ck_assert_uint_eq(info_of(0).quarantine_ms, 0);
}

static bool votes(void *arg)
{
    const size_t *node = arg;

    return info_of(*node).quarantine_ms == 0;
}

static bool is_unfit(void *arg)
{
    return !votes(arg);
}

/* inspection_ms 0: asked again all the same. */
TEST_LOOP(a_right_that_is_granted_later_is_noticed, 0, 2)
{
    size_t node = 2;

    set_up(1, 0);
    f.options.inspection_ms = _i ? 0 : HEALTH_MS;
    farm_open(&f);
    ck_assert_uint_eq(info_of(node).quarantine_ms, UINT64_MAX);
    fake_behave(f.nodes[node]);
    loop_must_true(f.base, votes, &node);
    ck_assert_uint_eq(fake_n_conns(f.nodes[node]), 1);
    ck_assert_int_eq(acquire_at_once(), REDLOCK_OK);
    ck_assert_uint_eq(fake_count(f.nodes[node], "SET"), 1);
}

/* The first renewal or release that is denied makes us ask. */
TEST(a_right_that_is_taken_away_later_is_noticed)
{
    struct outcome got;
    size_t node = 2;

    set_up(0, 0);
    f.options.inspection_ms = 0;
    farm_open(&f);
    got = farm_must_acquire(&f, "k");
    loop_settle(f.base);
    fake_on(f.nodes[node], "EVALSHA", FAKE_REPLY, NOPERM("evalsha"));
    refuse(node, 0);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    loop_must_true(f.base, is_unfit, &node);
    ck_assert_int_eq(acquire_at_once(), REDLOCK_OK);
    ck_assert_uint_eq(fake_count(f.nodes[node], "SET"), 1);
}

/* One key may be denied while all others are not: that is no reason to ask nothing any more. */
TEST(a_refusal_about_one_key_takes_no_vote_away)
{
    struct outcome got;

    set_up(0, 0);
    farm_open(&f);
    got = farm_acquire(&f, "k");
    loop_settle(f.base);
    fake_on(f.nodes[2], "EVALSHA", FAKE_REPLY, "-NOPERM No permissions to access a key\r\n");
    farm_release(&f, got.lock);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[2], "TRY EVAL"), 2);
    ck_assert_uint_eq(info_of(2).quarantine_ms, 0);
}

/* Each of the two sentences may be as long as it can be. */
TEST(a_master_cannot_make_the_text_about_it_longer_than_its_bound)
{
    static const char *const keys[] = {"k"};
    struct outcome_released released = {0, 0};
    char many[240] = "", reply[300];

    memset(many, 'x', sizeof(many) - 1);
    set_up(0, 0);
    snprintf(reply, sizeof(reply), "$63\r\n%.63s\r\n", many);
    fake_on(f.nodes[2], "TRY EVAL", FAKE_REPLY, reply);
    snprintf(reply, sizeof(reply), "-ERR %s\r\n", many);
    fake_on(f.nodes[2], "EVALSHA", FAKE_REPLY, reply);
    farm_open(&f);
    ck_assert_int_eq(
        redlock_release_token(f.rl, keys, NULL, 1, "token", outcome_on_released, &released), 0);
    loop_must(f.base, &released.calls);
    loop_settle(f.base);
    ck_assert_ptr_nonnull(strstr(info_of(2).error, "; also: refused to release the key: ERR xxx"));
    ck_assert_uint_lt(strlen(info_of(2).error), 512);
    farm_end(&f);
}
