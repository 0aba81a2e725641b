/* io/test_callbacks.c - the rules in <redlock/redlock.h>, each by its number. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "io/farm.h"
#include "lib/test.h"

SUITE("callbacks");
FIXTURE(NULL, farm_end_all);

static struct farm f;

/* --- rule 1: nothing blocks, prints, starts a thread, installs a handler ------------------ */

static int n_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;

    while (readdir(tasks)) {
        n++;
    }
    closedir(tasks);
    return n;
}

/* A life of a manager with everything that might print or abort. */
static void live_a_full_life(void)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_TCP);
    fake_model(f.nodes[0])->password = "secret";
    fake_on(f.nodes[1], "SET", FAKE_REPLY, "$4294967296\r\n");
    farm_open_at_once(&f);
    got = farm_must_acquire(&f, "k");
    fake_reset(f.nodes[2]);
    fake_reset(f.nodes[3]);
    fake_reset(f.nodes[4]);
    farm_release(&f, got.lock);
    farm_end(&f);
}

TEST(rule_1_nothing_is_printed)
{
    int ends[2];
    int out = dup(1);
    int err = dup(2);
    char byte;

    ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    live_a_full_life();
    dup2(out, 1);
    dup2(err, 2);
    ck_assert_int_eq((int)read(ends[0], &byte, 1), -1);
}

TEST(rule_1_no_thread_is_started)
{
    int before;

    farm_start(&f, 3, FAKE_UNIX);
    before = n_threads();
    farm_open(&f);
    farm_must_acquire(&f, "k");
    ck_assert_int_eq(n_threads(), before);
}

TEST(rule_1_no_signal_handler_is_installed)
{
    struct sigaction before[NSIG];
    struct sigaction after;
    int i;

    for (i = 1; i < NSIG; i++) {
        memset(&before[i], 0, sizeof(before[i]));
        sigaction(i, NULL, &before[i]);
    }
    live_a_full_life();
    for (i = 1; i < NSIG; i++) {
        memset(&after, 0, sizeof(after));
        sigaction(i, NULL, &after);
        ck_assert(after.sa_handler == before[i].sa_handler);
    }
}

/* SIGPIPE is left as it is, and a server that goes away does not raise it. */
TEST_LOOP(rule_1_a_closed_connection_does_not_end_the_process, 0, 2)
{
    struct outcome got;
    size_t i;
    int round;

    signal(SIGPIPE, SIG_DFL);
    farm_start(&f, 3, _i ? FAKE_TCP : FAKE_UNIX);
    farm_open(&f);
    for (round = 0; round < 5; round++) {
        got = farm_acquire(&f, "k");
        for (i = 0; i < 3; i++) {
            fake_reset(f.nodes[i]);
        }
        if (got.status == REDLOCK_OK) {
            farm_release(&f, got.lock);
        }
    }
}

TEST(rule_1_no_descriptor_outlives_the_manager)
{
    int before;

    farm_start(&f, 3, FAKE_UNIX);
    before = dup(0);
    close(before);
    farm_open(&f);
    farm_must_acquire(&f, "k");
    farm_close(&f);
    farm_end(&f);
    farm_start(&f, 3, FAKE_UNIX);
    ck_assert_int_eq(dup(0), before);
    close(before);
}

/* --- rule 3: exactly once, and never for a call that failed ------------------------------- */

#define MANY 60

static struct outcome many[MANY];

static void acquire_many_twice(struct redlock_lock **ret_locks)
{
    static char keys[MANY][8];
    struct redlock_request request = outcome_request(NULL);
    int i;

    for (i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof(keys[i]), "k%d", i / 2); /* each key twice */
        request.key = keys[i];
        request.wait_ms = i % 3 == 0 ? REDLOCK_FOREVER : 0;
        many[i] = (struct outcome){.n = f.n};
        ck_assert_int_eq(
            redlock_acquire(f.rl, &request, outcome_on_acquired, &many[i], &ret_locks[i]), 0);
    }
}

