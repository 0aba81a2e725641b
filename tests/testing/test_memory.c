/* testing/test_memory.c - when out of memory, masters cannot be made, or end a connection; they
 * never end the program.
 *
 * In each run one allocation fails, of this library, of libevent or of Lua; in the next run a later
 * one, until there is none left. */
#include <event2/event.h>
#include <lauxlib.h>
#include <lua.h>
#include <redlock/redlock.h>
#include <redlock/testing.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/loop.h"
#include "lib/test.h"

SUITE("testing-memory");
TIME_LIMIT(300);

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
/* Visible, because the sanitizers' libraries call these functions, too. */
#pragma GCC visibility push(default)
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
lua_State *__wrap_luaL_newstate(void);
#pragma GCC visibility pop

/* How many allocations succeed before one fails; below 0: none fails. */
static atomic_int left = -1;
static atomic_bool has_failed;

/* Whether this thread's allocations never fail. */
static _Thread_local bool is_spared;

static bool fails(void)
{
    if (is_spared || atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) > 0) {
        return false;
    }
    atomic_store(&has_failed, true);
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

/* Lua requires that shrinking a block succeeds. */
static void *allocate_for_lua(void *arg, void *old, size_t old_size, size_t size)
{
    (void)arg;
    if (size == 0) {
        free(old);
        return NULL;
    }
    return size > old_size && fails() ? NULL : __real_realloc(old, size);
}

lua_State *__wrap_luaL_newstate(void)
{
    return lua_newstate(allocate_for_lua, NULL);
}

static void *allocate_for_events(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

static void *reallocate_for_events(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

static void set_up(void)
{
    event_set_mem_functions(allocate_for_events, reallocate_for_events, free);
}

FIXTURE(set_up, NULL);

/* Let the n-th allocation from now on fail. */
static void fail_at(int n)
{
    atomic_store(&has_failed, false);
    atomic_store(&left, n);
}

static bool one_failed(void)
{
    atomic_store(&left, -1);
    return atomic_load(&has_failed);
}

TEST(masters_are_made_whole_or_not_at_all)
{
    struct redlock_testing *masters = NULL;
    int n, status;

    for (n = 0;; n++) {
        masters = NULL;
        fail_at(n);
        status = redlock_testing_new(2, &masters);
        if (!one_failed()) {
            break;
        }
        if (status == 0) {
            /* libevent went on without the memory. */
            redlock_testing_free(masters);
            continue;
        }
        ck_assert(status == REDLOCK_ENOMEM || status == REDLOCK_ESYSTEM);
        ck_assert_ptr_null(masters);
        ck_assert_str_ne(redlock_testing_error_text(), "");
    }
    ck_assert_int_gt(n, 5);
    ck_assert_int_eq(status, 0);
    redlock_testing_free(masters);
}

TEST(a_call_without_memory_says_so)
{
    struct redlock_testing *masters;
    int n, status, refused = 0;

    ck_assert_int_eq(redlock_testing_new(3, &masters), 0);
    for (n = 0;; n++) {
        fail_at(n);
        status = redlock_testing_hold(masters, "k", "me", 0);
        if (!one_failed()) {
            break;
        }
        ck_assert_int_eq(status, REDLOCK_ENOMEM);
        refused++;
    }
    ck_assert_int_eq(refused, 9);
    ck_assert_int_eq(redlock_testing_count(masters, REDLOCK_TESTING_HELD, "k"), 1);
    for (n = 0;; n++) {
        ck_assert_int_eq(redlock_testing_set_state(masters, 0, REDLOCK_TESTING_DOWN), 0);
        fail_at(n);
        status = redlock_testing_set_state(masters, 0, REDLOCK_TESTING_UP);
        if (!one_failed()) {
            break;
        }
        ck_assert(status == 0 || status == REDLOCK_ENOMEM);
    }
    ck_assert_int_eq(status, 0);
    redlock_testing_free(masters);
}

/* ---- a client of masters without memory ---- */

struct life {
    struct redlock_lock *lock;
    int acquired, status, released, closed;
};

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct life *life = arg;

    life->lock = lock;
    life->status = status;
    life->acquired = 1;
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    ((struct life *)arg)->released = 1;
}

static void on_closed(void *arg)
{
    ((struct life *)arg)->closed = 1;
}

/* The lock is granted in the end: a master that ended a connection accepts a new one. */
static void lock_once(struct event_base *base, struct redlock_testing *masters)
{
    struct redlock_options options;
    struct redlock_request request;
    struct life life = {0};
    struct redlock *rl;

    redlock_options_init(&options);
    options.nodes = redlock_testing_nodes(masters);
    options.n_nodes = redlock_testing_node_count(masters);
    options.node_timeout_ms = 2000;
    options.audit_entries = 10;
    ck_assert_int_eq(redlock_new(base, &options, &rl), 0);
    redlock_request_init(&request);
    request.key = "k";
    request.fencing = 1;
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(rl, &request, on_acquired, &life, NULL), 0);
    loop_must(base, &life.acquired);
    ck_assert_int_eq(life.status, REDLOCK_OK);
    ck_assert_int_eq(redlock_release(life.lock, on_released, &life), 0);
    loop_must(base, &life.released);
    ck_assert_int_eq(redlock_close(rl, on_closed, &life), 0);
    loop_must(base, &life.closed);
}

/* Allocations of the client's thread do not fail. */
TEST(a_command_without_memory_ends_its_connection)
{
    struct event_base *base;
    struct redlock_testing *masters;
    int n, failed = 1, failures = 0;

    is_spared = true;
    base = event_base_new();
    for (n = 0; failed; n += 1 + n / 16) {
        ck_assert_int_eq(redlock_testing_new(1, &masters), 0);
        fail_at(n);
        lock_once(base, masters);
        failed = one_failed();
        failures += failed;
        redlock_testing_free(masters);
    }
    ck_assert_int_gt(failures, 30);
    event_base_free(base);
}
