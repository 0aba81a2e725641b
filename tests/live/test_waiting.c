/* live/test_waiting.c - waiters on real masters: whoever ends the lock, and however, the next one
 * gets it, and processes get it in turn. What is sent for that is in io/test_waiting.c. */
#include <redlock/error.h>
#include <signal.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("waiting");
FIXTURE(NULL, site_end_all);

#define MASTERS 5

/* A client of another kind. */
#define FOREIGN "somebody"

static struct site s;
static struct outcome got;

/* ---- one waiter ---- */

static void start_with(const struct master_options *options)
{
    site_start(&s, MASTERS, options);
    got = (struct outcome){.n = MASTERS};
}

static void start(void)
{
    start_with(NULL);
    site_open(&s);
}

static struct redlock_request request_to_wait(void)
{
    struct redlock_request request = outcome_request("k");

    request.wait_ms = REDLOCK_FOREVER;
    return request;
}

static void begin_to_wait(const struct redlock_request *request)
{
    ck_assert_int_eq(redlock_acquire(s.rl[1], request, outcome_on_acquired, &got, NULL), 0);
}

/* How many masters that run list so many waiters for the key. */
static size_t count_lists(const char *length)
{
    size_t i, n = 0;

    for (i = 0; i < MASTERS; i++) {
        n += strcmp(master_ask(s.masters[i], "ZCARD k:redlock-waiting"), length) == 0;
    }
    return n;
}

static bool are_listed(void *arg)
{
    return count_lists(arg) == 3;
}

static void wait_listed(const char *length)
{
    char text[8];

    strcpy(text, length);
    loop_must_true(s.base, are_listed, text);
}

static void wait_as(const struct redlock_request *request)
{
    begin_to_wait(request);
    wait_listed("1");
}

static void wait_for_k(void)
{
    struct redlock_request request = request_to_wait();

    wait_as(&request);
}