static bool most_are_reported(void *arg)
{
    int reported = 0;
    int i;

    (void)arg;
    for (i = 0; i < MANY; i++) {
        reported += many[i].calls > 0;
    }
    return reported > MANY / 2;
}

TEST(rule_3_each_call_calls_back_exactly_once)
{
    struct redlock_lock *locks[MANY];
    int i;

    farm_start(&f, 5, FAKE_TCP);
    fake_on(f.nodes[0], "SET", FAKE_TWICE, NULL);
    fake_on_next(f.nodes[1], 3, "SET", FAKE_DO_CLOSE, NULL, 0);
    fake_on_next(f.nodes[2], 1, "SET", FAKE_STALL, NULL, 0);
    farm_open(&f);
    acquire_many_twice(locks);
    for (i = 0; i < MANY; i += 7) {
        redlock_cancel(locks[i]);
        redlock_cancel(locks[i]); /* a second cancel does no harm */
    }
    loop_until_true(f.base, most_are_reported, NULL, 1000);
    fake_go_on(f.nodes[2]);
    farm_close(&f);
    for (i = 0; i < MANY; i++) {
        ck_assert_int_eq(many[i].calls, 1);
    }
}

TEST(rule_3_a_release_without_callback_is_fine)
{
    struct outcome got;

    farm_start_open(&f, 3);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(redlock_release(got.lock, NULL, NULL), REDLOCK_OK);
    farm_wait_clean(&f);
    got = farm_acquire(&f, "k");
    redlock_lock_detach(got.lock);
    ck_assert_int_eq(
        redlock_release_token(f.rl, &(const char *){"k"}, NULL, 1, got.token, NULL, NULL),
        REDLOCK_OK);
    farm_wait_clean(&f);
    ck_assert_int_eq(redlock_close(f.rl, NULL, NULL), REDLOCK_OK);
    f.rl = NULL;
    loop_settle(f.base);
}

static void must_not_be_called(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    (void)arg;
    ck_abort_msg("a refused call has called back");
}

static void query_must_not_be_called(const struct redlock_query_result *result, int status,
                                     void *arg)
{
    (void)result;
    (void)status;
    (void)arg;
    ck_abort_msg("a refused query has called back");
}

TEST(rule_3_a_call_that_fails_does_not_call_back)
{
    struct redlock_request request = outcome_request("k");
    struct outcome_released first = {0, 0};
    struct outcome got;

    farm_start_open(&f, 3);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(redlock_cancel(got.lock), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_release(got.lock, outcome_on_released, &first), REDLOCK_OK);
    ck_assert_int_eq(redlock_release(got.lock, must_not_be_called, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_lock_detach(got.lock), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_cancel(got.lock), REDLOCK_ESTATE);
    ck_assert_uint_eq(redlock_lock_validity_ms(got.lock), 0);
    loop_must(f.base, &first.calls);
    request.ttl_ms = 1;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, must_not_be_called, NULL, NULL), REDLOCK_ETTL);
    loop_settle(f.base);
}

TEST(rule_3_a_pending_lock_cannot_be_released_or_forgotten)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 3};
    struct redlock_lock *lock;

    farm_start_open(&f, 3);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, &lock), 0);
    ck_assert_int_eq(redlock_release(lock, must_not_be_called, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_lock_detach(lock), REDLOCK_ESTATE);
    ck_assert_uint_eq(redlock_lock_validity_ms(lock), 0);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
}

