/* test_contention.c - many requests of one manager for the same keys: one of them asks the masters,
 * the others stand behind it, and each gets its turn. */
#include <redlock/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/farm.h"
#include "io/suspend.h"
#include "io/watch.h"
#include "lib/test.h"

SUITE("contention");
FIXTURE(NULL, farm_end_all);

static struct farm f;

/* ---- one request ---- */

struct waiter {
    struct redlock_lock *lock; /* held; NULL: not */
    struct redlock_lock *handle;
    int calls, status, reason;
    uint32_t tries;
    bool releases; /* as soon as it has the lock */
    int number;    /* of all callbacks, from 1 */
};

static int n_calls;

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct waiter *w = arg;

    w->calls++;
    w->number = ++n_calls;
    w->status = status;
    w->reason = redlock_lock_reason(lock);
    redlock_lock_effort(lock, &w->tries, NULL);
    w->lock = status == REDLOCK_OK ? lock : NULL;
    if (w->lock && w->releases) {
        ck_assert_int_eq(redlock_release(lock, NULL, NULL), REDLOCK_OK);
        w->lock = NULL;
    }
}

/* A request for the keys, each of one letter. */
static void ask_on(struct redlock *rl, struct waiter *w, const char *keys, uint32_t wait_ms)
{
    static char names[4][2];
    const char *pointers[4];
    struct redlock_request request = outcome_request(NULL);
    size_t i;

    for (i = 0; keys[i]; i++) {
        names[i][0] = keys[i];
        pointers[i] = names[i];
    }
    request.keys = pointers;
    request.n_keys = i;
    request.wait_ms = wait_ms;
    ck_assert_int_eq(redlock_acquire(rl, &request, on_acquired, w, &w->handle), REDLOCK_OK);
}

static void ask(struct waiter *w, const char *keys, uint32_t wait_ms)
{
    ask_on(f.rl, w, keys, wait_ms);
}

static void ask_to_wait(struct waiter *w, const char *keys)
{
    ask(w, keys, REDLOCK_FOREVER);
}

static void must_get(struct waiter *w)
{
    loop_must(f.base, &w->calls);
    ck_assert_int_eq(w->status, REDLOCK_OK);
}

static void must_stand_behind(const struct waiter *w)
{
    loop_settle(f.base);
    ck_assert_int_eq(w->calls, 0);
}

static void start_release(struct waiter *w)
{
    ck_assert_int_eq(redlock_release(w->lock, NULL, NULL), REDLOCK_OK);
    w->lock = NULL;
}

static void start(size_t n)
{
    n_calls = 0;
    farm_start_open(&f, n);
}

/* ---- many ---- */

#define THOUSAND 1000

static bool all_were_called(void *arg)
{
    return n_calls >= *(const int *)arg;
}

static void wait_for_calls(int n)
{
    loop_must_true(f.base, all_were_called, &n);
}

TEST(a_thousand_requests_get_the_lock_in_the_order_of_their_calls)
{
    static struct waiter all[THOUSAND];
    int i;

    start(3);
    for (i = 0; i < THOUSAND; i++) {
        all[i].releases = true;
        ask_to_wait(&all[i], "k");
    }
    wait_for_calls(THOUSAND);
    for (i = 0; i < THOUSAND; i++) {
        ck_assert_int_eq(all[i].status, REDLOCK_OK);
        ck_assert_int_eq(all[i].number, i + 1);
        ck_assert_uint_eq(all[i].tries, 1);
    }
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_count(f.nodes[i], "SET k"), THOUSAND);
    }
    farm_wait_clean(&f);
}

TEST(those_who_stand_behind_ask_no_master)
{
    static struct waiter holder, all[THOUSAND];
    size_t before;
    int i;

    start(3);
    ask_to_wait(&holder, "k");
    must_get(&holder);
    loop_settle(f.base);
    before = fake_n_commands(f.nodes[0], 0);
    for (i = 0; i < THOUSAND; i++) {
        ask_to_wait(&all[i], "k");
    }
    loop_settle(f.base);
    ck_assert_uint_eq(fake_n_commands(f.nodes[0], 0), before);
    ck_assert_int_eq(n_calls, 1);
}