static void must_get(void)
{
    loop_must(s.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
}

static void ask_all(const char *command)
{
    size_t i;

    for (i = 0; i < MASTERS; i++) {
        master_ask(s.masters[i], command);
    }
}

/* ---- how a lock ends ---- */

static const struct {
    const char *claim;
    struct master_options options;
} kinds[] = {
    {"a_release_wakes_who_waits_on_unix_sockets", {MASTER_UNIX, NULL, NULL, NULL}},
    {"a_release_wakes_who_waits_on_tcp", {MASTER_TCP4, NULL, NULL, NULL}},
    {"a_release_wakes_who_waits_behind_a_password", {MASTER_UNIX, "geheim", NULL, NULL}},
};

TEST_ROWS(a_release_wakes_who_waits, kinds)
{
    struct outcome first;

    start_with(&kinds[_i].options);
    site_open(&s);
    first = site_acquire(&s, "k");
    wait_for_k();
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    must_get();
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
    site_wait_clean(&s);
}

static const struct {
    const char *claim, *before, *end;
} ends[] = {
    {"a_key_that_is_deleted_wakes_who_waits", "SET k " FOREIGN, "DEL k"},
    {"a_key_that_is_unlinked_wakes_who_waits", "SET k " FOREIGN, "UNLINK k"},
    {"a_key_that_is_renamed_wakes_who_waits", "SET k " FOREIGN, "RENAME k other"},
    {"a_key_that_shall_end_now_wakes_who_waits", "SET k " FOREIGN, "PEXPIRE k 1"},
    {"a_key_that_ends_in_the_past_wakes_who_waits", "SET k " FOREIGN, "PEXPIRE k -1"},
    {"a_flush_wakes_who_waits", "SET k " FOREIGN, "FLUSHALL"},
    {"a_flush_of_the_database_wakes_who_waits", "SET k " FOREIGN, "FLUSHDB"},
    {"a_key_of_another_type_is_waited_for", "RPUSH k " FOREIGN, "DEL k"},
    {"a_key_that_ends_by_itself_wakes_who_waits", "SET k " FOREIGN " PX 500", "PING"},
    {"a_foreign_client_that_releases_wakes_who_waits", "SET k " FOREIGN,
     "EVAL return((redis.call('GET','k')=='" FOREIGN "')and(redis.call('DEL','k'))) 0"},
};

TEST_ROWS(an_end_without_our_scripts, ends)
{
    start();
    ask_all(ends[_i].before);
    wait_for_k();
    ask_all(ends[_i].end);
    must_get();
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
}

/* Everything that may be evicted is: the key and the list. */
TEST(an_eviction_wakes_who_waits)
{
    start();
    ask_all("SET k " FOREIGN);
    wait_for_k();
    ask_all("CONFIG SET maxmemory-policy allkeys-random");
    ask_all("CONFIG SET maxmemory 1");
    ask_all("SET other 1");
    ask_all("CONFIG SET maxmemory 0");
    must_get();
}

/* ---- masters that fail ---- */

static const struct {
    const char *claim;
    unsigned stopped; /* masters, as bits: before the waiter asks, or while it is listed */
    bool before;
} failures[] = {
    {"master_0_is_stopped_while_it_waits", 0x01, false},
    {"master_1_is_stopped_while_it_waits", 0x02, false},
    {"master_2_is_stopped_while_it_waits", 0x04, false},
    {"master_3_is_stopped_while_it_waits", 0x08, false},
    {"masters_1_and_2_are_stopped_while_it_waits", 0x06, false},
    {"masters_0_and_3_are_stopped_while_it_waits", 0x09, false},
    {"master_1_is_stopped_before_it_waits", 0x02, true},
    {"masters_1_and_2_are_stopped_before_it_waits", 0x06, true},
};

static void for_stopped(unsigned masters, void (*what)(struct master *))
{
    size_t i;

    for (i = 0; i < MASTERS; i++) {
        if (masters & 1u << i) {
            what(s.masters[i]);
        }
    }
}

/* A round that two masters refuse because it overtakes the release there, and two grant, waits for
 * the one that is stopped. */
#define STOPPED_MS 2000u

/* The masters 1, 2 and 3 are the hosts of the key. */
TEST_ROWS(masters_are_stopped, failures)
{
    struct redlock_request request = request_to_wait();
    struct outcome first;

    start_with(NULL);
    s.options.node_timeout_ms = STOPPED_MS;
    site_open(&s);
    first = site_acquire(&s, "k");
    if (failures[_i].before) {
        for_stopped(failures[_i].stopped, master_stop);
        begin_to_wait(&request);
        loop_settle(s.base);
    } else {
        wait_as(&request);
        for_stopped(failures[_i].stopped, master_stop);
    }
    ck_assert_int_eq(redlock_release(first.lock, NULL, NULL), REDLOCK_OK);
    must_get();
    for_stopped(failures[_i].stopped, master_continue);
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
}

/* It has lost the key and the list; the others have not. */
TEST_LOOP(a_master_is_restarted_while_somebody_waits, 0, MASTERS)
{
    struct outcome first;

    start();
    first = site_acquire(&s, "k");
    wait_for_k();
    master_restart(s.masters[_i]);
    loop_settle(s.base);
    ck_assert_int_eq(got.calls, 0);
    ck_assert_int_eq(redlock_release(first.lock, NULL, NULL), REDLOCK_OK);
    must_get();
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
}

/* ---- rights ---- */

static const struct {
    const char *claim, *rights;
    bool lists;
} users[] = {
    {"a_user_that_must_not_subscribe_polls", "~* +@all allchannels -subscribe", false},
    {"a_user_without_channels_polls", "~* +@all resetchannels", false},
    {"a_user_that_must_not_publish_is_told_of_changes", "~* +@all allchannels -publish", true},
    {"a_user_that_must_not_track_is_woken", "~* +@all allchannels -client|tracking", true},
    {"a_user_without_sorted_sets_polls", "~* +@all allchannels -@sortedset", false},
};

TEST_ROWS(a_user_without_a_right, users)
{
    struct redlock_request request = request_to_wait();
    struct outcome first;

    start_with(NULL);
    if (!site_user(&s, users[_i].rights)) {
        site_end(&s);
        return;
    }
    site_open(&s);
    first = site_must_acquire(&s, "k");
    request.retry_max_ms = 10;
    if (users[_i].lists) {
        wait_as(&request);
    } else {
        begin_to_wait(&request);
        loop_settle(s.base);
    }
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    must_get();
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
}

/* ---- kinds of locks ---- */

TEST(a_fenced_waiter_gets_a_greater_fence)
{
    struct redlock_request request = outcome_fenced_request("k");
    struct outcome first;
    uint64_t fence;

    start();
    first = site_acquire_with(&s, 0, &request);
    fence = redlock_lock_fencing_token(first.lock);
    request.wait_ms = REDLOCK_FOREVER;
    wait_as(&request);
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    must_get();
    ck_assert_uint_gt(redlock_lock_fencing_token(got.lock), fence);
}

/* {a, k} is held. {k, b} and {a} wait for a part of it each. */
TEST(sets_that_overlap_wait_for_each_other)
{
    const char *const held[] = {"a", "k"}, *const wanted[] = {"k", "b"};
    struct redlock_request one = outcome_request(NULL), two = outcome_request(NULL);
    struct redlock_request three = outcome_request("a");
    struct outcome first, third = {.n = MASTERS};

    start();
    one.keys = held;
    two.keys = wanted;
    one.n_keys = two.n_keys = 2;
    two.wait_ms = three.wait_ms = REDLOCK_FOREVER;
    first = site_acquire_with(&s, 0, &one);
    ck_assert_int_eq(first.status, REDLOCK_OK);
    wait_as(&two);
    ck_assert_int_eq(redlock_acquire(s.rl[1], &three, outcome_on_acquired, &third, NULL), 0);
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    must_get();
    loop_must(s.base, &third.calls);
    ck_assert_int_eq(third.status, REDLOCK_OK);
}

/* Three masters have the key and its list. */
static bool have_lists(void *arg)
{
    size_t i, n = 0;

    (void)arg;
    for (i = 0; i < MASTERS; i++) {
        n += strcmp(master_ask(s.masters[i], "DBSIZE"), "2") == 0;
    }
    return n == 3;
}

/* Of the greatest length, and every byte is in it. */
TEST(a_key_may_contain_any_byte)
{
    struct redlock_request request = request_to_wait();
    char key[REDLOCK_MAX_KEY];
    struct outcome first;
    size_t i;

    for (i = 0; i < sizeof(key); i++) {
        key[i] = (char)i;
    }
    start();
    request.key = key;
    request.key_len = sizeof(key);
    first = site_acquire_with(&s, 0, &request);
    begin_to_wait(&request);
    loop_must_true(s.base, have_lists, NULL);
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    must_get();
    ck_assert_int_eq(site_release(&s, got.lock), REDLOCK_OK);
}

/* ---- processes ---- */

#define CLIENTS 4

/* What the processes write, in memory that they share: who got the lock, in this order. */
struct turns {
    atomic_uint n;
    int client[CLIENTS];
};

static struct turns *turns;
static pid_t pids[CLIENTS];

static void run_client(int number)
{
    struct redlock_request request = request_to_wait();
    struct event_base *base = event_base_new();
    struct redlock *rl = NULL;
    struct outcome mine;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (redlock_new(base, &s.options, &rl) != REDLOCK_OK) {
        _exit(1);
    }
    mine = outcome_of_acquire(base, rl, MASTERS, &request);
    if (mine.status != REDLOCK_OK) {
        _exit(2);
    }
    turns->client[atomic_load(&turns->n)] = number;
    atomic_fetch_add(&turns->n, 1);
    _exit(outcome_of_release(base, mine.lock) != REDLOCK_OK);
}

/* So many are in the lists; or one need not wait any more. */
static bool are_listed_or_served(void *arg)
{
    return are_listed(arg) || atomic_load(&turns->n) > 0;
}

/* Start them one after the other: so they wait in this order. */
static void start_clients(int n)
{
    char listed[8];
    int i;

    turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(turns, MAP_FAILED);
    for (i = 0; i < n; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        if (pids[i] == 0) {
            run_client(i);
        }
        snprintf(listed, sizeof(listed), "%d", i + 1);
        loop_must_true(s.base, are_listed_or_served, listed);
    }
}

static bool have_had_turns(void *arg)
{
    return atomic_load(&turns->n) >= *(const unsigned *)arg;
}

static void wait_for_turns(unsigned n)
{
    loop_must_true(s.base, have_had_turns, &n);
}

static void must_end_well(int client)
{
    int status;

    ck_assert_int_eq(waitpid(pids[client], &status, 0), pids[client]);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "client %d: %x", client, status);
}