TEST(rule_3_a_closing_manager_refuses_and_does_not_call_back)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    farm_start_open(&f, 3);
    got = farm_acquire(&f, "held");
    fake_pause(f.nodes[0]);
    fake_pause(f.nodes[1]);
    ck_assert_int_eq(redlock_close(f.rl, NULL, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_close(f.rl, NULL, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, must_not_be_called, NULL, NULL),
                     REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_release(got.lock, must_not_be_called, NULL), REDLOCK_ESTATE);
    ck_assert_int_eq(
        redlock_release_token(f.rl, &(const char *){"k"}, NULL, 1, "t", must_not_be_called, NULL),
        REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, query_must_not_be_called, NULL), REDLOCK_ESTATE);
    ck_assert_uint_eq(redlock_node_count(f.rl), 3);
    ck_assert_str_eq(redlock_lock_token(got.lock), got.token);
    fake_go_on(f.nodes[0]);
    fake_go_on(f.nodes[1]);
    f.rl = NULL;
    farm_wait_clean(&f);
    loop_settle(f.base);
}

/* --- rule 4: never inside a call ---------------------------------------------------------- */

static bool inside;
static int reported;

static void acquired_outside(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    (void)arg;
    ck_assert(!inside);
    reported++;
}

static void queried_outside(const struct redlock_query_result *result, int status, void *arg)
{
    (void)result;
    (void)status;
    (void)arg;
    ck_assert(!inside);
    reported++;
}

static void closed_outside(void *arg)
{
    (void)arg;
    ck_assert(!inside);
    reported++;
}

static bool all_are_reported(void *arg)
{
    const int *all = arg;

    return reported == *all;
}

/* When every master is down, up, or does not answer, each call could know its result at once. */
TEST_LOOP(rule_4_a_callback_never_runs_inside_a_call, 0, 3)
{
    struct redlock_request request = outcome_request("k");
    struct redlock_lock *lock;
    int all = 5;
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3 && _i == 1; i++) {
        fake_down(f.nodes[i]);
    }
    farm_open_at_once(&f);
    if (_i != 2) {
        farm_wait(&f, 0, _i == 0 ? REDLOCK_NODE_UP : REDLOCK_NODE_DOWN);
    }
    inside = true;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, acquired_outside, NULL, NULL), 0);
    request.key = "other";
    ck_assert_int_eq(redlock_acquire(f.rl, &request, acquired_outside, NULL, &lock), 0);
    ck_assert_int_eq(redlock_cancel(lock), REDLOCK_OK);
    ck_assert_int_eq(
        redlock_release_token(f.rl, &(const char *){"k"}, NULL, 1, "t", acquired_outside, NULL), 0);
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, queried_outside, NULL), 0);
    ck_assert_int_eq(redlock_close(f.rl, closed_outside, NULL), REDLOCK_OK);
    inside = false;
    f.rl = NULL;
    loop_must_true(f.base, all_are_reported, &all);
    loop_settle(f.base);
    ck_assert_int_eq(reported, all);
}

/* --- rule 5: any call may be made inside a callback --------------------------------------- */

static int chain;
static int closed;

static void on_closed(void *arg)
{
    (void)arg;
    closed++;
}

static void chain_on_queried(const struct redlock_query_result *result, int status, void *arg)
{
    (void)result;
    (void)arg;
    ck_assert_int_eq(status, REDLOCK_OK);
    chain++;
    ck_assert_int_eq(redlock_close(f.rl, on_closed, NULL), REDLOCK_OK);
}

static void chain_on_released(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    ck_assert_int_eq(status, REDLOCK_OK);
    chain++;
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, chain_on_queried, NULL), REDLOCK_OK);
}

static void chain_on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct redlock_request request = outcome_request("more");

    (void)arg;
    chain++;
    ck_assert_int_eq(status, REDLOCK_OK);
    if (chain < 4) {
        ck_assert_int_eq(redlock_lock_detach(lock), REDLOCK_OK);
        request.key = chain == 1 ? "k1" : chain == 2 ? "k2" : "k3";
        ck_assert_int_eq(redlock_acquire(f.rl, &request, chain_on_acquired, NULL, NULL), 0);
    } else {
        ck_assert_int_eq(redlock_release(lock, chain_on_released, NULL), REDLOCK_OK);
    }
}

TEST(rule_5_calls_may_be_made_inside_callbacks)
{
    struct redlock_request request = outcome_request("k0");

    farm_start_open(&f, 3);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, chain_on_acquired, NULL, NULL), 0);
    loop_must(f.base, &closed);
    ck_assert_int_eq(chain, 6);
    f.rl = NULL;
    loop_settle(f.base);
}