/* The first command of the connection that begins with this text, from `from` on. */
static size_t find_on(size_t node, size_t from, const char *command)
{
    long at = fake_find(f.nodes[node], 0, from, command);

    ck_assert_int_ge(at, 0);
    return (size_t)at;
}

static void set_must_follow_release(size_t node)
{
    size_t set = find_on(node, 0, "SET k");
    long release = farm_find_release(&f, node, 0, set, farm_token_at(&f, node, 0, set));

    ck_assert_int_gt(release, 0);
    ck_assert_uint_eq(find_on(node, (size_t)release, "SET k"), (size_t)release + 1);
}

/* Nothing is answered in between: so one flight has both. */
TEST(the_next_request_follows_the_release_in_one_flight)
{
    struct waiter one = {0}, two = {0};
    size_t i;

    start(3);
    ask_to_wait(&one, "k");
    must_get(&one);
    ask_to_wait(&two, "k");
    must_stand_behind(&two);
    farm_pause(&f, 0, 3);
    start_release(&one);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&f, i, "SET k", 2);
        set_must_follow_release(i);
        fake_go_on(f.nodes[i]);
    }
    must_get(&two);
}

/* ---- leaving ---- */

TEST(one_that_is_cancelled_leaves_the_others_in_order)
{
    struct waiter all[4] = {{0}};
    int i;

    start(3);
    for (i = 0; i < 4; i++) {
        ask_to_wait(&all[i], "k");
    }
    must_get(&all[0]);
    ck_assert_int_eq(redlock_cancel(all[1].handle), REDLOCK_OK);
    loop_must(f.base, &all[1].calls);
    ck_assert_int_eq(all[1].status, REDLOCK_ECANCELED);
    ck_assert_int_eq(all[1].reason, REDLOCK_EHELD);
    start_release(&all[0]);
    must_get(&all[2]);
    must_stand_behind(&all[3]);
    start_release(&all[2]);
    must_get(&all[3]);
}

#define WAIT_MS 30000u

TEST(one_whose_time_is_over_has_the_reason_eheld_and_made_no_try)
{
    struct waiter all[3] = {{0}};

    start(3);
    ask_to_wait(&all[0], "k");
    must_get(&all[0]);
    ask(&all[1], "k", WAIT_MS);
    ask_to_wait(&all[2], "k");
    must_stand_behind(&all[1]);
    suspend_ms(WAIT_MS + 1);
    loop_must(f.base, &all[1].calls);
    ck_assert_int_eq(all[1].status, REDLOCK_EDEADLINE);
    ck_assert_int_eq(all[1].reason, REDLOCK_EHELD);
    ck_assert_uint_eq(all[1].tries, 0);
    start_release(&all[0]);
    must_get(&all[2]);
}

/* The head waits for a foreign holder. When it is cancelled, the next one asks. */
TEST(a_head_that_is_cancelled_passes_its_turn_on)
{
    struct waiter one = {0}, two = {0};

    start(3);
    farm_give_away(&f, 0, 3);
    ask_to_wait(&one, "k");
    ask_to_wait(&two, "k");
    farm_wait_count(&f, 0, "SET k", 1);
    must_stand_behind(&two);
    farm_end_other(&f);
    ck_assert_int_eq(redlock_cancel(one.handle), REDLOCK_OK);
    must_get(&two);
    ck_assert_int_eq(one.status, REDLOCK_ECANCELED);
}

static bool one_was_called(void *arg)
{
    (void)arg;
    return n_calls > 0;
}

/* The first asks masters that do not answer. Then there is nobody to ask, and the others fail as
 * soon as it is their turn: all in one turn of the loop. */
