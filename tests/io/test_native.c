/* io/test_native.c - masters that delete a key which has a value by a command of their own: it is
 * used where they say that they know it, and the script everywhere else, so that every key is
 * released [S5], what is reported is as true as by the script, and who waits is woken [W7]. */
#include <redlock/error.h>
#include <string.h>

#include "io/farm.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "io/waiter.h"
#include "io/watch.h"
#include "lib/test.h"

SUITE("native");
FIXTURE(NULL, farm_end_all);

#define MASTERS 3
#define LIST "EXISTS k:redlock-waiting"

static const char *const commands[] = {"DELEX k", "DELIFEQ k"};
static struct farm f;

/* All masters know the command; "": none of them. */
static void start(const char *native)
{
    size_t i;

    farm_start(&f, MASTERS, FAKE_UNIX);
    for (i = 0; i < MASTERS; i++) {
        fake_model(f.nodes[i])->native = native;
    }
    farm_open(&f);
}

static size_t n_scripts(size_t node)
{
    return scripts_count(&f, node, &rlk_script_release);
}

static size_t n_native(size_t node)
{
    return fake_count(f.nodes[node], "DELEX k") + fake_count(f.nodes[node], "DELIFEQ k");
}

static struct redlock_lock *must_acquire(void)
{
    struct outcome got = farm_acquire(&f, "k");

    ck_assert_int_eq(got.status, REDLOCK_OK);
    loop_settle(f.base);
    return got.lock;
}

/* Acquire and release. */
static void must_cycle(void)
{
    ck_assert_int_eq(farm_release(&f, must_acquire()), REDLOCK_OK);
    farm_wait_clean(&f);
    loop_settle(f.base);
}

TEST(each_master_is_released_in_its_own_way)
{
    farm_start(&f, MASTERS, FAKE_UNIX);
    fake_model(f.nodes[0])->native = "DELEX";
    fake_model(f.nodes[1])->native = "DELIFEQ";
    farm_open(&f);
    must_cycle();
    ck_assert_uint_eq(fake_count(f.nodes[0], "DELEX k IFEQ"), 1);
    ck_assert_uint_eq(fake_count(f.nodes[1], "DELIFEQ k"), 1);
    ck_assert_uint_eq(n_native(2), 0);
    ck_assert_uint_eq(n_scripts(0) + n_scripts(1), 0);
    ck_assert_uint_eq(n_scripts(2), 1);
}

/* Only the script adds an entry to the audit stream. A master that refuses the script is released
 * by the command, without one. */
TEST(with_an_audit_stream_it_is_the_script)
{
    struct redlock_lock *lock;
    size_t i;

    farm_start(&f, MASTERS, FAKE_UNIX);
    for (i = 0; i < MASTERS; i++) {
        fake_model(f.nodes[i])->native = "DELEX";
    }
    f.options.audit_entries = 10;
    farm_open(&f);
    must_cycle();
    ck_assert_uint_eq(n_native(0) + n_native(1) + n_native(2), 0);
    ck_assert_uint_eq(n_scripts(0), 1);
    lock = must_acquire();
    fake_on(f.nodes[0], "EVALSHA", FAKE_REPLY, "-NOPERM no script for you\r\n");
    ck_assert_int_eq(farm_release(&f, lock), REDLOCK_OK);
    farm_wait_clean(&f);
    ck_assert_uint_eq(n_native(0), 1);
    ck_assert_uint_eq(n_native(1) + n_native(2), 0);
}

/* Who enters the list after the look at it finds the key free. */
TEST(the_list_is_looked_at_after_the_key_is_deleted)
{
    long deleted, looked;

    start("DELEX");
    must_cycle();
    deleted = fake_find(f.nodes[0], 0, 0, "DELEX k");
    looked = fake_find(f.nodes[0], 0, 0, LIST);
    ck_assert_int_ge(deleted, 0);
    ck_assert_int_eq(looked, deleted + 1);
}

