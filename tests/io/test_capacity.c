/* io/test_capacity.c - rule S13: a command that the masters have no room for waits in the queue,
 * and no error is reported. */
#include <stdio.h>
#include <string.h>

#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "io/watch.h"
#include "lib/test.h"

SUITE("capacity");
FIXTURE(NULL, farm_end_all);

/* So many acquires are sent at once, and so many while a master is being connected. */
#define DEQUEUED 1024
#define EXPECTED 128
#define MORE 20

/* Every waiter looks within this time [W5]. */
#define WAIT_LOOK_MS 2500

static struct farm f;
static struct held h;

static struct {
    int keys; /* so many acquires were begun, each for another key */
    int reported, held, cancelled;
} all;

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    all.reported++;
    all.held += status == REDLOCK_OK;
    all.cancelled += status == REDLOCK_ECANCELED;
}

static void acquire_many(int n)
{
    struct redlock_request request;
    char key[16];

    for (; n > 0; n--) {
        snprintf(key, sizeof(key), "many%d", all.keys++);
        request = outcome_request(key);
        ck_assert_int_eq(redlock_acquire(f.rl, &request, on_acquired, NULL, NULL), REDLOCK_OK);
    }
}

static bool are_held(void *arg)
{
    ck_assert_int_eq(all.held, all.reported);
    return all.held == *(int *)arg;
}

static bool are_reported(void *arg)
{
    (void)arg;
    return all.reported == all.keys;
}

static void wait_held(int n)
{
    loop_must_true(f.base, are_held, &n);
}

/* A majority does not answer, and has got as many commands as it may. */
static void fill(void)
{
    size_t i, before = fake_count(f.nodes[0], "SET");

    for (i = 0; i < f.n / 2 + 1; i++) {
        fake_pause(f.nodes[i]);
    }
    acquire_many(DEQUEUED);
    farm_wait_count(&f, 0, "SET", before + DEQUEUED);
    loop_settle(f.base);
    ck_assert_int_eq(all.reported, 0);
}

static void go_on(void)
{
    farm_go_on(&f, 0, f.n);
}

static void start_filled(void)
{
    memset(&all, 0, sizeof(all));
    farm_start_open(&f, 3);
    fill();
}

TEST(rounds_wait_until_a_majority_has_room)
{
    start_filled();
    acquire_many(MORE);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[2], "SET"), DEQUEUED);
    ck_assert_int_eq(all.reported, 0);
    go_on();
    wait_held(DEQUEUED + MORE);
    farm_wait_count(&f, 0, "SET", DEQUEUED + MORE);
}

/* [S6] It is asked, too, and answers when it can. */
TEST(a_minority_that_does_not_answer_delays_nobody)
{
    memset(&all, 0, sizeof(all));
    farm_start_open(&f, 3);
    fake_pause(f.nodes[0]);
    acquire_many(DEQUEUED);
    acquire_many(MORE);
    wait_held(DEQUEUED + MORE);
    farm_wait_count(&f, 0, "SET", DEQUEUED + MORE);
    go_on();
}

/* Node 0 does not answer, and has got as many commands as it may: it delays new rounds. The
 * others have answered. `more` acquires follow. */
static void fill_one(int more)
{
    fake_pause(f.nodes[0]);
    acquire_many(2 * DEQUEUED - more);
    wait_held(2 * DEQUEUED - more);
}

/* After half of the time that makes it stuck. Then it is no longer asked. */
TEST(a_slow_minority_delays_new_rounds_for_a_while)
{
    memset(&all, 0, sizeof(all));
    farm_start_open(&f, 3);
    fill_one(0);
    acquire_many(MORE);
    suspend_ms(FARM_NEVER_MS / 3);
    loop_settle(f.base);
    ck_assert_int_eq(all.reported, 2 * DEQUEUED);
    suspend_ms(FARM_NEVER_MS / 5);
    wait_held(2 * DEQUEUED + MORE);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), 2 * DEQUEUED);
    ck_assert_int_eq(farm_state(&f, 0), REDLOCK_NODE_UP);
    go_on();
}

