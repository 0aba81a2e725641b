/* conn.c - a socket and its two events of libevent, which move it through the states of conn.h. */
#include "net/conn.h"

#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <redlock/error.h>

#include "base/rare.h"
#include "net/clock.h"
#include "net/loop.h"
#include "net/secret.h"

static void on_flush(struct rlk_call *call);

void rlk_conn_init(struct rlk_conn *c, struct rlk_loop *loop,
                   const struct rlk_conn_handler *handler)
{
    c->loop = loop;
    c->handler = handler;
    c->state = RLK_CONN_CLOSED;
    c->fd = -1;
    c->opened = 0;
    c->read_event = c->write_event = NULL;
    c->write_armed = false;
    c->send_error = 0;
    c->out = NULL;
    c->out_len = c->out_cap = 0;
    c->in.reader = NULL;
    c->logged_in = c->received = false;
    c->tls = NULL;
    rlk_call_init(&c->flush, on_flush);
}

void rlk_conn_end(struct rlk_conn *c)
{
    rlk_conn_close(c, false);
    rlk_secret_free(c->out);
    c->out = NULL;
    c->out_cap = 0;
}

static void free_event(struct event **event)
{
    if (*event) {
        event_free(*event);
        *event = NULL;
    }
}

/* The kernel sends a reset instead of a normal close when received bytes are unread, so read them.
 * A server that writes faster than we read is reset all the same. */
static void drain(struct rlk_conn *c)
{
    char dropped[16384]; /* not loop->read: another connection may be reading its replies there */
    size_t taken = 0;
    ssize_t n;

    do {
        n = recv(c->fd, dropped, sizeof(dropped), MSG_DONTWAIT);
        taken += n > 0 ? (size_t)n : 0;
    } while (n > 0 && taken + sizeof(dropped) <= RLK_CONN_DRAIN_MAX);
}

/* ---- the bytes to send ---- */

/* What left `out` is wiped as long as it may be a login. */
static void drop_bytes(struct rlk_conn *c, size_t len)
{
    c->out_len -= len;
    if (c->out_len > 0) {
        memmove(c->out, c->out + len, c->out_len);
    }
    if (!c->logged_in) {
        explicit_bzero(c->out + c->out_len, len);
    }
}

static const char *bytes_to_send(const struct rlk_conn *c, size_t *ret_len)
{
    if (c->tls) {
        return rlk_tls_wire(c->tls, ret_len);
    }
    *ret_len = c->out_len;
    return c->out;
}

/* Not while the server has sent a part of what follows a handshake, such as a ticket: then commands
 * wait for the rest of it. */
static bool can_encrypt(const struct rlk_conn *c)
{
    return c->tls && c->state == RLK_CONN_OPEN && c->out_len > 0 && rlk_tls_is_ready(c->tls);
}

static inline bool has_unsent(const struct rlk_conn *c)
{
    size_t len;

    if (c->tls == NULL) {
        return c->out_len > 0;
    }
    bytes_to_send(c, &len);
    return len > 0 || can_encrypt(c);
}

/* All commands of a turn become one record, unless they are very many. While the socket takes no
 * more, they wait unencrypted, so that RLK_CONN_OUT_MAX is their limit. False: TLS has failed. */
static bool encrypt(struct rlk_conn *c)
{
    size_t waiting;

    if (!can_encrypt(c)) {
        return true;
    }
    rlk_tls_wire(c->tls, &waiting);
    if (waiting > 0 && c->write_armed) {
        return true;
    }
    if (!rlk_tls_write(c->tls, c->out, c->out_len)) {
        return false;
    }
    drop_bytes(c, c->out_len);
    return true;
}

/* ---- the end ---- */

