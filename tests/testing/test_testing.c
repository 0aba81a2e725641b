/* testing/test_testing.c - the masters of redlock/testing.h, as the tests of a program use them. */
#include <dirent.h>
#include <event2/event.h>
#include <poll.h>
#include <pthread.h>
#include <redlock/redlock.h>
#include <redlock/testing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/loop.h"
#include "lib/runner.h"
#include "lib/test.h"

SUITE("testing");

#define BOUND_MS 20000
#define MASTERS 5

static struct redlock_testing *masters;
static struct redlock_sync *client;

static void open_client(void)
{
    struct redlock_options options;

    redlock_options_init(&options);
    options.nodes = redlock_testing_nodes(masters);
    options.n_nodes = redlock_testing_node_count(masters);
    options.node_timeout_ms = 2000;
    ck_assert_int_eq(redlock_sync_new(&options, &client), 0);
}

static void start(void)
{
    ck_assert_int_eq(redlock_testing_new(MASTERS, &masters), 0);
    open_client();
}

static void end(void)
{
    ck_assert_int_eq(redlock_sync_close(client), 0);
    redlock_testing_free(masters);
}

FIXTURE(start, end);

static struct redlock_request request(uint32_t ttl_ms, uint32_t wait_ms)
{
    struct redlock_request r;

    redlock_request_init(&r);
    r.key = "k";
    r.ttl_ms = ttl_ms;
    r.wait_ms = wait_ms;
    return r;
}

static int acquire(uint32_t ttl_ms, uint32_t wait_ms, struct redlock_sync_lock **ret)
{
    struct redlock_request r = request(ttl_ms, wait_ms);

    return redlock_sync_acquire(client, &r, NULL, ret);
}

static int64_t count(int event)
{
    return redlock_testing_count(masters, event, "k");
}

static void set_first(size_t n, int state)
{
    size_t i;

    for (i = 0; i < n; i++) {
        ck_assert_int_eq(redlock_testing_set_state(masters, i, state), 0);
    }
}

/* ---- locks ---- */

TEST(a_lock_is_granted_at_once_and_released)
{
    struct redlock_sync_lock *lock;

    ck_assert_int_eq(acquire(60000, 0, &lock), REDLOCK_OK);
    ck_assert_int_eq(count(REDLOCK_TESTING_GRANTED), 1);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 1);
    ck_assert_int_eq(count(REDLOCK_TESTING_RELEASED), 0);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    ck_assert_int_eq(count(REDLOCK_TESTING_GRANTED), 1);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 0);
    ck_assert_int_eq(count(REDLOCK_TESTING_RELEASED), 1);
    ck_assert_int_eq(redlock_testing_count(masters, REDLOCK_TESTING_GRANTED, "other"), 0);
}

TEST(an_extension_is_counted)
{
    struct redlock_sync_lock *lock;

    ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_extend(lock, 90000), REDLOCK_OK);
    ck_assert_int_ge(count(REDLOCK_TESTING_EXTENDED), 1);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
}

/* Fencing tokens, queues and releases use scripts: so the masters run scripts. */
TEST(fencing_tokens_grow)
{
    struct redlock_request r = request(60000, BOUND_MS);
    struct redlock_sync_lock *lock;
    uint64_t first;

    r.fencing = 1;
    ck_assert_int_eq(redlock_sync_acquire(client, &r, NULL, &lock), REDLOCK_OK);
    first = redlock_sync_lock_fencing_token(lock);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_acquire(client, &r, NULL, &lock), REDLOCK_OK);
    ck_assert_uint_gt(redlock_sync_lock_fencing_token(lock), first);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    ck_assert_int_eq(count(REDLOCK_TESTING_GRANTED), 2);
    ck_assert_int_eq(count(REDLOCK_TESTING_RELEASED), 2);
}

/* ---- somebody else ---- */

TEST(somebody_else_holds_a_key)
{
    struct redlock_sync_lock *lock;

    ck_assert_int_eq(redlock_testing_hold(masters, "k", "host-7", 0), 0);
    ck_assert_int_eq(acquire(60000, 0, &lock), REDLOCK_EHELD);
    ck_assert_ptr_nonnull(strstr(redlock_sync_error_text(), "host-7"));
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 1);
    ck_assert_int_eq(count(REDLOCK_TESTING_GRANTED), 0);
    ck_assert_int_eq(redlock_testing_lose(masters, "k", MASTERS), 0);
    ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
}