/* Acquires in the queue fail with it. */
TEST(a_stuck_majority_is_not_waited_for)
{
    start_filled();
    acquire_many(MORE);
    loop_settle(f.base);
    ck_assert_int_eq(all.reported, 0);
    farm_time_out(&f);
    loop_must_true(f.base, are_reported, NULL);
    ck_assert_int_eq(all.held, 0);
    ck_assert_uint_eq(fake_count(f.nodes[2], "SET"), DEQUEUED);
}

/* In order, even when others are added to the queue. */
TEST(the_queue_is_served_in_order)
{
    const struct resp_request *last;

    start_filled();
    acquire_many(MORE);
    go_on();
    farm_wait_count(&f, 2, "SET", DEQUEUED + MORE);
    last = fake_request(f.nodes[2], 0, fake_n_commands(f.nodes[2], 0) - 1);
    ck_assert(rlk_resp_is(last, 1, "many1043"));
}

static bool is_listed(void *arg)
{
    return rlk_model_waiter(fake_model(f.nodes[*(size_t *)arg]), "k", 1) != NULL;
}

/* Waiters that got no place because of the queue would poll, and make it longer. */
TEST(a_waiter_keeps_its_place_while_rounds_have_no_room)
{
    struct redlock_request request = outcome_request("k");
    size_t i, rounds;

    memset(&all, 0, sizeof(all));
    farm_start(&f, 3, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    request.wait_ms = REDLOCK_FOREVER;
    farm_set(&f, 0, f.n, "k", "of another client", 0);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, on_acquired, NULL, NULL), REDLOCK_OK);
    for (i = 0; i < f.n; i++) {
        loop_must_true(f.base, is_listed, &i);
    }
    loop_settle(f.base);
    rounds = fake_count(f.nodes[0], "SET k");
    fill();
    acquire_many(MORE);
    suspend_ms(WAIT_LOOK_MS);
    scripts_wait(&f, 0, &rlk_script_wait, scripts_count(&f, 0, &rlk_script_wait) + 1);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET k"), rounds);
    ck_assert_int_eq(all.reported, 0);
    go_on();
}

TEST(the_wait_of_a_queued_acquire_ends)
{
    struct redlock_request request = outcome_request("late");
    struct outcome got = {.n = 3};

    start_filled();
    request.wait_ms = 1000;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    loop_settle(f.base);
    ck_assert_int_eq(got.calls, 0);
    suspend_ms(1000);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_EDEADLINE);
    ck_assert_int_eq(got.reason, REDLOCK_ELIMIT);
    ck_assert_uint_eq(got.tries, 0);
    go_on();
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[2], "SET late"), 0);
}

TEST(a_cancelled_acquire_leaves_the_queue)
{
    struct redlock_request request = outcome_request("late");
    struct outcome got = {.n = 3};
    struct redlock_lock *lock;

    start_filled();
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, &lock), 0);
    acquire_many(MORE);
    ck_assert_int_eq(redlock_cancel(lock), REDLOCK_OK);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ECANCELED);
    go_on();
    wait_held(DEQUEUED + MORE);
    ck_assert_uint_eq(fake_count(f.nodes[2], "SET late"), 0);
}

TEST(a_close_sends_nothing_that_is_queued)
{
    start_filled();
    acquire_many(MORE);
    go_on();
    farm_close(&f);
    ck_assert_int_eq(all.held + all.cancelled, DEQUEUED + MORE);
    ck_assert_int_ge(all.cancelled, MORE);
    ck_assert_uint_eq(fake_count(f.nodes[2], "SET"), DEQUEUED);
    farm_wait_clean(&f);
}

static void on_queried(const struct redlock_query_result *result, int status, void *arg)
{
    (void)result;
    ck_assert_int_eq(status, REDLOCK_OK);
    ++*(int *)arg;
}