TEST(a_thousand_heads_that_fail_pass_the_turn_on)
{
    static struct waiter all[THOUSAND];
    struct redlock_request request = outcome_request("k");
    int i;

    start(3);
    farm_pause(&f, 0, 3);
    request.wait_ms = REDLOCK_FOREVER;
    request.max_retries = 0;
    for (i = 0; i < THOUSAND; i++) {
        ck_assert_int_eq(redlock_acquire(f.rl, &request, on_acquired, &all[i], NULL), REDLOCK_OK);
    }
    farm_wait_count(&f, 0, "SET k", 1);
    must_stand_behind(&all[1]);
    farm_time_out(&f);
    loop_must_true(f.base, one_was_called, NULL);
    ck_assert_int_eq(n_calls, THOUSAND);
    for (i = 0; i < THOUSAND; i++) {
        ck_assert_int_eq(all[i].status, REDLOCK_ENOQUORUM);
        ck_assert_int_eq(all[i].number, i + 1);
    }
}

/* ---- those that fail for a reason of their own [W2] ---- */

#define NOPERM "-NOPERM this user has no permissions to run this command\r\n"

static void refuse_all(const char *command, const char *error)
{
    farm_on(&f, 0, f.n, command, FAKE_REPLY, error);
}

static void end_trouble(void)
{
    size_t i;

    for (i = 0; i < f.n; i++) {
        fake_behave(f.nodes[i]);
    }
}

static void ask_again_soon(struct waiter *w, bool fenced)
{
    struct redlock_request request = fenced ? outcome_fenced_request("k") : outcome_request("k");

    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 1;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, on_acquired, w, &w->handle), REDLOCK_OK);
}

/* The masters deny the script that a fence needs. */
static void ask_in_vain(struct waiter *w)
{
    ask_again_soon(w, true);
}

static bool all_have_failed(void *arg)
{
    const struct waiter *w;

    for (w = arg; w->handle; w++) {
        if (redlock_lock_reason(w->handle) != REDLOCK_ENOQUORUM) {
            return false;
        }
    }
    return true;
}

static void must_have_failed(struct waiter *all)
{
    loop_must_true(f.base, all_have_failed, all);
}

TEST(one_that_cannot_be_granted_lets_others_ask)
{
    struct waiter vain[3] = {{0}}, behind = {0}, newcomer = {0};
    size_t i;

    start(3);
    refuse_all("EVAL", NOPERM);
    ask_in_vain(&vain[0]);
    ask_in_vain(&vain[1]);
    ask_to_wait(&behind, "k");
    must_get(&behind);
    ck_assert_uint_eq(behind.tries, 1);
    ck_assert_int_eq(redlock_lock_detach(behind.lock), REDLOCK_OK);
    for (i = 0; i < 3; i++) {
        rlk_model_del(fake_model(f.nodes[i]), "k");
    }
    must_have_failed(vain);
    ask_to_wait(&newcomer, "k");
    must_get(&newcomer);
    ck_assert_uint_eq(newcomer.tries, 1);
    ck_assert_int_eq(vain[0].calls + vain[1].calls, 0);
    farm_end(&f);
}

/* A foreign key on one master, an error on another: neither alone is a majority. */
TEST(one_that_an_error_and_a_refusal_keep_out_lets_others_ask)
{
    struct waiter vain[2] = {{0}}, behind = {0};

    start(3);
    rlk_model_set(fake_model(f.nodes[0]), "k", "foreign", FARM_NEVER_MS);
    fake_on(f.nodes[1], "EVAL", FAKE_REPLY, "-FENCE the counter of the key is not a string\r\n");
    ask_in_vain(&vain[0]);
    ask_to_wait(&behind, "k");
    must_get(&behind);
    ck_assert_int_eq(vain[0].calls, 0);
    ck_assert_int_eq(redlock_lock_reason(vain[0].handle), REDLOCK_EHELD);
    farm_end(&f);
}

