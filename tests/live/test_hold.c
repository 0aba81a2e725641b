/* live/test_hold.c - acquire, hold and release on five real masters, in competition with our own
 * clients and other Redlock clients. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("hold");
FIXTURE(NULL, site_end_all);

static struct site s;

TEST(acquire_hold_release)
{
    struct outcome got;
    size_t i;

    site_start_open(&s, 5);
    got = site_must_acquire(&s, "k");
    ck_assert_uint_eq(got.tries, 1);
    ck_assert_uint_gt(got.validity_ms, 0);
    ck_assert_uint_le(got.validity_ms, OUTCOME_TTL_MS - OUTCOME_TTL_MS / 100 - 2);
    for (i = 0; i < 5; i++) {
        site_wait_answer(&s, i, got.token, "GET k");
        ck_assert_int_gt(atoi(master_ask(s.masters[i], "PTTL k")), 0);
    }
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

/* Acquire a lock that ends soon. On a busy machine a round may take too long for that. */
static struct outcome acquire_shortly(void)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    request.ttl_ms = 1000;
    do {
        got = site_acquire_with(&s, 0, &request);
    } while (got.status == REDLOCK_ETOOSLOW);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    return got;
}

static bool validity_has_fallen(void *arg)
{
    const struct outcome *got = arg;

    return redlock_lock_validity_ms(got->lock) < got->validity_ms;
}

static bool validity_is_over(void *arg)
{
    const struct outcome *got = arg;

    return redlock_lock_validity_ms(got->lock) == 0;
}

TEST(validity_falls_and_ends_before_the_keys_do)
{
    struct outcome got;

    site_start_open(&s, 5);
    got = acquire_shortly();
    loop_must_true(s.base, validity_has_fallen, &got);
    loop_must_true(s.base, validity_is_over, &got);
    site_wait_clean(&s);
    ck_assert_uint_eq(redlock_lock_validity_ms(got.lock), 0);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_GONE);
}

TEST(validity_is_zero_from_the_release_on)
{
    struct outcome got;

    site_start_open(&s, 3);
    got = site_acquire(&s, "k");
    ck_assert_int_eq(redlock_release(got.lock, NULL, NULL), REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_validity_ms(got.lock), 0);
    site_wait_clean(&s);
}