static void *lose_later(void *arg)
{
    (void)arg;
    while (redlock_testing_commands(masters, 0) < 8) {
        usleep(1000);
    }
    redlock_testing_lose(masters, "k", MASTERS);
    return NULL;
}

TEST(a_waiter_gets_the_key_that_another_thread_takes_away)
{
    struct redlock_sync_lock *lock;
    pthread_t thread;

    ck_assert_int_eq(redlock_testing_hold(masters, "k", NULL, 0), 0);
    pthread_create(&thread, NULL, lose_later, NULL);
    ck_assert_int_eq(acquire(60000, REDLOCK_FOREVER, &lock), REDLOCK_OK);
    pthread_join(thread, NULL);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
}

TEST(a_key_of_somebody_else_ends_by_its_ttl)
{
    struct redlock_sync_lock *lock;

    ck_assert_int_eq(redlock_testing_hold(masters, "k", NULL, 30), 0);
    ck_assert_int_eq(acquire(60000, REDLOCK_FOREVER, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
}

/* ---- losses ---- */

static void must_be_told(struct redlock_sync_lock *lock)
{
    struct pollfd lost = {redlock_sync_lock_fd(lock), POLLIN, 0};

    ck_assert_int_eq(poll(&lost, 1, BOUND_MS), 1);
    ck_assert_int_ne(redlock_sync_lock_lost(lock), 0);
    ck_assert_uint_eq(redlock_sync_lock_validity_ms(lock), 0);
}

TEST(the_holder_is_told_of_a_key_that_a_majority_lost)
{
    struct redlock_sync_lock *lock;

    ck_assert_int_eq(acquire(1500, BOUND_MS, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_testing_lose(masters, "k", 3), 0);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 0);
    must_be_told(lock);
    redlock_sync_release(lock);
}

TEST(the_holder_is_told_that_somebody_else_has_the_key)
{
    struct redlock_sync_lock *lock;

    ck_assert_int_eq(acquire(1500, BOUND_MS, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_testing_hold(masters, "k", "thief", 0), 0);
    must_be_told(lock);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_TAKEN);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 1);
    ck_assert_int_eq(count(REDLOCK_TESTING_RELEASED), 0);
}

TEST(an_extension_finds_the_loss_at_once)
{
    struct redlock_sync_lock *lock;

    ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_testing_lose(masters, "k", MASTERS), 0);
    ck_assert_int_eq(redlock_sync_extend(lock, 60000), REDLOCK_ELOST);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_GONE);
}

/* Until an extension, only the masters that granted the lock first count. By the third one, the
 * replies of all masters to the request have been read. */
TEST(a_key_that_a_minority_lost_stays_held)
{
    struct redlock_sync_lock *lock;
    int i;

    ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(redlock_sync_extend(lock, 60000), REDLOCK_OK);
    }
    ck_assert_int_eq(redlock_testing_lose(masters, "k", 2), 0);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 1);
    ck_assert_int_eq(redlock_sync_extend(lock, 60000), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_lock_lost(lock), 0);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
}

/* ---- masters that fail ---- */

static const struct {
    const char *claim;
    int state;
} failures[] = {
    {"two_masters_may_be_silent_and_three_may_not", REDLOCK_TESTING_SILENT},
    {"two_masters_may_be_down_and_three_may_not", REDLOCK_TESTING_DOWN},
};

