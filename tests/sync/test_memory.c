/* sync/test_memory.c - each allocation of the library fails in turn: the call in which it does says
 * so or goes on without, nothing hangs, nothing is lost, and nothing is left behind. */
#include <stdio.h>

#include "base/alloc.h"
#include "lib/test.h"
#include "sync/rig.h"

SUITE("memory");

static struct rig r;
static atomic_uint allocations;
static unsigned failing; /* the number of the allocation that fails */

static int allow(size_t size)
{
    (void)size;
    return atomic_fetch_add(&allocations, 1) + 1 != failing;
}

static void lock_and_query(void)
{
    struct redlock_request request = rig_request("k");
    struct redlock_query_result *result = NULL;
    struct redlock_sync_canceler *canceler = NULL;
    struct redlock_sync_lock *lock;

    request.wait_ms = 20000;
    redlock_sync_canceler_new(r.s, &canceler);
    if (redlock_sync_acquire(r.s, &request, canceler, &lock) == REDLOCK_OK) {
        ck_assert_str_eq(redlock_sync_lock_key(lock, NULL), "k");
        redlock_sync_extend(lock, 0);
        redlock_sync_query(r.s, "k", 0, &result);
        redlock_sync_query_free(result);
        ck_assert_int_ge(redlock_sync_release(lock), REDLOCK_OK);
    }
    redlock_sync_canceler_free(canceler);
}

static void lead(void)
{
    struct redlock_election_options options;
    struct redlock_sync_election *election;
    uint64_t term;

    redlock_election_options_init(&options);
    options.name = "boss";
    options.id = "ann";
    options.stops_later = 1;
    if (redlock_sync_election_new(r.s, &options, &election)) {
        return;
    }
    if (redlock_sync_election_campaign(election, 20000, NULL, &term) == REDLOCK_OK) {
        ck_assert_uint_eq(redlock_sync_election_term(election), term);
    }
    ck_assert_int_eq(redlock_sync_election_free(election), REDLOCK_OK);
}

/* How many allocations there were. */
static unsigned run_with(unsigned number)
{
    failing = number;
    atomic_store(&allocations, 0);
    rlk_alloc_hook(allow);
    if (redlock_sync_new(&r.options, &r.s) == REDLOCK_OK) {
        lock_and_query();
        lead();
        ck_assert_int_eq(redlock_sync_close(r.s), REDLOCK_OK);
    }
    rlk_alloc_hook(NULL);
    r.s = NULL;
    return atomic_load(&allocations);
}

TEST(each_allocation_may_fail)
{
    unsigned number, n;

    rig_prepare(&r);
    n = run_with(0);
    ck_assert_uint_gt(n, 20);
    for (number = 1; number <= n; number++) {
        run_with(number);
        ck_assert_str_eq(master_ask(r.masters[0], "EXISTS k boss"), "0");
    }
    rig_end(&r);
}