TEST(second_contender_is_refused_and_gets_the_holder)
{
    struct redlock_request request = outcome_request("k");
    struct outcome first;
    struct outcome second;
    int named = 0;
    size_t i;

    site_start(&s, 5, NULL);
    if (!master_names_holders(s.masters[0])) {
        rlk_test_skip("the server has no SET with NX and GET");
        site_end(&s);
        return;
    }
    site_open(&s);
    request.owner = "the first";
    first = site_acquire_with(&s, 0, &request);
    second = site_acquire_with(&s, 1, &request);
    ck_assert_int_eq(second.status, REDLOCK_EHELD);
    for (i = 0; i < 5; i++) {
        if (second.votes[i].vote == REDLOCK_VOTE_NO) {
            ck_assert_str_eq(second.votes[i].holder, first.token);
            named++;
        }
    }
    ck_assert_int_ge(named, 3);
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

TEST(waiting_contender_gets_it_after_the_release)
{
    struct redlock_request request = outcome_request("k");
    struct outcome second = {.n = 5};
    struct outcome first;
    int no = 0;

    site_start_open(&s, 5);
    first = site_acquire(&s, "k");
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 10;
    ck_assert_int_eq(redlock_acquire(s.rl[1], &request, outcome_on_acquired, &second, NULL), 0);
    ck_assert(!loop_until(s.base, &no, 50));
    ck_assert_int_eq(second.calls, 0);
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    loop_must(s.base, &second.calls);
    ck_assert_int_eq(second.status, REDLOCK_OK);
    ck_assert_str_ne(second.token, first.token);
    ck_assert_int_eq(site_release(&s, second.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

TEST(ttl_lets_the_next_one_in)
{
    struct redlock_request request = outcome_request("k");
    struct outcome first;
    struct outcome second;

    site_start_open(&s, 5);
    first = acquire_shortly();
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 10;
    second = site_acquire_with(&s, 1, &request);
    ck_assert_int_eq(second.status, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_validity_ms(first.lock), 0);
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_TAKEN);
    ck_assert_uint_gt(redlock_lock_validity_ms(second.lock), 0);
    ck_assert_int_eq(site_release(&s, second.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

TEST(release_of_what_was_deleted_is_gone)
{
    struct outcome got;
    size_t i;

    site_start_open(&s, 5);
    got = site_acquire(&s, "k");
    for (i = 0; i < 5; i++) {
        site_wait_answer(&s, i, got.token, "GET k");
        ck_assert_str_eq(master_ask(s.masters[i], "DEL k"), "1");
    }
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_GONE);
}

TEST(release_of_what_was_stolen_is_taken_and_touches_nothing)
{
    struct outcome got;
    size_t i;

    site_start_open(&s, 5);
    got = site_acquire(&s, "k");
    for (i = 0; i < 5; i++) {
        site_wait_answer(&s, i, got.token, "GET k");
        master_ask(s.masters[i], "SET k thief PX 60000");
    }
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_TAKEN);
    for (i = 0; i < 5; i++) {
        ck_assert_str_eq(master_ask(s.masters[i], "GET k"), "thief");
    }
}

TEST(token_releases_from_anywhere)
{
    struct outcome_released released = {0, 0};
    struct outcome got;
    size_t i;

    site_start_open(&s, 5);
    got = site_acquire(&s, "k");
    for (i = 0; i < 5; i++) { /* a key that arrives after the release would stay */
        site_wait_answer(&s, i, got.token, "GET k");
    }
    ck_assert_int_eq(redlock_lock_detach(got.lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_release_token(s.rl[1], &(const char *){"k"}, NULL, 1, got.token,
                                           outcome_on_released, &released),
                     0);
    loop_must(s.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_OK);
    site_wait_clean(&s);
    released.calls = 0;
    ck_assert_int_eq(redlock_release_token(s.rl[1], &(const char *){"k"}, NULL, 1, got.token,
                                           outcome_on_released, &released),
                     0);
    loop_must(s.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_GONE);
}

TEST(forgotten_lock_stays_for_its_ttl)
{
    struct outcome got;
    size_t i;

    site_start_open(&s, 5);
    got = site_acquire(&s, "k");
    for (i = 0; i < 5; i++) {
        site_wait_answer(&s, i, got.token, "GET k");
    }
    ck_assert_int_eq(redlock_lock_detach(got.lock), REDLOCK_OK);
    watch_close(s.base, s.rl[0]);
    s.rl[0] = NULL;
    for (i = 0; i < 5; i++) {
        ck_assert_str_eq(master_ask(s.masters[i], "GET k"), got.token);
    }
}

TEST(close_releases_what_is_held)
{
    site_start_open(&s, 5);
    site_must_acquire(&s, "one");
    site_must_acquire(&s, "two");
    watch_close(s.base, s.rl[0]);
    s.rl[0] = NULL;
    site_wait_clean(&s);
}

/* A key that another Redlock client has set, with whatever value, is a lock. */
/* More than a server reads at once: a close that ended as soon as a majority has answered would
 * leave keys on the others. */
TEST(close_releases_two_thousand_locks_on_every_master)
{
    enum {
        N = 2000
    };
    static struct outcome got[N];
    struct redlock_request request;
    char key[16];
    int i;

    site_start_open(&s, 5);
    for (i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        request = outcome_request(key);
        request.ttl_ms = 300000;
        got[i].n = 5;
        ck_assert_int_eq(redlock_acquire(s.rl[0], &request, outcome_on_acquired, &got[i], NULL), 0);
    }
    for (i = 0; i < N; i++) {
        loop_must(s.base, &got[i].calls);
        ck_assert_int_eq(got[i].status, REDLOCK_OK);
    }
    suspend_freeze(); /* no time passes, so a slow minority is not given up */
    watch_close(s.base, s.rl[0]);
    suspend_unfreeze();
    s.rl[0] = NULL;
    site_wait_clean(&s);
}

TEST(key_of_another_client_excludes_us)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;
    bool names;
    size_t i;

    site_start_open(&s, 5);
    names = master_names_holders(s.masters[0]);
    for (i = 0; i < 3; i++) {
        ck_assert_str_eq(master_ask(s.masters[i], "SET k foreign NX PX 60000"), "OK");
    }
    got = site_acquire(&s, "k");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_str_eq(got.votes[0].holder, names ? "foreign" : "");
    site_wait_answer(&s, 3, "0", "DBSIZE");
    site_wait_answer(&s, 4, "0", "DBSIZE");
    for (i = 0; i < 3; i++) {
        ck_assert_str_eq(master_ask(s.masters[i], "DEL k"), "1");
    }
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(site_acquire_with(&s, 0, &request).status, REDLOCK_OK);
}

TEST(our_key_excludes_another_client)
{
    struct outcome got;
    size_t i;

    site_start_open(&s, 5);
    got = site_acquire(&s, "k");
    for (i = 0; i < 5; i++) {
        site_wait_answer(&s, i, got.token, "GET k");
        ck_assert_str_eq(master_ask(s.masters[i], "SET k foreign NX PX 60000"), "(nil)");
    }
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
    ck_assert_str_eq(master_ask(s.masters[0], "SET k foreign NX PX 60000"), "OK");
}

/* A list of that name also excludes us. */
TEST(key_of_another_type_is_held_by_somebody)
{
    size_t i;

    site_start_open(&s, 3);
    for (i = 0; i < 3; i++) {
        ck_assert_str_eq(master_ask(s.masters[i], "RPUSH k x"), "1");
    }
    ck_assert_int_eq(site_acquire(&s, "k").status, REDLOCK_EHELD);
    ck_assert_str_eq(master_ask(s.masters[0], "TYPE k"), "list");
}

static struct redlock_query_result asked;
static char asked_token[256];
static char asked_owner[256];
static int n_asked;

static void on_queried(const struct redlock_query_result *result, int status, void *arg)
{
    (void)arg;
    ck_assert_int_eq(status, REDLOCK_OK);
    asked = *result;
    strncpy(asked_token, result->token, sizeof(asked_token) - 1);
    strncpy(asked_owner, result->owner, sizeof(asked_owner) - 1);
    n_asked++;
}

TEST(query_names_the_holder)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    site_start_open(&s, 5);
    request.owner = "night run";
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(redlock_query(s.rl[1], "k", 0, on_queried, NULL), REDLOCK_OK);
    loop_must(s.base, &n_asked);
    ck_assert_int_eq(asked.held, 1);
    ck_assert_str_eq(asked_token, got.token);
    ck_assert_str_eq(asked_owner, "night run");
    ck_assert_uint_gt(asked.ttl_ms, 0);
    ck_assert_uint_le(asked.ttl_ms, OUTCOME_TTL_MS);
    site_release(&s, got.lock);
    site_wait_clean(&s);
    n_asked = 0;
    ck_assert_int_eq(redlock_query(s.rl[1], "k", 0, on_queried, NULL), REDLOCK_OK);
    loop_must(s.base, &n_asked);
    ck_assert_int_eq(asked.held, 0);
}

/* Redis handles binary keys and databases; they only have to be passed unchanged. */
TEST(binary_key_is_one_key)
{
    static const char key[] = "a\0b";
    struct redlock_request request = outcome_request(key);
    struct outcome got;

    site_start_open(&s, 3);
    request.key_len = 3;
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    site_wait_answer(&s, 0, "1", "DBSIZE");
    ck_assert_str_eq(master_ask(s.masters[0], "GET %b", key, (size_t)3), got.token);
    site_must_acquire(&s, "a");
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
}

#define CONTENDERS 12

static struct outcome contenders[CONTENDERS];
static int holders;
static int most_holders;
static int finished;

static void on_contender_released(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    ck_assert_int_eq(status, REDLOCK_OK);
    finished++;
}

static void on_contender(struct redlock_lock *lock, int status, void *arg)
{
    ck_assert_int_eq(status, REDLOCK_OK);
    holders++;
    most_holders = holders > most_holders ? holders : most_holders;
    ck_assert_uint_gt(redlock_lock_validity_ms(lock), 0);
    holders--;
    ck_assert_int_eq(redlock_release(lock, on_contender_released, arg), REDLOCK_OK);
}

static bool all_finished(void *arg)
{
    (void)arg;
    return finished == CONTENDERS;
}

TEST(many_contenders_get_it_one_by_one)
{
    struct redlock_request request = outcome_request("k");
    int i;

    site_start_open(&s, 5);
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 20;
    for (i = 0; i < CONTENDERS; i++) {
        ck_assert_int_eq(redlock_acquire(s.rl[i % 2], &request, on_contender, &contenders[i], NULL),
                         0);
    }
    loop_must_true(s.base, all_finished, NULL);
    ck_assert_int_eq(most_holders, 1);
    site_wait_clean(&s);
}

/* --- rule 2: several managers in several threads ------------------------------------------- */

#define THREADS 4
#define ROUNDS 25

/* Only the holder of the lock changes it: no atomics, no mutex. */
static int shared_counter;

struct worker {
    pthread_t thread;
    struct event_base *base;
    struct redlock *rl;
    int rounds;
    int failed;
    int closed;
};

static void begin_round(struct worker *w);

static void on_worker_closed(void *arg)
{
    struct worker *w = arg;

    w->closed = 1;
}

static void on_worker_released(struct redlock_lock *lock, int status, void *arg)
{
    struct worker *w = arg;

    (void)lock;
    w->failed += status != REDLOCK_OK;
    if (++w->rounds < ROUNDS) {
        begin_round(w);
    } else {
        w->failed += redlock_close(w->rl, on_worker_closed, w) != REDLOCK_OK;
    }
}

static void on_worker_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct worker *w = arg;

    if (status == REDLOCK_OK) {
        int seen = __atomic_load_n(&shared_counter, __ATOMIC_RELAXED);

        __atomic_store_n(&shared_counter, seen + 1, __ATOMIC_RELAXED);
        w->failed += redlock_release(lock, on_worker_released, w) != REDLOCK_OK;
    } else {
        w->failed++;
        redlock_close(w->rl, on_worker_closed, w);
    }
}

static void begin_round(struct worker *w)
{
    struct redlock_request request;

    redlock_request_init(&request);
    request.key = "k";
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 5;
    w->failed += redlock_acquire(w->rl, &request, on_worker_acquired, w, NULL) != REDLOCK_OK;
}

static void *work(void *arg)
{
    struct worker *w = arg;

    w->base = event_base_new();
    w->failed += redlock_new(w->base, &s.options, &w->rl) != REDLOCK_OK;
    begin_round(w);
    event_base_dispatch(w->base);
    event_base_free(w->base);
    return NULL;
}

TEST(rule_2_managers_live_in_several_threads)
{
    struct worker workers[THREADS];
    int i;

    site_start(&s, 3, NULL);
    memset(workers, 0, sizeof(workers));
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        ck_assert_int_eq(workers[i].failed, 0);
        ck_assert_int_eq(workers[i].closed, 1);
    }
    ck_assert_int_eq(shared_counter, THREADS * ROUNDS);
}