TEST(a_query_waits_for_its_turn)
{
    int queried = 0;

    start_filled();
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, on_queried, &queried), REDLOCK_OK);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[2], "GET"), 0);
    go_on();
    loop_must(f.base, &queried);
}

/* ---- held locks ---- */

/* Acquires are queued. No answer is overdue before a renewal is due. */
static void start_with_lock(void)
{
    memset(&all, 0, sizeof(all));
    farm_start_open(&f, 5);
    held_acquire_key(&h, &f, "k");
    loop_settle(f.base);
    fill();
    acquire_many(MORE);
}

TEST(a_renewal_does_not_wait_behind_acquires)
{
    start_with_lock();
    suspend_ms(HELD_THIRD_MS);
    scripts_wait_all(&f, 0, 5, &rlk_script_keep, 1);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[4], "SET"), DEQUEUED + 1);
    go_on();
    loop_settle(f.base);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 2 * HELD_THIRD_MS);
    ck_assert_str_eq(h.order, "");
}

/* The master answers the next renewal as soon as it has room for the question. */
TEST(a_slow_minority_does_not_delay_a_renewal)
{
    memset(&all, 0, sizeof(all));
    farm_start_open(&f, 3);
    held_acquire_key(&h, &f, "k");
    loop_settle(f.base);
    suspend_ms(HELD_THIRD_MS / 10);
    loop_settle(f.base);
    fill_one(0);
    suspend_freeze();
    suspend_ms(HELD_THIRD_MS / 10 * 9);
    scripts_wait(&f, 1, &rlk_script_keep, 1);
    scripts_wait(&f, 2, &rlk_script_keep, 1);
    loop_settle(f.base);
    suspend_unfreeze();
    ck_assert_int_eq(farm_state(&f, 0), REDLOCK_NODE_UP);
    ck_assert_uint_eq(scripts_count(&f, 0, &rlk_script_keep), 0);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 2 * HELD_THIRD_MS);
    ck_assert_str_eq(h.order, "");
    go_on();
    loop_settle(f.base);
    suspend_ms(HELD_THIRD_MS);
    scripts_wait(&f, 0, &rlk_script_keep, 1);
}

/* [S5] The release follows when there is room, however late the SET before it is carried out. */
TEST(a_release_without_room_outlives_its_unanswered_set)
{
    struct redlock_request request = outcome_request("late");
    struct outcome got;

    memset(&all, 0, sizeof(all));
    farm_start_open(&f, 3);
    fake_pause(f.nodes[0]);
    request.ttl_ms = 30000;
    got = farm_must_acquire_as(&f, &request);
    fill_one(1);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    loop_settle(f.base);
    ck_assert_uint_eq(scripts_count(&f, 0, &rlk_script_release), 0);
    suspend_ms(35000);
    loop_settle(f.base);
    ck_assert_int_eq(farm_state(&f, 0), REDLOCK_NODE_UP);
    go_on();
    farm_wait_gone(&f, "late");
}

TEST(a_release_does_not_wait_behind_acquires)
{
    start_with_lock();
    ck_assert_int_eq(held_release(&h), REDLOCK_OK);
    scripts_wait_all(&f, 0, 5, &rlk_script_release, 1);
    ck_assert_uint_eq(fake_count(f.nodes[4], "SET"), DEQUEUED + 1);
    go_on();
    loop_must(f.base, &h.released);
}

#define LOCKS 40

static bool are_all_kept(void *arg)
{
    (void)arg;
    return scripts_kept(&f, 1) == LOCKS;
}

/* At a third of the ttl at the latest, and not all of them at one moment before it. */
TEST(renewals_are_spread)
{
    struct held locks[LOCKS];
    char key[16];
    size_t i, n;

    held_start(&f);
    for (i = 0; i < LOCKS; i++) {
        snprintf(key, sizeof(key), "k%zu", i);
        held_acquire_key(&locks[i], &f, key);
    }
    loop_settle(f.base);
    suspend_ms(HELD_THIRD_MS / 8 * 7);
    loop_settle(f.base);
    n = scripts_kept(&f, 1);
    ck_assert_uint_gt(n, 0);
    ck_assert_uint_lt(n, LOCKS);
    suspend_ms(HELD_THIRD_MS / 8);
    loop_must_true(f.base, are_all_kept, NULL);
}

