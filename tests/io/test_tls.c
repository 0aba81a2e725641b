/* io/test_tls.c - a master that speaks TLS, on real sockets, and breaks it: the other masters
 * decide, the node's text says what is wrong, and when it behaves again it votes again. */
#include <arpa/inet.h>
#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/farm.h"
#include "io/tls_front.h"
#include "io/watch.h"
#include "lib/test.h"

SUITE("tls");

static struct farm f;
static struct tls_front *front;

/* Node 0 of three speaks TLS. */
static void start(int version)
{
    farm_start(&f, 3, FAKE_UNIX);
    front = tls_front_new(f.base, f.nodes[0], version);
    f.uris[0] = tls_front_uri(front);
}

static void end(void)
{
    tls_front_go_on(front);
    farm_close(&f);
    tls_front_free(front);
    farm_end(&f);
}

static void open_without_node_0(void)
{
    farm_open_at_once(&f);
    farm_wait(&f, 1, REDLOCK_NODE_UP);
    farm_wait(&f, 2, REDLOCK_NODE_UP);
}

static void must_decide(void)
{
    struct outcome got = farm_acquire(&f, "k");

    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}

/* The node may not have noticed yet that its connection broke, so there may be several rounds. */
static void must_recover(void)
{
    size_t before = fake_count(f.nodes[0], "SET");

    tls_front_set_manner(front, TLS_FRONT_PLAINLY);
    tls_front_go_on(front);
    do {
        farm_wait(&f, 0, REDLOCK_NODE_UP);
        must_decide();
    } while (fake_count(f.nodes[0], "SET") == before);
    farm_wait_gone(&f, "k");
    ck_assert_uint_eq(tls_front_n_open(front), 1);
}

static bool is_dialed(void *arg)
{
    (void)arg;
    return tls_front_n_conns(front) > 0;
}

/* ---- the handshake ---- */

/* At once; within the head of a record, its body, and the certificate; or after the handshake. */
static const size_t cuts[] = {0, 3, 60, 500};
#define N_CUTS (sizeof(cuts) / sizeof(cuts[0]))
#define N_HANDSHAKES ((int)(2 * (N_CUTS + 1)))

static int version_of(int i)
{
    return i % 2 ? TLS1_3_VERSION : TLS1_2_VERSION;
}

static void cut_handshake(int i, enum tls_front_end how)
{
    size_t at = (size_t)i / 2;

    if (at < N_CUTS) {
        tls_front_limit(front, cuts[at], how);
    } else {
        tls_front_limit_after_handshake(front, 0, how);
    }
}

CASE("handshake");

TEST_LOOP(a_handshake_that_stops_ends_with_the_connect_timeout, 0, N_HANDSHAKES)
{
    start(version_of(_i));
    cut_handshake(_i, TLS_FRONT_STOPS);
    open_without_node_0();
    loop_must_true(f.base, is_dialed, NULL);
    must_decide();
    farm_time_out(&f);
    farm_wait_error(&f, 0, "within 60000 ms");
    must_recover();
    end();
}

static void end_handshake_by(int i, enum tls_front_end how)
{
    start(version_of(i));
    cut_handshake(i, how);
    open_without_node_0();
    farm_wait_error(&f, 0, "");
    must_decide();
    must_recover();
    end();
}

TEST_LOOP(a_handshake_that_is_closed_harms_only_its_node, 0, N_HANDSHAKES)
{
    end_handshake_by(_i, TLS_FRONT_CLOSES);
}

TEST_LOOP(a_handshake_that_is_reset_harms_only_its_node, 0, N_CUTS + 1)
{
    end_handshake_by(2 * _i + 1, TLS_FRONT_RESETS);
}

/* ---- after it ---- */

CASE("records");

TEST(bytes_that_are_no_record_end_the_connection)
{
    start(TLS1_3_VERSION);
    farm_open(&f);
    tls_front_say(front, "+OK\r\n+OK\r\n", 10);
    farm_wait_error(&f, 0, "");
    must_decide();
    must_recover();
    end();
}

/* The reply of the SET is cut: within the head of its record, or within the rest. */
TEST_LOOP(half_a_record_is_no_reply, 0, 2)
{
    struct outcome got;

    start(TLS1_3_VERSION);
    farm_open(&f);
    tls_front_limit(front, _i ? 12 : 3, TLS_FRONT_CLOSES);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_ne(got.votes[0].vote, REDLOCK_VOTE_YES);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    must_recover();
    end();
}

TEST_LOOP(replies_before_the_end_of_the_session_count, 0, 2)
{
    struct outcome got;

    start(version_of(_i));
    farm_open(&f);
    fake_down(f.nodes[2]);
    farm_wait_error(&f, 2, "");
    tls_front_set_manner(front, TLS_FRONT_WITH_GOODBYE);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_YES);
    tls_front_set_manner(front, TLS_FRONT_PLAINLY);
    fake_up(f.nodes[2]);
    farm_wait(&f, 2, REDLOCK_NODE_UP);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    must_recover();
    end();
}

TEST_LOOP(each_byte_in_a_record_of_its_own_is_understood, 0, 2)
{
    start(version_of(_i));
    tls_front_set_manner(front, TLS_FRONT_BYTE_BY_BYTE);
    farm_open(&f);
    must_recover();
    end();
}

static long cpu_ms(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000;
}