/* By now it would have asked again, after a millisecond at most. */
TEST(one_that_failed_does_not_ask_while_another_one_holds_the_lock)
{
    struct waiter vain[2] = {{0}}, other = {0};
    uint32_t tries, later_tries;

    start(3);
    refuse_all("EVAL", NOPERM);
    ask_in_vain(&vain[0]);
    ask_to_wait(&other, "k");
    must_get(&other);
    must_have_failed(vain);
    redlock_lock_effort(vain[0].handle, &tries, NULL);
    suspend_ms(10);
    loop_settle(f.base);
    redlock_lock_effort(vain[0].handle, &later_tries, NULL);
    ck_assert_uint_eq(later_tries, tries);
    farm_end(&f);
}

TEST(one_that_failed_gets_the_lock_when_its_trouble_is_over)
{
    struct waiter vain[2] = {{0}};

    start(3);
    refuse_all("EVAL", NOPERM);
    ask_in_vain(&vain[0]);
    must_have_failed(vain);
    end_trouble();
    must_get(&vain[0]);
}

/* None of them has the lock while the masters refuse everything. */
TEST(all_that_failed_get_their_turn_when_the_trouble_is_over)
{
    static struct waiter all[101];
    int i;

    start(3);
    refuse_all("SET", "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    for (i = 0; i < 100; i++) {
        all[i].releases = true;
        ask_again_soon(&all[i], false);
    }
    must_have_failed(all);
    ck_assert_int_eq(n_calls, 0);
    end_trouble();
    wait_for_calls(100);
    for (i = 0; i < 100; i++) {
        ck_assert_int_eq(all[i].status, REDLOCK_OK);
    }
    farm_wait_clean(&f);
}

/* One of them rests, and the others stand behind it. */
TEST(one_that_failed_can_be_cancelled_wherever_it_stands)
{
    struct waiter vain[4] = {{0}};
    int i;

    start(3);
    refuse_all("EVAL", NOPERM);
    for (i = 0; i < 3; i++) {
        ask_in_vain(&vain[i]);
    }
    must_have_failed(vain);
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(redlock_cancel(vain[i].handle), REDLOCK_OK);
        loop_must(f.base, &vain[i].calls);
        ck_assert_int_eq(vain[i].status, REDLOCK_ECANCELED);
        ck_assert_int_eq(vain[i].reason, REDLOCK_ENOQUORUM);
    }
    end_trouble();
    must_get(&vain[2]);
}

TEST(the_wait_of_one_that_failed_ends_in_time)
{
    struct redlock_request request = outcome_fenced_request("k");
    struct waiter vain[3] = {{0}};
    int i;

    start(3);
    refuse_all("EVAL", NOPERM);
    request.wait_ms = 30000;
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(redlock_acquire(f.rl, &request, on_acquired, &vain[i], &vain[i].handle),
                         REDLOCK_OK);
    }
    must_have_failed(vain);
    suspend_ms(30001);
    wait_for_calls(2);
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(vain[i].status, REDLOCK_EDEADLINE);
        ck_assert_int_eq(vain[i].reason, REDLOCK_ENOQUORUM);
    }
}

/* ---- the end of a lock ---- */

TEST(a_lock_that_is_forgotten_passes_the_turn_on)
{
    struct waiter one = {0}, two = {0};

    start(3);
    ask_to_wait(&one, "k");
    must_get(&one);
    ask_to_wait(&two, "k");
    must_stand_behind(&two);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET k"), 1);
    ck_assert_int_eq(redlock_lock_detach(one.lock), REDLOCK_OK);
    farm_wait_count(&f, 0, "SET k", 2);
    farm_end(&f);
}

/* It is not renewed. Its keys have not expired at the fake masters. */
TEST(a_lock_that_is_lost_passes_the_turn_on)
{
    struct waiter one = {0}, two = {0};

    start(3);
    ask_to_wait(&one, "k");
    must_get(&one);
    ask_to_wait(&two, "k");
    must_stand_behind(&two);
    suspend_ms(OUTCOME_TTL_MS + 1);
    farm_wait_count(&f, 0, "SET k", 2);
    start_release(&one);
    must_get(&two);
}