TEST_ROWS(masters_fail, failures)
{
    struct redlock_sync_lock *lock;

    set_first(2, failures[_i].state);
    ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    set_first(3, failures[_i].state);
    ck_assert_int_eq(acquire(60000, 0, &lock), REDLOCK_ENOQUORUM);
    set_first(3, REDLOCK_TESTING_UP);
    ck_assert_int_eq(acquire(60000, REDLOCK_FOREVER, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
}

TEST(a_state_follows_each_other_state)
{
    int from, to;
    struct redlock_sync_lock *lock;

    for (from = REDLOCK_TESTING_UP; from <= REDLOCK_TESTING_DOWN; from++) {
        for (to = REDLOCK_TESTING_UP; to <= REDLOCK_TESTING_DOWN; to++) {
            set_first(MASTERS, from);
            set_first(MASTERS, to);
        }
        set_first(MASTERS, from);
        set_first(MASTERS, REDLOCK_TESTING_UP);
        ck_assert_int_eq(acquire(60000, REDLOCK_FOREVER, &lock), REDLOCK_OK);
        ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    }
}

TEST(a_silent_master_carries_out_what_waits_and_one_that_is_down_does_not)
{
    struct redlock_sync_lock *lock;
    int64_t before;

    ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    set_first(MASTERS, REDLOCK_TESTING_SILENT);
    before = redlock_testing_commands(masters, 4);
    ck_assert_int_eq(acquire(60000, 0, &lock), REDLOCK_ENOQUORUM);
    ck_assert_int_eq(count(REDLOCK_TESTING_GRANTED), 1);
    ck_assert_int_eq(redlock_testing_commands(masters, 4), before);
    ck_assert_int_eq(redlock_testing_set_state(masters, 4, REDLOCK_TESTING_DOWN), 0);
    ck_assert_int_eq(redlock_testing_commands(masters, 4), before);
    set_first(4, REDLOCK_TESTING_UP);
    while (count(REDLOCK_TESTING_GRANTED) < 2) {
        usleep(1000);
    }
    ck_assert_int_eq(redlock_testing_commands(masters, 4), before);
}

TEST(a_master_that_is_down_keeps_its_keys_and_one_that_restarts_does_not)
{
    size_t i;

    ck_assert_int_eq(redlock_testing_hold(masters, "k", NULL, 0), 0);
    set_first(MASTERS, REDLOCK_TESTING_DOWN);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 1);
    set_first(MASTERS, REDLOCK_TESTING_UP);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 1);
    for (i = 0; i < 3; i++) {
        set_first(3, (int)i);
        ck_assert_int_eq(redlock_testing_restart(masters, i), 0);
        ck_assert_int_eq(count(REDLOCK_TESTING_HELD), i < 2);
    }
}

TEST(a_lock_is_lost_with_the_data_of_a_majority)
{
    struct redlock_sync_lock *lock;
    size_t i;

    ck_assert_int_eq(acquire(1500, BOUND_MS, &lock), REDLOCK_OK);
    for (i = 0; i < MASTERS; i++) {
        ck_assert_int_eq(redlock_testing_restart(masters, i), 0);
    }
    must_be_told(lock);
    redlock_sync_release(lock);
    ck_assert_int_eq(acquire(60000, REDLOCK_FOREVER, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    ck_assert_int_eq(count(REDLOCK_TESTING_GRANTED), 2);
}

/* ---- any thread ---- */

#define THREADS 4
#define CALLS 200

static void *call_often(void *arg)
{
    char key[16];
    int i;

    snprintf(key, sizeof(key), "t%d", *(int *)arg);
    for (i = 0; i < CALLS; i++) {
        ck_assert_int_eq(redlock_testing_hold(masters, key, "me", 0), 0);
        ck_assert_int_eq(redlock_testing_count(masters, REDLOCK_TESTING_HELD, key), 1);
        ck_assert_int_eq(redlock_testing_lose(masters, key, MASTERS), 0);
        ck_assert_int_eq(redlock_testing_count(masters, REDLOCK_TESTING_HELD, key), 0);
    }
    return NULL;
}

TEST(threads_call_at_the_same_time)
{
    pthread_t threads[THREADS];
    int i, numbers[THREADS];
    struct redlock_sync_lock *lock;

    for (i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, call_often, &numbers[i]);
    }
    for (i = 0; i < 20; i++) {
        ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
        ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(count(REDLOCK_TESTING_RELEASED), 20);
}

/* ---- the event loop of the program ---- */

struct story {
    struct redlock *rl;
    struct redlock_lock *lock;
    int acquired, lost, released, closed;
};

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct story *story = arg;

    ck_assert_int_eq(status, REDLOCK_OK);
    story->lock = lock;
    story->acquired = 1;
    ck_assert_int_eq(redlock_testing_lose(masters, "k", MASTERS), 0);
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct story *story = arg;

    (void)lock;
    story->lost = story->lost || notice->kind == REDLOCK_NOTICE_LOST;
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    ((struct story *)arg)->released = 1;
}

static void on_closed(void *arg)
{
    ((struct story *)arg)->closed = 1;
}

TEST(an_event_loop_of_the_program_is_told_too)
{
    struct event_base *base = event_base_new();
    struct redlock_request r = request(1500, BOUND_MS);
    struct redlock_options options;
    struct story story = {NULL, NULL, 0, 0, 0, 0};

    redlock_options_init(&options);
    options.nodes = redlock_testing_nodes(masters);
    options.n_nodes = redlock_testing_node_count(masters);
    options.node_timeout_ms = 2000;
    ck_assert_int_eq(redlock_new(base, &options, &story.rl), 0);
    r.notice_cb = on_notice;
    r.notice_arg = &story;
    ck_assert_int_eq(redlock_acquire(story.rl, &r, on_acquired, &story, NULL), 0);
    loop_must(base, &story.acquired);
    loop_must(base, &story.lost);
    ck_assert_int_eq(redlock_release(story.lock, on_released, &story), 0);
    loop_must(base, &story.released);
    ck_assert_int_eq(redlock_close(story.rl, on_closed, &story), 0);
    loop_must(base, &story.closed);
    event_base_free(base);
}

/* ---- making and ending ---- */

FIXTURE(NULL, NULL);

static size_t entries_of(const char *folder)
{
    DIR *entries = opendir(folder);
    size_t n = 0;

    ck_assert_ptr_nonnull(entries);
    while (readdir(entries)) {
        n++;
    }
    closedir(entries);
    return n - 2;
}

/* The number of masters' threads. */
static int masters_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    int n = 0;

    ck_assert_ptr_nonnull(tasks);
    while ((task = readdir(tasks))) {
        char path[300], name[32] = "";
        FILE *file;

        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
        file = fopen(path, "r");
        if (file) {
            n += fgets(name, sizeof(name), file) && strcmp(name, "redlock-testing\n") == 0;
            fclose(file);
        }
    }
    closedir(tasks);
    return n;
}

