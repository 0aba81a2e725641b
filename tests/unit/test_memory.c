/* test_memory.c - without memory an acquire is rejected, or its failure is reported; it is never
 * forgotten.
 *
 * White box: allocations are made to fail, by the hook, and by torture (lib/torture.h), which runs
 * this file too. The masters are sockets that do not exist. */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "lib/fake.h"
#include "lib/loop.h"
#include "lib/test.h"

SUITE("memory");

static const char *const nodes[] = {"unix:///nonexistent/a", "unix:///nonexistent/b",
                                    "unix:///nonexistent/c"};

static int allow_nothing(size_t size)
{
    (void)size;
    return 0;
}

struct result {
    int calls, status;
};

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct result *result = arg;

    (void)lock;
    result->calls++;
    result->status = status;
}

static void on_closed(void *arg)
{
    *(int *)arg = 1;
}

static struct redlock_options options(void)
{
    struct redlock_options o;

    redlock_options_init(&o);
    o.nodes = nodes;
    o.n_nodes = 3;
    o.node_timeout_ms = o.connect_timeout_ms = 60000; /* a busy machine must not fail this */
    return o;
}

static void close_it(struct event_base *base, struct redlock *rl)
{
    int closed = 0;

    ck_assert_int_eq(redlock_close(rl, on_closed, &closed), 0);
    loop_must(base, &closed);
}

/* Every later round needs a new claim, and cannot begin without one. No allocation succeeds: if one
 * failed, it could be that of a connection that is made again. */
TEST(a_retry_without_memory_fails_with_enomem)
{
    struct event_base *base = event_base_new();
    struct redlock_options o = options();
    struct redlock_request request;
    struct result result = {0, 0};
    struct redlock *rl;

    ck_assert_int_eq(redlock_new(base, &o, &rl), 0);
    redlock_request_init(&request);
    request.key = "k";
    request.wait_ms = REDLOCK_FOREVER;
    request.max_retries = 1;
    ck_assert_int_eq(redlock_acquire(rl, &request, on_acquired, &result, NULL), 0);
    rlk_alloc_hook(allow_nothing);
    loop_must(base, &result.calls);
    rlk_alloc_hook(NULL);
    ck_assert_int_eq(result.status, REDLOCK_ENOMEM);
    close_it(base, rl);
    ck_assert_int_eq(result.calls, 1);
    event_base_free(base);
}

/* Torture makes each allocation fail here. It checks that a failure is REDLOCK_ENOMEM, writes
 * nothing and leaks nothing. */
TEST(a_manager_is_made_and_closed)
{
    struct event_base *base = event_base_new();
    struct redlock_options o = options();
    struct redlock *rl = NULL;

    ck_assert_int_eq(redlock_new(base, &o, &rl), 0);
    close_it(base, rl);
    event_base_free(base);
}

TEST(an_acquire_without_masters_fails_with_enoquorum)
{
    struct event_base *base = event_base_new();
    struct redlock_options o = options();
    struct redlock_request request;
    struct result result = {0, 0};
    struct redlock *rl;

    ck_assert_int_eq(redlock_new(base, &o, &rl), 0);
    redlock_request_init(&request);
    request.key = "k";
    ck_assert_int_eq(redlock_acquire(rl, &request, on_acquired, &result, NULL), 0);
    loop_must(base, &result.calls);
    ck_assert_int_eq(result.status, REDLOCK_ENOQUORUM);
    close_it(base, rl);
    ck_assert_int_eq(result.calls, 1);
    event_base_free(base);
}

static struct redlock *open_on(struct event_base *base, struct fake *const *masters)
{
    const char *uris[3];
    struct redlock_options o = options();
    struct redlock_request request;
    struct result result = {0, 0};
    struct redlock *rl;
    int i;

    for (i = 0; i < 3; i++) {
        uris[i] = fake_uri(masters[i]);
    }
    o.nodes = uris;
    o.quarantine = REDLOCK_QUARANTINE_LENIENT;
    ck_assert_int_eq(redlock_new(base, &o, &rl), 0);
    redlock_request_init(&request);
    request.key = "another";
    ck_assert_int_eq(redlock_acquire(rl, &request, on_acquired, &result, NULL), 0);
    loop_must(base, &result.calls);
    ck_assert_int_eq(result.status, REDLOCK_OK);
    return rl;
}

/* With masters that could be connected, so that there is something to wait for. */
TEST(a_retry_that_cannot_be_sent_fails_with_enomem)
{
    struct event_base *base = event_base_new();
    struct fake *masters[3];
    struct redlock_request request;
    struct result result = {0, 0};
    struct redlock *rl;
    int i;

    for (i = 0; i < 3; i++) {
        masters[i] = fake_new(base, FAKE_UNIX);
        rlk_model_set(fake_model(masters[i]), "k", "somebody", 0);
    }
    rl = open_on(base, masters);
    redlock_request_init(&request);
    request.key = "k";
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(rl, &request, on_acquired, &result, NULL), 0);
    rlk_alloc_hook(allow_nothing);
    loop_must(base, &result.calls);
    rlk_alloc_hook(NULL);
    ck_assert_int_eq(result.status, REDLOCK_ENOMEM);
    close_it(base, rl);
    ck_assert_int_eq(result.calls, 1);
    for (i = 0; i < 3; i++) {
        fake_free(masters[i]);
    }
    event_base_free(base);
}