/* It has no quorum, and its keys stay. */
TEST(a_release_that_fails_passes_the_turn_on)
{
    struct waiter one = {0}, two = {0};
    struct outcome_released released = {0, 0};

    start(3);
    ask_to_wait(&one, "k");
    must_get(&one);
    ask_to_wait(&two, "k");
    must_stand_behind(&two);
    farm_pause(&f, 0, 3);
    ck_assert_int_eq(redlock_release(one.lock, outcome_on_released, &released), REDLOCK_OK);
    farm_wait_count(&f, 0, "SET k", 2);
    farm_time_out(&f);
    loop_must(f.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_ENOQUORUM);
    farm_go_on(&f, 0, 3);
    must_get(&two);
}

/* ---- several keys ---- */

TEST(a_set_stands_behind_a_lock_on_one_of_its_keys)
{
    struct waiter one = {0}, set = {0}, other = {0};

    start(3);
    ask_to_wait(&one, "b");
    must_get(&one);
    ask_to_wait(&set, "ab");
    ask_to_wait(&other, "a");
    must_get(&other);
    must_stand_behind(&set);
    start_release(&one);
    must_stand_behind(&set);
    start_release(&other);
    must_get(&set);
}

TEST(others_stand_behind_a_set_that_is_held)
{
    struct waiter set = {0}, one = {0}, other_set = {0};
    size_t before;

    start(3);
    ask_to_wait(&set, "ab");
    must_get(&set);
    loop_settle(f.base);
    before = fake_n_commands(f.nodes[0], 0);
    ask_to_wait(&one, "a");
    ask_to_wait(&other_set, "bc");
    must_stand_behind(&one);
    must_stand_behind(&other_set);
    ck_assert_uint_eq(fake_n_commands(f.nodes[0], 0), before);
    start_release(&set);
    must_get(&one);
    must_get(&other_set);
}

/* {a, b} waits for a. Whoever holds a takes b in the right order, and must get it. */
TEST(locks_taken_one_by_one_pass_a_set_that_waits_for_both)
{
    struct waiter a = {0}, b = {0}, set = {0};

    start(3);
    ask_to_wait(&a, "a");
    must_get(&a);
    ask_to_wait(&set, "ab");
    must_stand_behind(&set);
    ask_to_wait(&b, "b");
    must_get(&b);
    start_release(&b);
    start_release(&a);
    must_get(&set);
}

/* {a, k} asks the masters, and waits for k, which somebody else holds. Whoever waits for a alone
 * may hold what that holder needs. */
TEST(a_set_that_waits_for_a_foreign_holder_does_not_block_its_other_key)
{
    struct waiter set = {0}, other_set = {0}, a = {0};

    start(3);
    farm_give_away(&f, 0, 3);
    ask_to_wait(&set, "ak");
    loop_settle(f.base);
    ask_to_wait(&other_set, "ka");
    ask_to_wait(&a, "a");
    must_get(&a);
    start_release(&a);
    must_stand_behind(&other_set);
    farm_end_other(&f);
    must_get(&set);
    must_stand_behind(&other_set);
    start_release(&set);
    must_get(&other_set);
}

/* The release names no channel to take out of the wait queues. */
static void release_must_name_no_channel(struct waiter *w)
{
    char token[256];
    const struct resp_request *release;
    long at;

    snprintf(token, sizeof(token), "%s", redlock_lock_token(w->lock));
    start_release(w);
    loop_settle(f.base);
    at = farm_find_release(&f, 0, 0, 0, token);
    ck_assert_int_ge(at, 0);
    release = fake_request(f.nodes[0], 0, (size_t)at);
    ck_assert_str_eq(release->argv[release->argc - 1], token);
}