static void close_when_acquired(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    (void)arg;
    chain++;
    redlock_close(f.rl, on_closed, NULL);
}

/* Closed inside the callback of a success, and of a failure. */
TEST_LOOP(rule_5_close_inside_the_callback_of_an_acquire, 0, 2)
{
    struct redlock_request request = outcome_request("k");
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3 && _i; i++) {
        rlk_model_set(fake_model(f.nodes[i]), "k", "somebody", 60000);
    }
    farm_open(&f);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, close_when_acquired, NULL, NULL), 0);
    request.key = "other";
    ck_assert_int_eq(redlock_acquire(f.rl, &request, close_when_acquired, NULL, NULL), 0);
    loop_must(f.base, &closed);
    f.rl = NULL;
    loop_settle(f.base);
    ck_assert_int_eq(chain, 2);
    ck_assert_int_eq(closed, 1);
    farm_wait_gone(&f, "other");
}

static void close_when_released(struct redlock_lock *lock, int status, void *arg)
{
    close_when_acquired(lock, status, arg);
}

TEST(rule_5_close_inside_the_callback_of_a_release)
{
    struct outcome got;

    farm_start_open(&f, 3);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(redlock_release(got.lock, close_when_released, NULL), REDLOCK_OK);
    loop_must(f.base, &closed);
    f.rl = NULL;
    loop_settle(f.base);
    ck_assert_int_eq(chain, 1);
    farm_wait_clean(&f);
}

static struct redlock_lock *second;

static void cancel_the_second(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    (void)arg;
    ck_assert_int_eq(redlock_cancel(second), REDLOCK_OK);
}

TEST(rule_5_cancel_inside_a_callback)
{
    struct redlock_request request = outcome_request("first");
    struct outcome got = {.n = 3};

    farm_start(&f, 3, FAKE_UNIX);
    farm_set(&f, 0, 3, "k", "somebody", 60000);
    farm_open(&f);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, cancel_the_second, NULL, NULL), 0);
    request.key = "k";
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, &second), 0);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ECANCELED);
}

/* A callback may stop the loop, and the base may be freed after the close. */
static void break_when_closed(void *arg)
{
    on_closed(arg);
    event_base_loopbreak(f.base);
}

TEST(rule_5_everything_is_gone_after_the_callback_of_close)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 3};

    farm_start(&f, 3, FAKE_UNIX);
    farm_open_at_once(&f);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    ck_assert_int_eq(redlock_close(f.rl, break_when_closed, NULL), REDLOCK_OK);
    f.rl = NULL;
    loop_must(f.base, &closed);
    ck_assert_int_eq(got.calls, 1);
}

/* --- rule 6: the state is final before the callback --------------------------------------- */

static uint64_t validity_inside;
static int final_calls;

static void final_acquired(struct redlock_lock *lock, int status, void *arg)
{
    int *wanted = arg;

    final_calls++;
    ck_assert_int_eq(status, *wanted);
    ck_assert_int_eq(redlock_cancel(lock), REDLOCK_ESTATE);
    validity_inside = redlock_lock_validity_ms(lock);
    ck_assert_int_eq(redlock_lock_reason(lock), status);
    if (status != REDLOCK_OK) {
        ck_assert_uint_eq(validity_inside, 0);
        ck_assert_int_eq(redlock_release(lock, NULL, NULL), REDLOCK_ESTATE);
        ck_assert_int_eq(redlock_lock_detach(lock), REDLOCK_ESTATE);
    } else {
        ck_assert_uint_gt(validity_inside, 0);
        ck_assert_int_eq(redlock_release(lock, NULL, NULL), REDLOCK_OK);
        ck_assert_uint_eq(redlock_lock_validity_ms(lock), 0);
    }
}