static const char *own_folder(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", rlk_test_folder(), name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    setenv("TMPDIR", path, 1);
    return path;
}

TEST(nothing_is_left_at_the_end)
{
    const char *folder = own_folder("left");
    size_t descriptors;
    struct redlock_sync_lock *lock;

    start();
    end();
    descriptors = entries_of("/proc/self/fd");
    start();
    ck_assert_uint_eq(entries_of(folder), 1);
    ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
    ck_assert_int_ge(masters_threads(), 1);
    set_first(2, REDLOCK_TESTING_SILENT);
    ck_assert_int_eq(redlock_testing_set_state(masters, 2, REDLOCK_TESTING_DOWN), 0);
    redlock_sync_release(lock);
    end();
    ck_assert_uint_eq(entries_of(folder), 0);
    ck_assert_uint_eq(entries_of("/proc/self/fd"), descriptors);
    /* A joined thread stays in the list until the kernel has ended it. */
    while (masters_threads() > 0) {
        usleep(1000);
    }
}

/* A folder in use stays, even one of this process. */
TEST(the_folder_of_a_process_that_was_killed_is_removed_by_the_next)
{
    const char *folder = own_folder("killed");
    struct redlock_testing *mine;
    pid_t child = fork();
    int status;

    if (child == 0) {
        _exit(redlock_testing_new(2, &masters));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(entries_of(folder), 1);
    ck_assert_int_eq(redlock_testing_new(2, &mine), 0);
    ck_assert_uint_eq(entries_of(folder), 1);
    start();
    ck_assert_uint_eq(entries_of(folder), 2);
    end();
    ck_assert_uint_eq(entries_of(folder), 1);
    redlock_testing_free(mine);
    ck_assert_uint_eq(entries_of(folder), 0);
}

TEST(the_masters_may_end_before_their_client)
{
    struct redlock_sync_lock *lock;

    start();
    ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
    redlock_testing_free(masters);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_ENOQUORUM);
    ck_assert_int_eq(redlock_sync_close(client), 0);
}

TEST(two_sets_know_nothing_of_each_other)
{
    struct redlock_testing *other;

    ck_assert_int_eq(redlock_testing_new(1, &other), 0);
    start();
    ck_assert_int_eq(redlock_testing_hold(other, "k", NULL, 0), 0);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 0);
    ck_assert_uint_eq(redlock_testing_node_count(other), 1);
    ck_assert_str_ne(redlock_testing_nodes(other)[0], redlock_testing_nodes(masters)[0]);
    end();
    redlock_testing_free(other);
}

