/* sync/test_fork.c - a forked child gets REDLOCK_EFORK from every call, at once, and its parent
 * goes on. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "sync/rig.h"

SUITE("fork");

/* A child that hangs is killed. */
#define HANGS_S 20

static struct rig r;
static struct redlock_sync_lock *lock;
static struct redlock_sync_canceler *canceler;

static void start(void)
{
    rig_start(&r);
    lock = rig_acquire(&r, "k");
    ck_assert_int_eq(redlock_sync_canceler_new(r.s, &canceler), REDLOCK_OK);
}

static void end(void)
{
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    redlock_sync_canceler_free(canceler);
    rig_end(&r);
}

/* Run the function in a child. Its result, 0 to 255. */
static int in_child(int (*function)(void))
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        alarm(HANGS_S);
        _exit(function());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "the child ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static void never(const struct redlock_report *report, int status, void *arg)
{
    (void)report;
    (void)status;
    (void)arg;
    _exit(201);
}

static void never_broken(const struct redlock_break_result *result, int status, void *arg)
{
    (void)result;
    (void)status;
    (void)arg;
    _exit(202);
}

static void do_nothing(struct redlock *rl, void *arg)
{
    (void)rl;
    (void)arg;
    _exit(200);
}

/* The number of the first call that is wrong; 0: none. */
static int call_everything(void)
{
    struct redlock_request request = rig_request("other");
    struct redlock_sync_canceler *another;
    struct redlock_query_result *result;
    struct redlock_sync_lock *taken;
    const char *const keys[] = {"k"};
    const int statuses[] = {
        redlock_sync_acquire(r.s, &request, NULL, &taken),
        redlock_sync_adopt(r.s, &request, "0123", NULL, &taken),
        redlock_sync_extend(lock, 0),
        redlock_sync_lock_heartbeat(lock),
        redlock_sync_release(lock),
        redlock_sync_hand_over(lock, "ann", 0),
        redlock_sync_lock_detach(lock),
        redlock_sync_release_token(r.s, keys, NULL, 1, "0123"),
        redlock_sync_hand_over_token(r.s, keys, NULL, 1, "0123", "ann", 0),
        redlock_sync_query(r.s, "k", 0, &result),
        redlock_sync_run(r.s, do_nothing, NULL),
        redlock_sync_examine(r.s, never, NULL),
        redlock_sync_break(r.s, "k", 0, "0123", "ann", never_broken, NULL),
        redlock_sync_list(r.s, NULL),
        redlock_sync_canceler_new(r.s, &another),
        redlock_sync_cancel(canceler),
        redlock_sync_lock_lost(lock),
        redlock_sync_lock_fd(lock),
        redlock_sync_close(r.s),
    };
    size_t i;

    redlock_sync_canceler_free(canceler);
    for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i] != REDLOCK_EFORK) {
            return (int)i + 1;
        }
    }
    return redlock_sync_lock_validity_ms(lock) || redlock_sync_lock_deadline_us(lock) ? 100 : 0;
}

TEST(every_call_of_a_child_is_refused)
{
    start();
    ck_assert_int_eq(in_child(call_everything), 0);
    ck_assert_uint_gt(redlock_sync_lock_validity_ms(lock), 0);
    end();
}

static atomic_int stop;

static void *lock_and_release(void *arg)
{
    while (!atomic_load(&stop)) {
        ck_assert_int_eq(redlock_sync_release(rig_acquire(&r, arg)), REDLOCK_OK);
    }
    return NULL;
}

/* Wherever the other threads are just now. */
TEST(a_child_may_be_forked_at_any_time)
{
    static char a[] = "a", b[] = "b";
    pthread_t threads[2];
    int i;

    start();
    threads[0] = rig_thread(lock_and_release, a);
    threads[1] = rig_thread(lock_and_release, b);
    for (i = 0; i < 30; i++) {
        ck_assert_int_eq(in_child(call_everything), 0);
    }
    atomic_store(&stop, 1);
    rig_join(threads[0]);
    rig_join(threads[1]);
    end();
}

#ifdef __SANITIZE_THREAD__
#define FOLLOWS_CHILDREN false
#else
#define FOLLOWS_CHILDREN true
#endif

static bool skips_threads_of_children(void)
{
    if (!FOLLOWS_CHILDREN) {
        rlk_test_skip("ThreadSanitizer cannot follow threads that a child starts");
    }
    return !FOLLOWS_CHILDREN;
}

static int make_its_own(void)
{
    struct redlock_sync_lock *own;

    if (redlock_sync_new(&r.options, &r.s)) {
        return 1;
    }
    own = rig_acquire(&r, "of the child");
    if (redlock_sync_release(own) != REDLOCK_OK) {
        return 2;
    }
    return redlock_sync_close(r.s) == REDLOCK_OK ? 0 : 3;
}

TEST(a_child_makes_its_own)
{
    if (skips_threads_of_children()) {
        return;
    }
    start();
    ck_assert_int_eq(in_child(make_its_own), 0);
    end();
}

/* On the I/O thread, whose copy in the child does nothing more, and is no I/O thread. */
static void fork_inside(struct redlock *rl, void *arg)
{
    (void)rl;
    *(int *)arg = in_child(call_everything) * 256 + in_child(make_its_own);
}

TEST(a_callback_may_fork)
{
    int status = -1;

    if (skips_threads_of_children()) {
        return;
    }
    start();
    ck_assert_int_eq(redlock_sync_run(r.s, fork_inside, &status), REDLOCK_OK);
    ck_assert_int_eq(status, 0);
    end();
}

static pid_t left;

static void fork_and_leave(struct redlock *rl, void *arg)
{
    pid_t child = fork();

    (void)rl;
    (void)arg;
    if (child == 0) {
        alarm(HANGS_S);
    } else {
        left = child;
    }
}

static void expect_it_ended(void)
{
    int status;

    ck_assert_int_eq(waitpid(left, &status, 0), left);
    ck_assert_msg(WIFEXITED(status), "the child ended by signal %d", WTERMSIG(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_uint_gt(redlock_sync_lock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_sync_release(rig_acquire(&r, "still works")), REDLOCK_OK);
}

TEST(a_child_that_returns_from_a_function_ends)
{
    start();
    ck_assert_int_eq(redlock_sync_run(r.s, fork_and_leave, NULL), REDLOCK_OK);
    expect_it_ended();
    end();
}

static void fork_at_notice(struct redlock_lock *held, const struct redlock_notice *notice,
                           void *arg)
{
    (void)held;
    (void)notice;
    fork_and_leave(NULL, arg);
}

TEST(a_child_that_returns_from_a_notice_ends)
{
    struct redlock_request request = rig_request("noticed");
    struct redlock_sync_lock *noticed;

    start();
    request.notice_cb = fork_at_notice;
    request.flags = REDLOCK_NOTIFY_MOVES;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &noticed), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_extend(noticed, 2 * RIG_TTL_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(noticed), REDLOCK_OK);
    expect_it_ended();
    end();
}