/* Both wait for k, in one place of the waiting lists, because the channel is the manager's. */
TEST(a_release_keeps_the_place_of_a_request_for_another_set)
{
    struct waiter set = {0}, single = {0}, *first, *second;

    n_calls = 0;
    farm_start(&f, 3, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    farm_give_away(&f, 0, 3);
    ask_to_wait(&set, "bk");
    ask_to_wait(&single, "k");
    farm_wait_count(&f, 0, "SET k", 1);
    loop_settle(f.base);
    farm_end_other(&f);
    wait_for_calls(1);
    first = set.lock ? &set : &single;
    second = set.lock ? &single : &set;
    must_stand_behind(second);
    release_must_name_no_channel(first);
    must_get(second);
}

/* ---- those who ask at once ---- */

TEST(a_request_that_does_not_wait_asks_the_masters_at_once)
{
    struct waiter one = {0}, two = {0};

    start(3);
    ask_to_wait(&one, "k");
    must_get(&one);
    ask(&two, "k", 0);
    loop_must(f.base, &two.calls);
    ck_assert_int_eq(two.status, REDLOCK_EHELD);
    ck_assert_uint_eq(two.tries, 1);
}

TEST(others_stand_behind_a_lock_that_was_taken_without_waiting)
{
    struct waiter one = {0}, two = {0};

    start(3);
    ask(&one, "k", 0);
    must_get(&one);
    ask_to_wait(&two, "k");
    must_stand_behind(&two);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET k"), 1);
    start_release(&one);
    must_get(&two);
}

TEST(others_stand_behind_a_lock_that_was_taken_over)
{
    struct redlock_request request = outcome_request("k");
    struct waiter one = {0}, two = {0}, three = {0};
    char token[256];

    start(3);
    ask_to_wait(&one, "k");
    must_get(&one);
    snprintf(token, sizeof(token), "%s", redlock_lock_token(one.lock));
    ck_assert_int_eq(redlock_lock_detach(one.lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_adopt(f.rl, &request, token, on_acquired, &two, NULL), REDLOCK_OK);
    must_get(&two);
    ask_to_wait(&three, "k");
    must_stand_behind(&three);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET k"), 1);
    start_release(&two);
    must_get(&three);
}

/* ---- another manager ---- */

static bool is_listed(void *arg)
{
    size_t i;

    (void)arg;
    for (i = 0; i < f.n; i++) {
        if (rlk_model_waiter(fake_model(f.nodes[i]), "k", 1) == NULL) {
            return false;
        }
    }
    return true;
}

/* The release and the next request leave in one flight, so no reply says in time that the release
 * has woken somebody: that of the release before does. The other manager may have had a vote of the
 * round before; then it has to wait for a back-off [W3], and may miss a turn. */
TEST(whoever_asks_again_in_the_turn_of_its_release_lets_another_manager_in)
{
    struct waiter one = {0}, two = {0};
    struct redlock *first;
    int i;

    n_calls = 0;
    farm_start(&f, 3, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    first = f.rl;
    farm_open(&f);
    ask_on(first, &one, "k", REDLOCK_FOREVER);
    must_get(&one);
    ask_to_wait(&two, "k");
    for (i = 0; i < 20 && two.calls == 0; i++) {
        loop_must_true(f.base, is_listed, NULL);
        n_calls = one.calls = 0;
        start_release(&one);
        ask_on(first, &one, "k", REDLOCK_FOREVER);
        wait_for_calls(1);
    }
    ck_assert_int_eq(two.calls, 1);
    ck_assert_int_eq(two.status, REDLOCK_OK);
    ck_assert_int_eq(one.calls, 0);
    start_release(&two);
    must_get(&one);
    watch_close(f.base, first);
}

/* ---- the end of the manager ---- */

#define MANY 10000

TEST(a_close_ends_ten_thousand_that_stand_behind)
{
    static struct waiter all[MANY];
    int i;

    start(3);
    for (i = 0; i < MANY; i++) {
        ask_to_wait(&all[i], "k");
    }
    must_get(&all[0]);
    farm_close(&f);
    ck_assert_int_eq(n_calls, MANY);
    for (i = 1; i < MANY; i++) {
        ck_assert_int_eq(all[i].status, REDLOCK_ECANCELED);
    }
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_count(f.nodes[i], "SET k"), 1);
    }
    farm_wait_clean(&f);
}