TEST_LOOP(rule_6_state_is_final_before_the_callback, 0, 2)
{
    struct redlock_request request = outcome_request("k");
    int wanted = _i ? REDLOCK_EHELD : REDLOCK_OK;
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3 && _i; i++) {
        rlk_model_set(fake_model(f.nodes[i]), "k", "somebody", 60000);
    }
    farm_open(&f);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, final_acquired, &wanted, NULL), 0);
    loop_must(f.base, &final_calls);
}

/* --- rule 7: callbacks come in the order in which they fell due ---------------------------- */

static char order[64];

static void note(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    strcat(order, arg);
}

static void note_closed(void *arg)
{
    strcat(order, arg);
}

TEST(rule_7_callbacks_come_in_the_order_of_decisions)
{
    static char a[] = "a", b[] = "b", c[] = "c", d[] = "d", e[] = "e";
    struct redlock_request request = outcome_request("k");
    struct redlock_lock *first;
    struct redlock_lock *third;

    farm_start_open(&f, 3);
    farm_pause(&f, 0, 3);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, note, a, &first), 0);
    request.key = "l";
    ck_assert_int_eq(redlock_acquire(f.rl, &request, note, b, NULL), 0);
    request.key = "m";
    ck_assert_int_eq(redlock_acquire(f.rl, &request, note, c, &third), 0);
    request.key = "n";
    ck_assert_int_eq(redlock_acquire(f.rl, &request, note, d, NULL), 0);
    redlock_cancel(third);
    redlock_cancel(first);
    loop_settle(f.base);
    farm_go_on(&f, 0, 3);
    farm_wait_count(&f, 0, "EVALSHA", 2);
    ck_assert_int_eq(redlock_close(f.rl, note_closed, e), REDLOCK_OK);
    f.rl = NULL;
    farm_wait_clean(&f);
    loop_settle(f.base);
    ck_assert_str_eq(order, "cabde");
}

static struct redlock_lock *cancelled_win;
static int cancelled_win_status;

/* It is won, and its result is queued after this callback. */
static void cancel_the_win(struct redlock_lock *lock, int status, void *arg)
{
    uint64_t took_us = 0;

    redlock_lock_effort(cancelled_win, NULL, &took_us);
    ck_assert_uint_gt(took_us, 0);
    ck_assert_int_eq(redlock_cancel(cancelled_win), REDLOCK_OK);
    note(lock, status, arg);
}

static void note_cancelled_win(struct redlock_lock *lock, int status, void *arg)
{
    cancelled_win_status = status;
    note(lock, status, arg);
}

TEST(rule_7_a_cancel_keeps_the_place_of_a_queued_win)
{
    static char a[] = "a", b[] = "b", c[] = "c";
    struct redlock_request request = outcome_request("k");

    farm_start_open(&f, 1);
    fake_pause(f.nodes[0]);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, cancel_the_win, a, NULL), 0);
    request.key = "l";
    ck_assert_int_eq(redlock_acquire(f.rl, &request, note_cancelled_win, b, &cancelled_win), 0);
    request.key = "m";
    ck_assert_int_eq(redlock_acquire(f.rl, &request, note, c, NULL), 0);
    loop_settle(f.base);
    fake_go_on(f.nodes[0]); /* node 0 answers all three at once */
    loop_settle(f.base);
    ck_assert_str_eq(order, "abc");
    ck_assert_int_eq(cancelled_win_status, REDLOCK_ECANCELED);
}

TEST(rule_7_close_is_the_last_to_call_back)
{
    static char a[] = "a", b[] = "b", c[] = "c";
    struct redlock_request request = outcome_request("k");

    farm_start(&f, 3, FAKE_UNIX);
    farm_open_at_once(&f);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, note, a, NULL), 0);
    ck_assert_int_eq(redlock_release_token(f.rl, &(const char *){"k"}, NULL, 1, "t", note, b), 0);
    ck_assert_int_eq(redlock_close(f.rl, note_closed, c), REDLOCK_OK);
    f.rl = NULL;
    while (strlen(order) < 3) {
        event_base_loop(f.base, EVLOOP_ONCE);
    }
    ck_assert_int_eq(order[2], 'c');
}

