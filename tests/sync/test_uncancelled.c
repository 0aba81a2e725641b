/* sync/test_uncancelled.c - pthread_cancel() of a thread in a call: the call ends first. */
#include <string.h>

#include "lib/test.h"
#include "sync/rig.h"

SUITE("uncancelled");

#define MOST_CALLS 64

static struct rig r;

/* What the thread has done, to be looked at when it is gone: an assertion there could itself be a
 * cancellation point. */
static struct {
    const char *call;
    int status;
} calls[MOST_CALLS];
static size_t n_calls;

static int note(const char *call, int status)
{
    calls[n_calls].call = call;
    calls[n_calls].status = status;
    n_calls++;
    return status;
}

#define NOTE(call) note(#call, call)

static void on_report(const struct redlock_report *report, int status, void *arg)
{
    (void)report;
    (void)status;
    (void)arg;
}

static void on_broken(const struct redlock_break_result *result, int status, void *arg)
{
    (void)result;
    (void)status;
    (void)arg;
}

static void on_listed(const struct redlock_listed *key, void *arg)
{
    (void)key;
    (void)arg;
}

static void on_list(const struct redlock_list_summary *summary, int status, void *arg)
{
    (void)summary;
    (void)status;
    (void)arg;
}

static void do_nothing(struct redlock *rl, void *arg)
{
    (void)rl;
    (void)arg;
}

static void lock_and_release(struct redlock_sync *s)
{
    struct redlock_request request = rig_request("k");
    const char *const keys[] = {"k"};
    struct redlock_sync_canceler *canceler;
    struct redlock_sync_lock *lock;
    char token[64];

    NOTE(redlock_sync_canceler_new(s, &canceler));
    if (NOTE(redlock_sync_acquire(s, &request, canceler, &lock)) == 0) {
        NOTE(redlock_sync_lock_fd(lock) < 0);
        NOTE(redlock_sync_extend(lock, 0));
        NOTE(redlock_sync_lock_heartbeat(lock));
        strncpy(token, redlock_sync_lock_token(lock), sizeof(token) - 1);
        token[sizeof(token) - 1] = '\0';
        NOTE(redlock_sync_lock_detach(lock));
        NOTE(redlock_sync_adopt(s, &request, token, canceler, &lock));
        NOTE(redlock_sync_release(lock));
        NOTE(redlock_sync_release_token(s, keys, NULL, 1, token) < 0);
        NOTE(redlock_sync_hand_over_token(s, keys, NULL, 1, token, "ann", 0) < 0);
    }
    if (NOTE(redlock_sync_acquire(s, &request, NULL, &lock)) == 0) {
        NOTE(redlock_sync_hand_over(lock, "ann", 1));
    }
    NOTE(redlock_sync_cancel(canceler));
    redlock_sync_canceler_free(canceler);
}

static void ask(struct redlock_sync *s)
{
    struct redlock_stats stats = {.size = sizeof(stats)};
    struct redlock_node_stats node = {.size = sizeof(node)};
    struct redlock_query_result *result = NULL;
    struct redlock_list_options options;

    redlock_list_options_init(&options);
    options.listed_cb = on_listed;
    options.list_cb = on_list;
    NOTE(redlock_sync_query(s, "k", 0, &result));
    redlock_sync_query_free(result);
    NOTE(redlock_sync_list(s, &options));
    NOTE(redlock_sync_break(s, "k", 0, "0123456789012345678901234567890123456789", "ann", on_broken,
                            NULL) < 0);
    NOTE(redlock_sync_get_stats(s, &stats));
    NOTE(redlock_sync_get_node_stats(s, 0, &node));
    NOTE(redlock_sync_prometheus(s, 0, NULL, 0) == 0);
    NOTE(redlock_sync_examine(s, on_report, NULL));
    NOTE(redlock_sync_run(s, do_nothing, NULL));
}

static void lead(struct redlock_sync *s)
{
    struct redlock_sync_leader leader = {.size = sizeof(leader)};
    struct redlock_demotion demotion = {.size = sizeof(demotion)};
    struct redlock_election_options options;
    struct redlock_sync_election *e;
    uint64_t term = 0;

    redlock_election_options_init(&options);
    options.name = "boss";
    options.id = "ann";
    options.stops_later = 1;
    if (NOTE(redlock_sync_election_new(s, &options, &e)) == 0) {
        NOTE(redlock_sync_election_campaign(e, 20000, NULL, &term));
        NOTE(redlock_sync_election_leader(e, &leader));
        NOTE(redlock_sync_election_resign(e));
        NOTE(redlock_sync_election_hand_over(e, "bob", 1));
        NOTE(redlock_sync_election_wait_demoted(e, term, 20000, NULL, &demotion));
        NOTE(redlock_sync_election_stopped(e));
        NOTE(redlock_sync_election_free(e));
    }
}

static void *call_everything(void *arg)
{
    struct redlock_sync *s;

    pthread_cancel(pthread_self()); /* it ends this thread where it finds a cancellation point */
    if (NOTE(redlock_sync_new(arg, &s)) == 0) {
        lock_and_release(s);
        ask(s);
        lead(s);
        NOTE(redlock_sync_close(s));
    }
    note("the end", 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return NULL;
}

TEST(a_thread_that_is_cancelled_returns_from_each_call)
{
    pthread_t thread;
    void *how;
    size_t i;

    rig_prepare(&r);
    thread = rig_thread(call_everything, &r.options);
    ck_assert_int_eq(pthread_join(thread, &how), 0);
    for (i = 0; i < n_calls; i++) {
        ck_assert_msg(calls[i].status == 0, "%d: %s", calls[i].status, calls[i].call);
    }
    ck_assert_uint_gt(n_calls, 20);
    ck_assert_str_eq(calls[n_calls - 1].call, "the end");
    ck_assert_ptr_null(how);
    rig_end(&r);
}

static struct redlock_sync_lock *got;

static void *wait_for_lock(void *arg)
{
    struct redlock_request request = rig_request("k");

    request.wait_ms = REDLOCK_FOREVER;
    note("acquire", redlock_sync_acquire(arg, &request, NULL, &got));
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return NULL;
}

TEST(a_thread_that_is_cancelled_while_it_waits_gets_its_lock_first)
{
    struct redlock_sync_lock *lock;
    struct rig other;
    pthread_t thread;
    void *how;

    rig_start(&r);
    other = r;
    rig_open(&other);
    lock = rig_acquire(&other, "k");
    thread = rig_thread(wait_for_lock, r.s);
    rig_wait_listed(&r, "k");
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    ck_assert_int_eq(pthread_join(thread, &how), 0);
    ck_assert_ptr_null(how);
    ck_assert_int_eq(calls[0].status, REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(got), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_close(other.s), REDLOCK_OK);
    rig_end(&r);
}
