/* test_conn.c - the end of a connection. What the other side has written is read, so that the close
 * is not a reset; but a server that writes without end does not block the event loop. The linker
 * puts our own recv() and send() in between (--wrap). */
#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/loop.h"
#include "lib/test.h"
#include "net/conn.h"
#include "net/loop.h"

SUITE("conn");

/* A finite number, so that a test that fails ends. */
#define ENDLESS ((size_t)1 << 30)

__typeof__(recv) __real_recv, __wrap_recv;
__typeof__(send) __real_send, __wrap_send;

static bool is_endless, sends_nothing;
static size_t taken;

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
    if (!is_endless) {
        return __real_recv(fd, buf, len, flags);
    }
    taken += len;
    return taken < ENDLESS ? (ssize_t)len : 0;
}

ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags)
{
    if (!sends_nothing) {
        return __real_send(fd, buf, len, flags);
    }
    errno = EACCES; /* as a firewall of this machine */
    return -1;
}

static char said[200];

static void on_opened(struct rlk_conn *c)
{
    (void)c;
    strcat(said, "opened ");
}

static void on_replied(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us)
{
    (void)c;
    (void)reply;
    (void)now_us;
    strcat(said, "replied ");
}

static void on_broken(struct rlk_conn *c, const struct rlk_fault *fault)
{
    (void)c;
    strcat(said, fault->text);
}

static const struct rlk_conn_handler handler = {
    .opened = on_opened, .replied = on_replied, .broken = on_broken};

/* Returns the other end. */
static int connected(struct rlk_conn *c, struct rlk_loop *loop)
{
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    rlk_conn_init(c, loop, &handler);
    c->fd = pair[0];
    c->state = RLK_CONN_OPEN;
    is_endless = false;
    taken = 0;
    return pair[1];
}

TEST(a_server_that_writes_without_end_does_not_hold_the_loop)
{
    static struct rlk_loop loop;
    struct rlk_conn c;
    int peer = connected(&c, &loop);

    is_endless = true;
    rlk_conn_close(&c, false);
    is_endless = false;
    ck_assert_uint_gt(taken, 0);
    ck_assert_uint_le(taken, RLK_CONN_DRAIN_MAX);
    ck_assert_int_eq(c.state, RLK_CONN_CLOSED);
    close(peer);
}

/* _i: hard. In that case the other end sees that its replies were thrown away. */
TEST_LOOP(answers_that_nobody_read_do_not_turn_the_close_into_a_reset, 0, 2)
{
    static struct rlk_loop loop;
    static char answers[100000];
    struct rlk_conn c;
    int peer = connected(&c, &loop);
    ssize_t n;

    ck_assert_int_eq(send(peer, answers, sizeof(answers), 0), sizeof(answers));
    rlk_conn_close(&c, _i);
    n = recv(peer, answers, sizeof(answers), 0);
    ck_assert_int_eq(n, _i ? -1 : 0);
    ck_assert(!_i || errno == ECONNRESET);
    close(peer);
}

static void on_finish(struct rlk_loop *l)
{
    (void)l;
}

/* The server itself sends nothing more that would let us look at the socket again. */
TEST(a_send_that_fails_ends_the_connection_after_the_replies_that_came)
{
    static struct rlk_loop loop;
    struct event_base *base = event_base_new();
    struct rlk_fault fault;
    struct rlk_conn c;
    int peer = connected(&c, &loop);

    ck_assert_int_eq(rlk_loop_init(&loop, base, on_finish), 0);
    ck_assert_int_eq(rlk_conn_open(&c, c.fd, NULL, &fault), 0);
    ck_assert(rlk_conn_reserve(&c, 4));
    rlk_conn_append(&c, "PING", 4);
    ck_assert_int_eq(send(peer, "+OK\r\n", 5, 0), 5);
    sends_nothing = true;
    loop_settle(base);
    sends_nothing = false;
    ck_assert_str_eq(said, "opened replied Permission denied");
    rlk_conn_end(&c);
    rlk_loop_end(&loop);
    event_base_free(base);
    close(peer);
}

static struct rlk_conn *to_be_closed;

static void on_replied_to_close(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us)
{
    on_replied(c, reply, now_us);
    strcat(said, reply->str);
    rlk_conn_close(to_be_closed, false);
}

/* What is dropped there must not be taken for the rest of the replies here. */
TEST(a_close_leaves_the_replies_of_another_connection_alone)
{
    static const struct rlk_conn_handler closes = {
        .opened = on_opened, .replied = on_replied_to_close, .broken = on_broken};
    static struct rlk_loop loop;
    struct event_base *base = event_base_new();
    struct rlk_fault fault;
    struct rlk_conn c, other;
    int peer = connected(&c, &loop), other_peer = connected(&other, &loop);

    to_be_closed = &other;
    c.handler = &closes;
    ck_assert_int_eq(rlk_loop_init(&loop, base, on_finish), 0);
    ck_assert_int_eq(rlk_conn_open(&c, c.fd, NULL, &fault), 0);
    ck_assert_int_eq(send(peer, "+OK\r\n$3\r\nyes\r\n", 14, 0), 14);
    ck_assert_int_eq(send(other_peer, "+NO\r\n$2\r\nno\r\n\r\n", 15, 0), 15);
    loop_settle(base);
    ck_assert_str_eq(said, "opened replied OKreplied yes");
    rlk_conn_end(&c);
    rlk_loop_end(&loop);
    event_base_free(base);
    close(other_peer);
    close(peer);
}

static void on_report(struct rlk_call *call)
{
    (void)call;
    strcat(said, "reported ");
}

static struct rlk_call report;

static void on_replied_to_report(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us)
{
    on_replied(c, reply, now_us);
    rlk_turn_report(&c->loop->turn, &report);
}

/* So that all commands that follow from them leave together. */
TEST(the_turn_ends_after_the_last_connection_that_can_be_read)
{
    static const struct rlk_conn_handler reports = {
        .opened = on_opened, .replied = on_replied_to_report, .broken = on_broken};
    static struct rlk_loop loop;
    struct event_base *base = event_base_new();
    struct rlk_fault fault;
    struct rlk_conn c[3];
    int peer[3], i;

    rlk_call_init(&report, on_report);
    ck_assert_int_eq(rlk_loop_init(&loop, base, on_finish), 0);
    for (i = 0; i < 3; i++) {
        peer[i] = connected(&c[i], &loop);
        c[i].handler = &reports;
        ck_assert_int_eq(rlk_conn_open(&c[i], c[i].fd, NULL, &fault), 0);
        ck_assert_int_eq(send(peer[i], "+OK\r\n", 5, 0), 5);
    }
    said[0] = '\0';
    event_base_loop(base, EVLOOP_NONBLOCK);
    ck_assert_str_eq(said, "replied replied replied reported ");
    ck_assert_int_eq(send(peer[1], "+OK\r\n", 5, 0), 5);
    event_base_loop(base, EVLOOP_NONBLOCK);
    ck_assert_str_eq(said, "replied replied replied reported replied reported ");
    for (i = 0; i < 3; i++) {
        rlk_conn_end(&c[i]);
        close(peer[i]);
    }
    rlk_loop_end(&loop);
    event_base_free(base);
}