/* --- rule 8: inputs are copied ------------------------------------------------------------ */

TEST(rule_8_inputs_are_copied)
{
    struct outcome got = {.n = 3};
    struct redlock_request request;
    char *texts[] = {strdup("ann"), strdup("secret"), strdup("p:"), strdup("name"), strdup("key"),
                     strdup("me"),  strdup(""),       strdup(""),   strdup("")};
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        fake_model(f.nodes[i])->user = "ann";
        fake_model(f.nodes[i])->password = "secret";
        free(texts[6 + i]);
        texts[6 + i] = strdup(f.uris[i]);
        f.uris[i] = texts[6 + i];
    }
    f.options.username = texts[0];
    f.options.password = texts[1];
    f.options.key_prefix = texts[2];
    f.options.client_name = texts[3];
    farm_open_at_once(&f);
    request = outcome_request(texts[4]);
    request.owner = texts[5];
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        memset(texts[i], '!', strlen(texts[i]));
        free(texts[i]);
    }
    memset(f.uris, 0, sizeof(f.uris));
    memset(&f.options, 0, sizeof(f.options));
    memset(&request, 0xff, sizeof(request));
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_str_eq(got.token + 40, ":me");
    farm_wait_count(&f, 0, "SET p:key", 1);
    ck_assert_uint_ge(fake_count(f.nodes[0], "CLIENT SETNAME name"), 1);
}

TEST(rule_8_key_and_token_of_a_release_are_copied)
{
    struct outcome_released released = {0, 0};
    char *key = strdup("k");
    char *token;
    struct outcome got;

    farm_start_open(&f, 3);
    got = farm_acquire(&f, "k");
    token = strdup(got.token);
    redlock_lock_detach(got.lock);
    ck_assert_int_eq(redlock_release_token(f.rl, &(const char *){key}, NULL, 1, token,
                                           outcome_on_released, &released),
                     0);
    memset(key, '!', strlen(key));
    memset(token, '!', strlen(token));
    free(key);
    free(token);
    loop_must(f.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_OK);
    farm_wait_clean(&f);
}

/* --- rule 9: a forked child cannot use our manager ------------------------------------------ */

static struct outcome held;

static void count_refusal(int *n, int status)
{
    *n += status == REDLOCK_EFORK;
}

/* How many of the calls return EFORK in the child. */
static int refusals_in_child(void)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    struct redlock_node_detail detail = {.size = sizeof(detail)};
    struct redlock_request request = outcome_request("child");
    int n = 0;

    count_refusal(&n, redlock_acquire(f.rl, &request, must_not_be_called, NULL, NULL));
    count_refusal(&n, redlock_release(held.lock, must_not_be_called, NULL));
    count_refusal(&n, redlock_cancel(held.lock));
    count_refusal(&n, redlock_lock_detach(held.lock));
    count_refusal(&n, redlock_release_token(f.rl, &(const char *){"k"}, NULL, 1, "t",
                                            must_not_be_called, NULL));
    count_refusal(&n, redlock_query(f.rl, "k", 0, query_must_not_be_called, NULL));
    count_refusal(&n, redlock_get_node_info(f.rl, 0, &info));
    count_refusal(&n, redlock_lock_node(held.lock, 0, &detail));
    count_refusal(&n, redlock_close(f.rl, on_closed, NULL));
    return n;
}

static int status_of(pid_t child)
{
    int status = -1;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(rule_9_a_forked_child_is_refused_and_sends_nothing)
{
    size_t before[3];
    size_t i;
    pid_t child;

    farm_start_open(&f, 3);
    held = farm_acquire(&f, "k");
    for (i = 0; i < 3; i++) {
        farm_wait_count(&f, i, "SET", 1);
        before[i] = fake_n_commands(f.nodes[i], 0);
    }
    child = fork();
    if (child == 0) {
        _exit(refusals_in_child());
    }
    ck_assert_int_eq(status_of(child), 9);
    loop_settle(f.base);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_n_commands(f.nodes[i], 0), before[i]);
        ck_assert(fake_is_open(f.nodes[i], 0));
    }
    ck_assert_uint_eq(farm_count(&f, "k", held.token), 3);
}