/* With TLS the server is told that this is the end, if there is room for it. */
static void send_goodbye(struct rlk_conn *c)
{
    const char *bytes;
    size_t len;

    if (c->tls && !has_unsent(c)) {
        rlk_tls_close(c->tls);
        bytes = rlk_tls_wire(c->tls, &len);
        send(c->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

void rlk_conn_close(struct rlk_conn *c, bool hard)
{
    struct linger drop = {1, 0};

    free_event(&c->read_event);
    free_event(&c->write_event);
    if (c->fd >= 0) {
        if (hard) {
            setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &drop, sizeof(drop));
        } else {
            send_goodbye(c);
            shutdown(c->fd, SHUT_WR);
            drain(c);
        }
        close(c->fd);
        c->fd = -1;
    }
    rlk_reply_parser_end(&c->in);
    rlk_list_remove(&c->flush.link);
    if (c->out_len > 0) {
        explicit_bzero(c->out, c->out_len);
    }
    c->out_len = 0;
    c->write_armed = false;
    c->send_error = 0;
    c->received = c->logged_in = false;
    rlk_tls_end(c->tls);
    c->tls = NULL;
    c->state = RLK_CONN_CLOSED;
}

static struct rlk_fault fault_of(enum rlk_fault_kind kind)
{
    return (struct rlk_fault){kind, ""};
}

static struct rlk_fault fault_of_system(int error)
{
    return (struct rlk_fault){RLK_FAULT_SYSTEM, strerror(error)};
}

/* The text of the fault may be in the session. [S5] A hard close drops unsent commands. Before the
 * handshake has ended there are none, so a normal close then still delivers our alert. */
static void fail_conn(struct rlk_conn *c, struct rlk_fault fault)
{
    struct rlk_tls_session *tls = c->tls;

    c->tls = NULL;
    rlk_conn_close(c, c->state != RLK_CONN_HANDSHAKE);
    c->handler->broken(c, &fault);
    rlk_tls_end(tls);
}

/* It is the socket that ended. */
static void fail_at_end(struct rlk_conn *c, struct rlk_fault fault)
{
    if (c->tls) {
        fault = rlk_tls_fault_of_end(c->tls, &fault);
    } else if (!c->received) {
        fault = (struct rlk_fault){RLK_FAULT_UNANSWERED,
                                   fault.text[0] ? fault.text : "the server closed it"};
    }
    fail_conn(c, fault);
}

/* ---- events ---- */

static bool arm_write(struct rlk_conn *c, bool on)
{
    if (on && !c->write_armed) {
        c->write_armed = event_add(c->write_event, NULL) == 0;
    } else if (!on && c->write_armed) {
        event_del(c->write_event);
        c->write_armed = false;
    }
    return c->write_armed == on;
}

/* It is left to on_readable(), which first reads the replies that came before, to end the
 * connection. */
static void note_send_error(struct rlk_conn *c, int error)
{
    c->send_error = error;
    arm_write(c, false);
    event_active(c->read_event, EV_READ, 0);
}

static bool is_passing(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOBUFS;
}

/* Send once; bytes that the socket does not take wait for EV_WRITE. */
static void flush(struct rlk_conn *c)
{
    const char *bytes;
    size_t len;
    ssize_t n;

    if (c->state == RLK_CONN_CLOSED || c->send_error) {
        return;
    }
    if (!encrypt(c)) {
        note_send_error(c, EPROTO);
        return;
    }
    bytes = bytes_to_send(c, &len);
    if (len == 0) {
        arm_write(c, false);
        return;
    }
    n = send(c->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && !is_passing(errno)) {
        note_send_error(c, errno);
        return;
    }
    if (n > 0 && c->tls) {
        rlk_tls_sent(c->tls, (size_t)n);
    } else if (n > 0) {
        drop_bytes(c, (size_t)n);
    }
    if (!arm_write(c, has_unsent(c))) {
        note_send_error(c, ENOMEM);
    }
}

static void on_flush(struct rlk_call *call)
{
    struct rlk_conn *c = RLK_CONTAINER(call, struct rlk_conn, flush);

    if (!c->write_armed) {
        flush(c);
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct rlk_conn *c = arg;

    (void)fd;
    (void)what;
    if (rlk_fork_is_child(&c->loop->fork)) {
        event_del(c->write_event);
    } else {
        flush(c);
    }
}

/* Pass on every complete reply. The handler may close this connection, and may even open it again:
 * then the rest of the bytes does not belong to the new socket. */
static void deliver_replies(struct rlk_conn *c, uint64_t now_us)
{
    const struct rlk_reply *reply;
    uint64_t opened = c->opened;
    int got;

    for (;;) {
        got = rlk_reply_next(&c->in, &reply);
        if (got <= 0) {
            break;
        }
        c->handler->replied(c, reply, now_us);
        if (c->state != RLK_CONN_OPEN || c->opened != opened) {
            return;
        }
    }
    if (got < 0) {
        fail_conn(c, fault_of(rlk_reply_fault(&c->in)));
    } else if (c->handler->replied_all) {
        c->handler->replied_all(c, now_us);
    }
}

/* status: what rlk_reply_feed() or rlk_reply_lend() returned. */
static bool is_accepted(struct rlk_conn *c, int status)
{
    if (status) {
        fail_conn(c, fault_of(status == REDLOCK_ENOMEM ? RLK_FAULT_MEMORY : RLK_FAULT_TOO_LARGE));
    }
    return status == 0;
}

/* Plain bytes came. A server that expects TLS answers with an alert in a record of TLS. */
static void take_plain(struct rlk_conn *c, size_t len)
{
    bool first = !c->received;

    c->received = true;
    if (first && rlk_tls_is_alert(c->loop->read[0])) {
        fail_conn(c, fault_of(RLK_FAULT_IS_TLS));
    } else if (is_accepted(c, rlk_reply_lend(&c->in, c->loop->read, len))) {
        deliver_replies(c, rlk_clock_us());
    }
}

/* Records are received behind the room for what is in them. */
#define RECORDS(c) ((c)->loop->read + RLK_TLS_READ)

/* Feed the parser with what is in the records. False: the connection has ended. */
static bool decrypt(struct rlk_conn *c, size_t len)
{
    char *plain = c->loop->read;
    int n;

    if (!rlk_tls_receive(c->tls, RECORDS(c), len)) {
        fail_conn(c, fault_of(RLK_FAULT_MEMORY));
        return false;
    }
    while ((n = rlk_tls_read(c->tls, plain)) > 0) {
        if (!is_accepted(c, rlk_reply_feed(&c->in, plain, (size_t)n))) {
            return false;
        }
    }
    return true;
}

static void end_handshake(struct rlk_conn *c)
{
    if (c->state == RLK_CONN_HANDSHAKE && rlk_tls_is_ready(c->tls)) {
        c->state = RLK_CONN_OPEN;
        c->handler->opened(c);
    }
}

/* After the replies that came before it, the end of the session counts. */
static void take_records(struct rlk_conn *c, size_t len)
{
    uint64_t opened = c->opened;
    struct rlk_fault fault;

    if (!decrypt(c, len)) {
        return;
    }
    end_handshake(c);
    if (c->state == RLK_CONN_OPEN && c->opened == opened) {
        deliver_replies(c, rlk_clock_us());
    }
    if (c->state == RLK_CONN_CLOSED || c->opened != opened) {
        return;
    }
    fault = rlk_tls_fault(c->tls);
    if (fault.kind != RLK_FAULT_NONE) {
        flush(c); /* our alert */
        fail_conn(c, fault);
    } else if (has_unsent(c)) {
        rlk_turn_flush(&c->loop->turn, &c->flush);
    }
}

/* A socket that cannot send may stay silent, so nothing else would end the connection. */
static void take_bytes(struct rlk_conn *c, size_t len)
{
    if (c->tls) {
        take_records(c, len);
    } else {
        take_plain(c, len);
    }
    if (c->send_error) {
        event_active(c->read_event, EV_READ, 0);
    }
}

static void receive(struct rlk_conn *c)
{
    ssize_t n = c->tls ? recv(c->fd, RECORDS(c), RLK_LOOP_READ - RLK_TLS_READ, MSG_DONTWAIT)
                       : recv(c->fd, c->loop->read, RLK_LOOP_READ, MSG_DONTWAIT);

    if (n > 0) {
        take_bytes(c, (size_t)n);
    } else if (n == 0) {
        fail_at_end(c, fault_of(RLK_FAULT_CLOSED));
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        fail_at_end(c, fault_of_system(errno));
    } else if (c->send_error) {
        fail_at_end(c, fault_of_system(c->send_error));
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct rlk_conn *c = arg;
    struct rlk_turn *turn = &c->loop->turn;

    (void)fd;
    (void)what;
    if (rlk_fork_is_child(&c->loop->fork)) {
        event_del(c->read_event);
        return;
    }
    rlk_turn_enter(turn);
    receive(c);
    rlk_turn_leave(turn);
}

static bool make_events(struct rlk_conn *c)
{
    struct event_base *base = c->loop->base;

    c->read_event = event_new(base, c->fd, EV_READ | EV_PERSIST, on_readable, c);
    c->write_event = event_new(base, c->fd, EV_WRITE | EV_PERSIST, on_writable, c);
    return c->read_event && c->write_event && rlk_reply_parser_init(&c->in) == 0 &&
           event_add(c->read_event, NULL) == 0;
}

int rlk_conn_open(struct rlk_conn *c, int fd, struct rlk_tls *tls, struct rlk_fault *ret_fault)
{
    c->opened++;
    c->fd = fd;
    c->tls = tls ? rlk_tls_begin(tls) : NULL;
    if ((tls && c->tls == NULL) || !make_events(c)) {
        *ret_fault = fault_of(RLK_FAULT_MEMORY);
        rlk_conn_close(c, true);
        return -1;
    }
    if (c->tls) {
        c->state = RLK_CONN_HANDSHAKE;
        rlk_turn_flush(&c->loop->turn, &c->flush);
    } else {
        c->state = RLK_CONN_OPEN;
        c->handler->opened(c);
    }
    return 0;
}

const char *rlk_conn_tls(const struct rlk_conn *c)
{
    return c->tls ? rlk_tls_describe(c->tls) : "";
}

RLK_RARE bool rlk_conn_grow(struct rlk_conn *c, size_t len)
{
    size_t need = c->out_len + len, cap = c->out_cap ? c->out_cap : 4096;
    char *grown;

    if (need > RLK_CONN_OUT_MAX) {
        return false;
    }
    while (cap < need) {
        cap *= 2;
    }
    grown = rlk_secret_alloc(cap);
    if (grown == NULL) {
        return false;
    }
    if (c->out_len > 0) {
        memcpy(grown, c->out, c->out_len);
    }
    rlk_secret_free(c->out);
    c->out = grown;
    c->out_cap = cap;
    return true;
}

void rlk_conn_append(struct rlk_conn *c, const char *bytes, size_t len)
{
    memcpy(c->out + c->out_len, bytes, len);
    c->out_len += len;
    rlk_turn_flush(&c->loop->turn, &c->flush);
}

static bool is_loopback(const struct sockaddr_storage *peer)
{
    if (peer->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)peer;

        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    if (peer->ss_family == AF_INET6) {
        const struct in6_addr *in6 = &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;

        return IN6_IS_ADDR_LOOPBACK(in6) || (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == 127);
    }
    return true;
}

bool rlk_conn_is_remote(const struct rlk_conn *c)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof(peer);

    return getpeername(c->fd, (struct sockaddr *)&peer, &len) == 0 && !is_loopback(&peer);
}
