/* io/test_endings.c - every call gets its result and ends, in the schedules in which it once did
 * not; and a release that could not be sent is sent later [S5]. */
#include <event2/event.h>
#include <string.h>

#include "io/farm.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("endings");
FIXTURE(NULL, farm_end_all);

static struct farm f;

/* A and B grant, C is asked and does not answer. The lock is released, and now A and B do not
 * answer. */
static void release_into_silence(struct outcome_released *released)
{
    struct outcome got;
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    fake_on(f.nodes[2], "SET", FAKE_STALL, NULL);
    for (i = 0; i < 3; i++) {
        fake_on(f.nodes[i], "EVAL", FAKE_MUTE, NULL);
        fake_on(f.nodes[i], "EVALSHA", FAKE_MUTE, NULL);
    }
    farm_open(&f);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(redlock_release(got.lock, outcome_on_released, released), 0);
}

TEST(a_late_vote_leaves_the_deadline_of_a_release_alone)
{
    struct outcome_released released = {0, 0};

    release_into_silence(&released);
    fake_go_on(f.nodes[2]); /* C grants now */
    loop_settle(f.base);
    ck_assert_int_eq(released.calls, 0);
    farm_time_out(&f);
    loop_must(f.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_ENOQUORUM);
}

TEST(a_late_disconnect_leaves_the_deadline_of_a_release_alone)
{
    struct outcome_released released = {0, 0};

    release_into_silence(&released);
    fake_hang_up(f.nodes[2]);
    loop_settle(f.base);
    ck_assert_int_eq(released.calls, 0);
    farm_time_out(&f);
    loop_must(f.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_ENOQUORUM);
}

struct retries {
    struct redlock_lock *lock;
    const struct outcome *got; /* once it has been called the handle is gone */
};

static bool has_retried(void *arg)
{
    const struct retries *r = arg;
    uint32_t tries = 0;

    if (r->got->calls == 0) {
        redlock_lock_effort(r->lock, &tries, NULL);
    }
    return tries >= 3 || r->got->calls > 0;
}

TEST(a_key_lives_as_long_as_its_handle)
{
    char key[301] = "", first[41];
    struct redlock_request request = outcome_request(key);
    struct outcome got = {.n = 3};
    struct redlock_lock *lock;
    const char *borrowed;

    memset(key, 'k', sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    farm_start(&f, 3, FAKE_UNIX);
    farm_set(&f, 0, 3, key, "somebody", 60000);
    farm_open(&f);
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_min_ms = request.retry_max_ms = 1;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, &lock), 0);
    borrowed = redlock_lock_key(lock, NULL);
    memcpy(first, redlock_lock_token(lock), 40);
    loop_must_true(f.base, has_retried, &(struct retries){lock, &got});
    ck_assert_int_eq(got.calls, 0);
    ck_assert_str_eq(borrowed, key);
    ck_assert_ptr_eq(redlock_lock_key(lock, NULL), borrowed);
    ck_assert_int_ne(memcmp(first, redlock_lock_token(lock), 40), 0);
    ck_assert_int_eq(redlock_cancel(lock), 0);
    loop_must(f.base, &got.calls);
}

struct asker {
    struct redlock_lock *lock;
    struct event *event;
    int closed;
};

/* At every turn of the loop, until the manager is closed. */
static void ask(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct asker *a = arg;

    (void)fd;
    (void)what;
    if (!a->closed) {
        ck_assert_str_eq(redlock_lock_key(a->lock, NULL), "k");
        ck_assert_uint_eq(strlen(redlock_lock_token(a->lock)), 40);
        event_add(a->event, &at_once);
    }
}

static void on_closed(void *arg)
{
    struct asker *a = arg;

    a->closed = 1;
}

/* A name lookup has to be cancelled, which makes the close last a moment longer. */
TEST(accessors_work_until_the_close_has_ended)
{
    struct asker a = {NULL, NULL, 0};
    struct outcome got;

    farm_start(&f, 3, FAKE_UNIX);
    f.uris[2] = "redis://no-such-host.invalid:6379";
    farm_open_at_once(&f);
    got = farm_must_acquire(&f, "k");
    a.lock = got.lock;
    a.event = event_new(f.base, -1, 0, ask, &a);
    ck_assert_int_eq(redlock_close(f.rl, on_closed, &a), 0);
    ask(-1, 0, &a);
    loop_must(f.base, &a.closed);
    event_free(a.event);
    f.rl = NULL;
}