TEST(a_lost_round_looks_at_no_list)
{
    start("DELEX");
    farm_give_away(&f, 0, 2);
    ck_assert_int_eq(farm_acquire(&f, "k").status, REDLOCK_EHELD);
    farm_wait_count(&f, 2, "DELEX k", 1);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[2], LIST), 0);
}

TEST_LOOP(what_is_not_ours_is_reported_as_gone_or_taken, 0, 2)
{
    struct redlock_lock *lock;

    start("DELEX");
    lock = must_acquire();
    farm_end_other(&f);
    if (_i) {
        farm_give_away(&f, 0, MASTERS);
    }
    ck_assert_int_eq(farm_release(&f, lock), _i ? REDLOCK_TAKEN : REDLOCK_GONE);
    ck_assert_uint_eq(farm_count(&f, "k", FARM_OTHER), _i ? MASTERS : 0);
}

TEST(a_key_of_another_type_is_taken)
{
    start("DELEX");
    farm_on(&f, 0, MASTERS, "DELEX k", FAKE_REPLY, "-WRONGTYPE Operation against a key\r\n");
    ck_assert_int_eq(farm_release(&f, must_acquire()), REDLOCK_TAKEN);
    ck_assert_uint_eq(n_scripts(0), 0);
}

static const char *const refusals[] = {
    "-NOPERM User worker has no permissions to run the 'delex' command\r\n",
    "-ERR unknown command 'DELEX', with args beginning with: 'k'\r\n",
    "-ERR syntax error\r\n",
};

TEST_LOOP(a_command_that_is_refused_gives_way_to_the_script, 0, 3)
{
    size_t i;

    start("DELEX");
    farm_on(&f, 0, MASTERS, "DELEX k", FAKE_REPLY, refusals[_i]);
    must_cycle();
    must_cycle();
    for (i = 0; i < MASTERS; i++) {
        ck_assert_uint_eq(n_native(i), 1);
        ck_assert_uint_eq(n_scripts(i), 2);
    }
}

/* By the script nobody can be woken there. */
TEST(a_script_that_is_refused_gives_way_to_the_command)
{
    struct redlock_lock *lock;
    size_t i;

    start("DELEX");
    farm_on(&f, 0, MASTERS, "DELEX k", FAKE_REPLY, refusals[0]);
    must_cycle();
    lock = must_acquire();
    for (i = 0; i < MASTERS; i++) {
        fake_behave(f.nodes[i]);
        fake_on(f.nodes[i], "EVALSHA", FAKE_REPLY, "-NOPERM no 'evalsha' for you\r\n");
    }
    ck_assert_int_eq(farm_release(&f, lock), REDLOCK_OK);
    farm_wait_clean(&f);
    must_cycle();
    for (i = 0; i < MASTERS; i++) {
        ck_assert_uint_eq(n_scripts(i), 2);
        ck_assert_uint_eq(fake_count(f.nodes[i], LIST), 1);
    }
}

TEST(a_master_that_refuses_both_is_asked_once_by_each)
{
    struct redlock_lock *lock;
    size_t i;

    start("DELEX");
    lock = must_acquire();
    for (i = 0; i < MASTERS; i++) {
        fake_on(f.nodes[i], "DELEX k", FAKE_REPLY, refusals[0]);
        fake_on(f.nodes[i], "EVAL", FAKE_REPLY, "-NOPERM no script for you\r\n");
        fake_on(f.nodes[i], "EVALSHA", FAKE_REPLY, "-NOPERM no script for you\r\n");
    }
    ck_assert_int_eq(farm_release(&f, lock), REDLOCK_ENOQUORUM);
    loop_settle(f.base);
    ck_assert_uint_eq(n_native(0), 1);
    ck_assert_uint_eq(n_scripts(0), 1);
}