/* Half a ticket has come: the SET waits for the rest of it, and nobody spins. */
TEST(commands_wait_for_the_rest_of_a_ticket)
{
    struct outcome got;
    long before;

    start(TLS1_3_VERSION);
    farm_open(&f);
    tls_front_limit(front, 700, TLS_FRONT_STOPS);
    tls_front_give_ticket(front);
    loop_settle(f.base);
    got = farm_must_acquire(&f, "k");
    before = cpu_ms();
    event_base_loopexit(f.base, &(struct timeval){0, 200000});
    event_base_dispatch(f.base);
    ck_assert_int_lt(cpu_ms() - before, 100);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), 0);
    tls_front_go_on(front);
    farm_wait_count(&f, 0, "SET", 1);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_gone(&f, "k");
    ck_assert_uint_eq(tls_front_n_conns(front), 1);
    end();
}

TEST_LOOP(a_reconnection_resumes_the_session, 0, 2)
{
    start(version_of(_i));
    farm_open(&f);
    ck_assert_uint_eq(tls_front_n_resumed(front), 0);
    tls_front_hang_up(front);
    farm_wait_error(&f, 0, "");
    must_recover();
    ck_assert_uint_eq(tls_front_n_met(front), 2);
    ck_assert_uint_eq(tls_front_n_resumed(front), 1);
    end();
}

/* ---- calls meanwhile ---- */

enum meanwhile {
    IN_DIAL,
    IN_HANDSHAKE,
    N_MEANWHILE
};

/* A listener whose queue is full: who connects to it waits. */
static int listener, queued[2];
static char full_uri[64];

static void fill_listener(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(name);
    int i;

    listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&name, len), 0);
    ck_assert_int_eq(listen(listener, 0), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&name, &len), 0);
    for (i = 0; i < 2; i++) {
        queued[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(queued[i], (struct sockaddr *)&name, len);
    }
    snprintf(full_uri, sizeof(full_uri), "rediss://127.0.0.1:%u?verify=none", ntohs(name.sin_port));
}

/* Node 0 stays where it is. */
static void open_until(enum meanwhile when)
{
    start(TLS1_3_VERSION);
    fill_listener();
    tls_front_limit(front, 0, TLS_FRONT_STOPS);
    f.uris[0] = when == IN_DIAL ? full_uri : tls_front_uri(front);
    open_without_node_0();
    if (when == IN_HANDSHAKE) {
        loop_must_true(f.base, is_dialed, NULL);
        loop_settle(f.base);
    }
    ck_assert_int_eq(farm_state(&f, 0), REDLOCK_NODE_CONNECTING);
}

static void end_meanwhile(void)
{
    close(listener);
    close(queued[0]);
    close(queued[1]);
    tls_front_free(front);
    farm_end(&f);
}

enum call {
    CLOSE,
    CANCEL,
    FORGET,
    N_CALLS
};

static struct {
    enum call call;
    struct redlock_lock *waiting;
    int called, ended, closed;
} calls;

static void call_inside(struct redlock_lock *lock, int status, void *arg)
{
    (void)arg;
    ck_assert_int_eq(status, REDLOCK_OK);
    calls.called++;
    if (calls.call == CLOSE) {
        ck_assert_int_eq(redlock_close(f.rl, watch_on_closed, &calls.closed), REDLOCK_OK);
        f.rl = NULL;
        return;
    }
    if (calls.call == CANCEL) {
        ck_assert_int_eq(redlock_cancel(calls.waiting), REDLOCK_OK);
    }
    ck_assert_int_eq(redlock_lock_detach(lock), REDLOCK_OK);
}

static void on_waited(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    ck_assert_int_eq(status, REDLOCK_ECANCELED);
    calls.ended++;
}

CASE("meanwhile");

/* One lock waits for somebody; the callback of another one calls us. */
TEST_LOOP(calls_inside_a_callback_do_not_mind_a_master_that_is_being_connected, 0,
          (int)N_CALLS *(int)N_MEANWHILE)
{
    struct redlock_request one = outcome_request("one"), other = outcome_request("k");

    memset(&calls, 0, sizeof(calls));
    calls.call = (enum call)(_i / N_MEANWHILE);
    open_until((enum meanwhile)(_i % N_MEANWHILE));
    farm_give_away(&f, 1, 3);
    other.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(f.rl, &other, on_waited, NULL, &calls.waiting), 0);
    ck_assert_int_eq(redlock_acquire(f.rl, &one, call_inside, NULL, NULL), 0);
    loop_must(f.base, &calls.called);
    if (calls.call == FORGET) {
        ck_assert_int_eq(redlock_cancel(calls.waiting), REDLOCK_OK);
    }
    loop_must(f.base, &calls.ended);
    if (calls.call == CLOSE) {
        loop_must(f.base, &calls.closed);
    } else {
        farm_close(&f);
    }
    end_meanwhile();
}

/* The child must not send a byte into our handshake, nor end it. */
TEST(a_fork_during_the_handshake_does_not_harm_the_parent)
{
    struct redlock_request request = outcome_request("child");
    pid_t child;
    int status = -1;

    open_until(IN_HANDSHAKE);
    child = fork();
    if (child == 0) {
        bool refused =
            redlock_acquire(f.rl, &request, outcome_never, NULL, NULL) == REDLOCK_EFORK &&
            redlock_close(f.rl, watch_on_closed, &status) == REDLOCK_EFORK;

        _exit(refused ? 7 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    must_recover();
    ck_assert_uint_eq(tls_front_n_conns(front), 1);
    farm_close(&f);
    end_meanwhile();
}