/* Errors with which a server refuses a release for the moment. */
static const char *const not_now[] = {
    "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n",
    "-LOADING Redis is loading the dataset in memory\r\n",
    "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to\r\n",
    "-NOREPLICAS Not enough good replicas to write.\r\n",
    "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n",
    "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
    "-NOAUTH Authentication required.\r\n",
    "-READONLY You can't write against a read only replica.\r\n",
    /* before 7.0 */
    ("-ERR Error running script (call to f_488a19661b61470318f71acdc390dc7429f941ee): "
     "@user_script:5: @user_script: 5: -MISCONF Redis is configured to save\r\n"),
};

TEST_LOOP(a_release_that_is_refused_for_now_is_repeated, 0, N_ROWS(not_now))
{
    struct outcome got;
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        fake_on_next(f.nodes[i], 1, "EVALSHA", FAKE_REPLY, not_now[_i], strlen(not_now[_i]));
    }
    farm_open(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_ENOQUORUM);
    farm_wait_clean(&f);
}

TEST(a_release_that_is_denied_is_not_repeated_forever)
{
    static const char no[] =
        "-NOPERM this user has no permissions to run the 'evalsha' command\r\n";
    struct outcome got;

    farm_start(&f, 3, FAKE_UNIX);
    farm_on(&f, 0, 3, "EVALSHA", FAKE_REPLY, no);
    farm_open(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_ENOQUORUM);
    ck_assert_ptr_nonnull(strstr(farm_error(&f, 0), "NOPERM"));
    farm_must_acquire(&f, "other");
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVALSHA"), 1);
}

/* The SET still waits in the socket of a server that is stopped: the server may carry it out
 * long after the ttl that we counted, and is still sent the release. */
TEST(the_pending_release_of_an_unanswered_set_outlives_the_ttl)
{
    struct outcome got;

    farm_start(&f, 3, FAKE_UNIX);
    fake_on(f.nodes[2], "SET", FAKE_STALL, NULL);
    farm_open(&f);
    got = farm_must_acquire(&f, "k");
    farm_wait_count(&f, 2, "SET", 1);
    fake_down(f.nodes[2]);
    farm_wait(&f, 2, REDLOCK_NODE_DOWN);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    suspend_ms(2 * OUTCOME_TTL_MS);
    fake_behave(f.nodes[2]);
    fake_up(f.nodes[2]);
    farm_wait(&f, 2, REDLOCK_NODE_UP);
    farm_wait_count(&f, 2, "EVALSHA", 1);
}

/* Nothing is sent to a node that has not been greeted, neither a SET nor a release: if it turns
 * out to be a wrong server, it must not have got any command. */
TEST(a_release_waits_for_the_end_of_the_greeting)
{
    struct outcome got;

    farm_start_open(&f, 3);
    got = farm_acquire(&f, "k");
    farm_wait_count(&f, 0, "SET", 1);
    fake_on(f.nodes[0], "HELLO", FAKE_STALL, NULL);
    fake_hang_up(f.nodes[0]);
    farm_wait_count(&f, 0, "HELLO", 2);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVALSHA"), 0);
    fake_behave(f.nodes[0]);
    fake_go_on(f.nodes[0]);
    farm_wait_clean(&f);
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVALSHA"), 1);
}

/* A server below 6 answers CLIENT ID only at the end of the greeting. A SET that is sent before
 * could not be killed when the connection breaks. */
TEST(no_lock_is_asked_for_on_a_connection_without_an_id)
{
    farm_start(&f, 3, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_OFF;
    fake_model(f.nodes[0])->major = 5;
    fake_on(f.nodes[0], "CLIENT ID", FAKE_STALL, NULL);
    farm_open_at_once(&f);
    farm_wait_count(&f, 0, "CLIENT ID", 1);
    farm_must_acquire(&f, "k");
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), 0);
    fake_behave(f.nodes[0]);
    fake_go_on(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
}

TEST(a_server_that_repeats_the_password_is_not_quoted)
{
    farm_start(&f, 1, FAKE_UNIX);
    fake_on(f.nodes[0], "AUTH", FAKE_REPLY,
            "-ERR unknown command 'AUTH', with args beginning with: 'sesame'\r\n");
    f.options.password = "sesame";
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "(user default): ERR");
    ck_assert_ptr_null(strstr(farm_error(&f, 0), "sesame"));
}

TEST(a_server_that_only_echoes_is_no_redis)
{
    farm_start(&f, 1, FAKE_UNIX);
    fake_on(f.nodes[0], "HELLO", FAKE_REPLY, "*2\r\n$5\r\nHELLO\r\n$1\r\n2\r\n");
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "like a Redis server");
}