/* Its greeting tells what it knows, and not that of the server before. */
TEST_LOOP(another_server_at_the_address_is_asked_anew, 0, 2)
{
    start(_i ? "DELEX" : "");
    must_cycle();
    fake_model(f.nodes[0])->native = _i ? "" : "DELIFEQ";
    fake_hang_up(f.nodes[0]);
    farm_wait_count(&f, 0, "HELLO", 2);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    must_cycle();
    ck_assert_uint_eq(n_native(0), 1);
    ck_assert_uint_eq(fake_count(f.nodes[0], commands[!_i]), 1);
    ck_assert_uint_eq(n_scripts(0), 1);
}

TEST(a_command_refused_for_now_becomes_pending)
{
    start("DELEX");
    fake_on_next(f.nodes[0], 1, "DELEX k", FAKE_REPLY, "-BUSY running a script\r\n", 24);
    ck_assert_int_eq(farm_release(&f, must_acquire()), REDLOCK_OK);
    suspend_ms(250);
    farm_wait_clean(&f);
    ck_assert_uint_eq(n_scripts(0), 1);
}

TEST(several_keys_are_released_by_the_script)
{
    static const char *const keys[] = {"k", "l"};
    struct redlock_request request = outcome_request(NULL);
    struct outcome got;

    start("DELEX");
    request.key = NULL;
    request.keys = keys;
    request.n_keys = 2;
    got = farm_must_acquire_as(&f, &request);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_clean(&f);
    ck_assert_uint_eq(n_native(0), 0);
}

/* The script reads the keys by other commands. */
TEST(who_may_not_use_exists_releases_by_the_script)
{
    struct redlock_lock *lock;
    size_t i;

    start("DELEX");
    farm_on(&f, 0, MASTERS, "EXISTS", FAKE_REPLY, "-NOPERM no 'exists' for you\r\n");
    lock = must_acquire();
    farm_end_other(&f);
    ck_assert_int_eq(farm_release(&f, lock), REDLOCK_GONE);
    must_cycle();
    for (i = 0; i < MASTERS; i++) {
        ck_assert_uint_eq(n_native(i), 1);
        ck_assert_uint_ge(n_scripts(i), 2);
    }
}

/* ---- those who wait ---- */

static struct outcome got, later;

static void ask_for(struct outcome *o)
{
    struct redlock_request request = outcome_request("k");

    request.wait_ms = REDLOCK_FOREVER;
    o->n = WAITER_MASTERS;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, o, NULL), REDLOCK_OK);
}

static size_t count_all(const struct rlk_script *script)
{
    size_t n = 0, i;

    for (i = 0; i < WAITER_MASTERS; i++) {
        n += scripts_count(&f, i, script);
    }
    return n;
}

/* The first holder knows of nobody who waits; each that waited itself releases by the script. */
TEST(who_waits_is_woken_by_the_script)
{
    struct redlock *mine;
    size_t i;

    waiter_start(&f, &got, WAITER_MASTERS, 1);
    for (i = 0; i < WAITER_MASTERS; i++) {
        fake_model(f.nodes[i])->native = "DELEX";
    }
    farm_close(&f);
    farm_open(&f);
    ask_for(&got);
    loop_must(f.base, &got.calls);
    mine = f.rl;
    farm_open(&f);
    memset(&later, 0, sizeof(later));
    ask_for(&later);
    scripts_wait(&f, waiter_hosts[0], &rlk_script_wait, 1);
    loop_settle(f.base);
    ck_assert_int_eq(redlock_release(got.lock, NULL, NULL), REDLOCK_OK);
    loop_must(f.base, &later.calls);
    ck_assert_int_eq(later.status, REDLOCK_OK);
    ck_assert_uint_eq(count_all(&rlk_script_release), WAITER_HOSTS);
    loop_settle(f.base);
    ck_assert_int_eq(redlock_release(later.lock, NULL, NULL), REDLOCK_OK);
    loop_settle(f.base);
    ck_assert_uint_eq(count_all(&rlk_script_release), WAITER_HOSTS + WAITER_MASTERS);
    watch_close(f.base, mine);
}
