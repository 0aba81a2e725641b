/* sync/test_kept.c - what a callback or redlock_sync_run() lends cannot be ended there. */
#include "lib/test.h"
#include "sync/rig.h"

SUITE("kept");

static struct rig r;

struct tried {
    atomic_int done;
    int close, release, forget, free;
};

static void try_to_close(struct redlock *rl, void *arg)
{
    struct tried *tried = arg;

    tried->close = redlock_close(rl, NULL, NULL);
}

TEST(a_function_on_the_io_thread_cannot_close_the_manager)
{
    struct tried tried = {0};

    rig_start(&r);
    ck_assert_int_eq(redlock_sync_run(r.s, try_to_close, &tried), REDLOCK_OK);
    ck_assert_int_eq(tried.close, REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_sync_release(rig_acquire(&r, "k")), REDLOCK_OK);
    rig_end(&r);
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct tried *tried = arg;

    (void)notice;
    tried->release = redlock_release(lock, NULL, NULL);
    tried->forget = redlock_lock_detach(lock);
    atomic_store(&tried->done, 1);
}

/* Of a renewal: while an extension is in flight, that would be a reason to refuse, too. */
TEST(a_notice_cannot_end_the_lock)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;
    struct tried tried = {0};

    rig_start(&r);
    request.notice_cb = on_notice;
    request.notice_arg = &tried;
    request.flags = REDLOCK_NOTIFY_MOVES;
    request.ttl_ms = 1000;
    request.renew = 1;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    rig_wait_for(&tried.done);
    ck_assert_int_eq(tried.release, REDLOCK_ESTATE);
    ck_assert_int_eq(tried.forget, REDLOCK_ESTATE);
    ck_assert_int_ge(redlock_sync_release(lock), REDLOCK_OK);
    rig_expect_clean(&r);
    rig_end(&r);
}

static void on_elected(struct redlock_election *election, uint64_t term, void *arg)
{
    struct tried *tried = arg;

    (void)term;
    tried->free = redlock_election_free(election, NULL, NULL);
    atomic_store(&tried->done, 1);
}

TEST(a_callback_cannot_free_the_election)
{
    struct redlock_election_options options;
    struct redlock_sync_election *election;
    struct tried tried = {0};

    rig_start(&r);
    redlock_election_options_init(&options);
    options.name = "boss";
    options.id = "ann";
    options.stops_later = 1;
    options.elected_cb = on_elected;
    options.arg = &tried;
    ck_assert_int_eq(redlock_sync_election_new(r.s, &options, &election), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_election_campaign(election, 20000, NULL, NULL), REDLOCK_OK);
    rig_wait_for(&tried.done);
    ck_assert_int_eq(tried.free, REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_sync_election_free(election), REDLOCK_OK);
    rig_end(&r);
}

struct own {
    atomic_int held, released;
    struct redlock_lock *lock;
};

static void on_own(struct redlock_lock *lock, int status, void *arg)
{
    struct own *own = arg;

    own->lock = status ? NULL : lock;
    atomic_store(&own->held, 1);
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct own *own = arg;

    (void)lock;
    atomic_store(&own->released, status == REDLOCK_OK ? 1 : 2);
}

static void acquire_own(struct redlock *rl, void *arg)
{
    struct redlock_request request = rig_request("own");

    redlock_acquire(rl, &request, on_own, arg, NULL);
}

static void release_own(struct redlock *rl, void *arg)
{
    struct own *own = arg;

    (void)rl;
    redlock_release(own->lock, on_released, own);
}

TEST(a_function_on_the_io_thread_ends_what_it_has_made_itself)
{
    struct own own = {0};

    rig_start(&r);
    ck_assert_int_eq(redlock_sync_run(r.s, acquire_own, &own), REDLOCK_OK);
    rig_wait_for(&own.held);
    ck_assert_ptr_nonnull(own.lock);
    ck_assert_int_eq(redlock_sync_run(r.s, release_own, &own), REDLOCK_OK);
    rig_wait_for(&own.released);
    ck_assert_int_eq(atomic_load(&own.released), 1);
    rig_end(&r);
}