static struct outcome hold_and_start(int n)
{
    struct outcome first;

    start();
    first = site_must_acquire(&s, "k");
    start_clients(n);
    return first;
}

static bool come_in_order(void)
{
    struct outcome first = hold_and_start(CLIENTS);
    bool in_order = true;
    int i;

    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    wait_for_turns(CLIENTS);
    for (i = 0; i < CLIENTS; i++) {
        in_order = in_order && turns->client[i] == i;
        must_end_well(i);
    }
    site_end(&s);
    return in_order;
}

/* A process that does not run for some ms misses its turn. */
TEST(processes_get_the_lock_in_the_order_in_which_they_came)
{
    int tries = 1;

    while (!come_in_order()) {
        ck_assert_int_lt(tries++, 5);
    }
}

TEST(a_waiter_that_was_killed_delays_nobody)
{
    struct outcome first = hold_and_start(2);

    ck_assert_int_eq(kill(pids[0], SIGKILL), 0);
    ck_assert_int_eq(waitpid(pids[0], NULL, 0), pids[0]);
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    wait_for_turns(1);
    ck_assert_int_eq(turns->client[0], 1);
    must_end_well(1);
}

/* It is woken, and does not come. */
TEST(a_waiter_that_is_stopped_does_not_keep_its_turn)
{
    struct outcome first = hold_and_start(2);

    ck_assert_int_eq(kill(pids[0], SIGSTOP), 0);
    ck_assert_int_eq(site_release(&s, first.lock), REDLOCK_OK);
    wait_for_turns(1);
    ck_assert_int_eq(turns->client[0], 1);
    must_end_well(1);
    ck_assert_int_eq(kill(pids[0], SIGCONT), 0);
    wait_for_turns(2);
    must_end_well(0);
}

/* Nobody releases it. */
TEST(the_lock_of_a_holder_that_was_killed_goes_to_the_next_when_it_ends)
{
    struct redlock_request request = outcome_request("k");
    struct outcome first;

    start();
    request.ttl_ms = 2000;
    first = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(first.status, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_detach(first.lock), REDLOCK_OK);
    start_clients(1);
    wait_for_turns(1);
    must_end_well(0);
}