/* Parent and child share the kernel's state of the loop: the child's close must not remove the
 * parent's sockets from it. */
TEST(rule_9_the_parent_goes_on_after_the_child_has_closed)
{
    struct outcome got;
    pid_t child;
    size_t i;

    farm_start_open(&f, 3);
    child = fork();
    if (child == 0) {
        _exit(redlock_close(f.rl, on_closed, NULL) == REDLOCK_EFORK ? 7 : 1);
    }
    ck_assert_int_eq(status_of(child), 7);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_n_conns(f.nodes[i]), 1);
    }
}

/* Even if the child runs the loop: the answers in our sockets are the parent's. */
static void run_loop_in_child(void)
{
    size_t i;

    event_reinit(f.base);
    for (i = 0; i < f.n; i++) {
        fake_free(f.nodes[i]); /* only the library is tested, not the child's copy of the servers */
    }
    loop_settle(f.base);
    _exit(7);
}

TEST(rule_9_a_child_that_runs_the_loop_takes_no_answer)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 3};
    pid_t child;
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        fake_on_next(f.nodes[i], 1, "SET", FAKE_STALL, NULL, 0);
    }
    farm_open(&f);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&f, i, "SET", 1);
        fake_go_on(f.nodes[i]); /* from here on the answers are in the sockets */
    }
    child = fork();
    if (child == 0) {
        run_loop_in_child();
    }
    ck_assert_int_eq(status_of(child), 7);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_n_conns(f.nodes[i]), 1);
    }
}

TEST(rule_9_a_forked_child_makes_its_own_manager)
{
    pid_t child;

    farm_start_open(&f, 1);
    child = fork();
    if (child == 0) {
        struct farm own;

        redlock_close(f.rl, NULL, NULL);
        farm_start_open(&own, 3);
        _exit(farm_acquire(&own, "k").status == REDLOCK_OK ? 7 : 1);
    }
    ck_assert_int_eq(status_of(child), 7);
}

/* Two locks are reported in one turn. The callback of the first one forks, and the child goes on.
 */
static pid_t forked;
static int reported;

static void fork_on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    (void)arg;
    if (forked == 0) {
        _exit(1); /* the second callback is the parent's */
    }
    ck_assert_int_eq(status, REDLOCK_OK);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), REDLOCK_OK);
    if (reported++ == 0 && (forked = fork()) == 0) {
        event_base_loopbreak(f.base); /* when the library has done what comes after a callback */
    }
}

TEST(rule_9_a_child_that_returns_from_a_callback_sends_nothing)
{
    struct redlock_request one = outcome_request("k1"), other = outcome_request("k2");
    size_t i;

    forked = -1;
    reported = 0;
    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        fake_on_next(f.nodes[i], 1, "SET", FAKE_STALL, NULL, 0);
    }
    farm_open(&f);
    ck_assert_int_eq(redlock_acquire(f.rl, &one, fork_on_acquired, NULL, NULL), 0);
    ck_assert_int_eq(redlock_acquire(f.rl, &other, fork_on_acquired, NULL, NULL), 0);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&f, i, "SET", 2);
        fake_go_on(f.nodes[i]);
    }
    while (reported == 0) {
        event_base_loop(f.base, EVLOOP_ONCE);
    }
    if (forked == 0) {
        _exit(7);
    }
    ck_assert_int_eq(reported, 2);
    ck_assert_int_eq(status_of(forked), 7);
    farm_wait_clean(&f);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_count(f.nodes[i], "EVALSHA"), 2);
        ck_assert_uint_eq(fake_n_conns(f.nodes[i]), 1);
    }
}