TEST(the_name_of_the_folder_may_be_strange)
{
    struct redlock_sync_lock *lock;

    own_folder("a ?b%&#c");
    start();
    ck_assert_int_eq(acquire(60000, BOUND_MS, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    end();
}

static void must_not_start(const char *text)
{
    struct redlock_testing *unchanged = (struct redlock_testing *)&masters, *t = unchanged;

    ck_assert_int_eq(redlock_testing_new(3, &t), REDLOCK_ESYSTEM);
    ck_assert_ptr_eq(t, unchanged);
    ck_assert_ptr_nonnull(strstr(redlock_testing_error_text(), text));
}

TEST(without_a_folder_there_are_no_masters)
{
    char path[300];

    setenv("TMPDIR", "/nonexistent", 1);
    must_not_start("/nonexistent: No such file");
    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    setenv("TMPDIR", path, 1);
    must_not_start("too long");
    ck_assert_uint_eq(entries_of(own_folder("123456789-123456789-123456789-123456789-123456789-"
                                            "123456789-123456789-123456789-123456789-123456789")),
                      0);
    must_not_start("too long");
    ck_assert_uint_eq(entries_of(getenv("TMPDIR")), 0);
}

TEST(wrong_arguments_are_refused)
{
    char key[1026], owner[210];

    memset(key, 'k', sizeof(key));
    key[1025] = '\0';
    memset(owner, 'o', sizeof(owner));
    owner[209] = '\0';
    ck_assert_int_eq(redlock_testing_new(0, &masters), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_new(64, &masters), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_new(1, NULL), REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(redlock_testing_error_text(), "1 to 63"));
    start();
    ck_assert_int_eq(redlock_testing_hold(NULL, "k", NULL, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_hold(masters, NULL, NULL, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_hold(masters, "", NULL, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_hold(masters, key, NULL, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_hold(masters, key + 1, owner + 1, 86400000), 0);
    ck_assert_int_eq(redlock_testing_hold(masters, "k", owner, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_hold(masters, "k", "a\n", 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_hold(masters, "k", NULL, 86400001), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_lose(masters, "k", 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_lose(masters, "k", MASTERS + 1), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_set_state(masters, MASTERS, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_set_state(masters, 0, -1), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_set_state(masters, 0, 3), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_restart(masters, MASTERS), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_count(masters, -1, "k"), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_count(masters, 4, "k"), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_count(masters, 0, ""), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_testing_commands(masters, MASTERS), REDLOCK_EINVAL);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 0);
    end();
    redlock_testing_free(NULL);
    ck_assert_ptr_null(redlock_testing_nodes(NULL));
    ck_assert_uint_eq(redlock_testing_node_count(NULL), 0);
}

/* A master that comes back cannot listen, because the path of its socket is taken. */
TEST(a_master_that_cannot_listen_again_stays_down)
{
    char path[256];
    const char *end_of_path;

    own_folder("taken");
    start();
    ck_assert_int_eq(redlock_testing_set_state(masters, 0, REDLOCK_TESTING_DOWN), 0);
    snprintf(path, sizeof(path), "%s", redlock_testing_nodes(masters)[0] + strlen("unix://"));
    end_of_path = strchr(path, '?');
    path[end_of_path - path] = '\0';
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(redlock_testing_set_state(masters, 0, REDLOCK_TESTING_UP), REDLOCK_ESYSTEM);
    ck_assert_ptr_nonnull(strstr(redlock_testing_error_text(), "Address already in use"));
    ck_assert_int_eq(redlock_testing_restart(masters, 0), REDLOCK_ESYSTEM);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(redlock_testing_set_state(masters, 0, REDLOCK_TESTING_UP), 0);
    end();
}

TEST(a_forked_child_is_refused)
{
    pid_t child;
    int status;

    start();
    child = fork();
    if (child == 0) {
        bool right = count(REDLOCK_TESTING_HELD) == REDLOCK_EFORK &&
                     redlock_testing_lose(masters, "k", 1) == REDLOCK_EFORK &&
                     redlock_testing_restart(masters, 0) == REDLOCK_EFORK;

        redlock_testing_free(masters);
        _exit(right ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(count(REDLOCK_TESTING_HELD), 0);
    end();
}
