/* Without memory an acquire is refused or told, and never forgotten. White box: allocations are
 * made to fail; the masters are sockets that do not exist. (Every allocation failing in turn, in
 * every scenario, is for the torture suite to come.) */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "lib/loop.h"
#include "lib/runner.h"

static const char *const nodes[] = {"unix:///nonexistent/a", "unix:///nonexistent/b",
                                    "unix:///nonexistent/c"};

static long allowed; /* how many allocations still succeed; below 0: all */

static int allow(size_t size)
{
    (void)size;
    return allowed < 0 || allowed-- > 0;
}

struct told {
    int calls, status;
};

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct told *told = arg;

    (void)lock;
    allowed = -1;
    told->calls++;
    told->status = status;
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
    return o;
}

static void close_it(struct event_base *base, struct redlock *rl)
{
    int closed = 0;

    ck_assert_int_eq(redlock_close(rl, on_closed, &closed), 0);
    loop_must(base, &closed);
}

/* Every later round needs a claim of its own, and cannot even begin without. */
START_TEST(a_retry_without_memory_is_told_as_such)
{
    struct event_base *base = event_base_new();
    struct redlock_options o = options();
    struct redlock_request request;
    struct told told = {0, 0};
    struct redlock *rl;

    ck_assert_int_eq(redlock_new(base, &o, &rl), 0);
    redlock_request_init(&request);
    request.key = "k";
    request.wait_ms = REDLOCK_FOREVER;
    request.max_retries = 1;
    ck_assert_int_eq(redlock_acquire(rl, &request, on_acquired, &told, NULL), 0);
    allowed = 0;
    rlk_alloc_hook(allow);
    loop_must(base, &told.calls);
    rlk_alloc_hook(NULL);
    ck_assert_int_eq(told.status, REDLOCK_ENOMEM);
    close_it(base, rl);
    ck_assert_int_eq(told.calls, 1);
    event_base_free(base);
}
END_TEST

/* The k-th allocation fails, for every k until none does. */
START_TEST(making_a_manager_fails_cleanly_at_every_allocation)
{
    struct event_base *base = event_base_new();
    struct redlock_options o = options();
    struct redlock *rl = NULL;
    int status = REDLOCK_ENOMEM;
    long k;

    rlk_alloc_hook(allow);
    for (k = 0; status; k++) {
        allowed = k;
        status = redlock_new(base, &o, &rl);
        ck_assert(status == 0 || (status == REDLOCK_ENOMEM && rl == NULL));
        ck_assert_int_lt(k, 1000);
    }
    rlk_alloc_hook(NULL);
    ck_assert_int_gt(k, 5);
    close_it(base, rl);
    event_base_free(base);
}
END_TEST

START_TEST(an_acquire_is_refused_cleanly_at_every_allocation)
{
    struct event_base *base = event_base_new();
    struct redlock_options o = options();
    struct redlock_request request;
    struct told told = {0, 0};
    struct redlock *rl;
    int status = REDLOCK_ENOMEM, refused = 0;

    ck_assert_int_eq(redlock_new(base, &o, &rl), 0);
    redlock_request_init(&request);
    request.key = "k";
    rlk_alloc_hook(allow);
    while (status) {
        allowed = refused;
        status = redlock_acquire(rl, &request, on_acquired, &told, NULL);
        ck_assert(status == 0 || status == REDLOCK_ENOMEM);
        refused += status != 0;
    }
    allowed = -1;
    rlk_alloc_hook(NULL);
    ck_assert_int_ge(refused, 2);
    loop_must(base, &told.calls);
    ck_assert_int_eq(told.status, REDLOCK_ENOQUORUM);
    close_it(base, rl);
    ck_assert_int_eq(told.calls, 1);
    event_base_free(base);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("memory");
    TCase *c = tcase_create("memory");

    tcase_add_test(c, a_retry_without_memory_is_told_as_such);
    tcase_add_test(c, making_a_manager_fails_cleanly_at_every_allocation);
    tcase_add_test(c, an_acquire_is_refused_cleanly_at_every_allocation);
    suite_add_tcase(s, c);
    return s;
}

int main(void)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main("unit-memory", suites);
}