/* ---- masters that are being connected ---- */

TEST(not_all_wait_for_a_master_that_is_being_connected)
{
    memset(&all, 0, sizeof(all));
    farm_start(&f, 3, FAKE_UNIX);
    farm_pause(&f, 0, 3);
    farm_open_at_once(&f);
    acquire_many(DEQUEUED);
    loop_settle(f.base);
    fake_go_on(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), EXPECTED);
    ck_assert_int_eq(all.reported, 0);
    fake_go_on(f.nodes[1]);
    fake_go_on(f.nodes[2]);
    wait_held(DEQUEUED);
}

static void release_by_token(void)
{
    static const char *const keys[] = {"k"};
    struct outcome_released released = {0, 0};

    ck_assert_int_eq(
        redlock_release_token(f.rl, keys, NULL, 1, "token", outcome_on_released, &released), 0);
    loop_must(f.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_OK);
}

/* Node 2 has the key, its greeting does not end, and a majority has answered. */
static void start_without_the_third(void)
{
    farm_start(&f, 3, FAKE_UNIX);
    farm_set(&f, 0, 3, "k", "token", 60000);
    fake_on(f.nodes[2], "SCRIPT LOAD", FAKE_STALL, NULL);
    farm_open_at_once(&f);
    farm_wait_count(&f, 2, "SCRIPT LOAD", 1);
}

/* The close waits for a tenth of a second at most. */
TEST_LOOP(a_close_waits_to_release_on_a_master_that_is_being_connected, 0, 2)
{
    int closed = 0;

    start_without_the_third();
    release_by_token();
    suspend_freeze();
    ck_assert_int_eq(redlock_close(f.rl, watch_on_closed, &closed), REDLOCK_OK);
    f.rl = NULL;
    loop_settle(f.base);
    ck_assert_int_eq(closed, 0);
    if (_i == 0) {
        fake_go_on(f.nodes[2]);
        loop_must(f.base, &closed);
        ck_assert_ptr_null(rlk_model_get(fake_model(f.nodes[2]), "k"));
    } else {
        suspend_ms(101);
        loop_must(f.base, &closed);
    }
}

/* [S5, S6] It has more pending releases than are sent at once, and answers none of them. */
TEST(a_minority_with_pending_releases_delays_nobody)
{
    struct outcome_released released = {0, 0};
    const char *keys[1];
    char key[16];
    int i;

    start_without_the_third();
    for (i = 0; i <= DEQUEUED; i++) {
        keys[0] = key;
        snprintf(key, sizeof(key), "k%d", i);
        rlk_model_set(fake_model(f.nodes[0]), key, "token", 60000);
        rlk_model_set(fake_model(f.nodes[1]), key, "token", 60000);
        ck_assert_int_eq(
            redlock_release_token(f.rl, keys, NULL, 1, "token", outcome_on_released, &released), 0);
    }
    loop_must(f.base, &released.calls);
    loop_settle(f.base);
    fake_on(f.nodes[2], "EVALSHA", FAKE_STALL, NULL);
    fake_go_on(f.nodes[2]);
    scripts_wait(&f, 2, &rlk_script_release, DEQUEUED);
    farm_must_acquire(&f, "l");
    ck_assert_uint_eq(fake_count(f.nodes[2], "SET"), 0);
    fake_behave(f.nodes[2]);
    go_on();
    scripts_wait(&f, 2, &rlk_script_release, DEQUEUED + 1);
}

/* Nothing is pending for that master, so the close does not wait: no time passes. */
TEST(a_close_does_not_wait_for_a_master_that_is_being_connected)
{
    start_without_the_third();
    fake_behave(f.nodes[0]);
    farm_must_acquire(&f, "l");
    suspend_freeze();
    watch_close(f.base, f.rl);
    f.rl = NULL;
}
