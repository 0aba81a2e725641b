/* conn.h - one socket: bytes out, replies in.
 *
 *                                       OPEN --error, end, bad bytes--> CLOSED
 *                                        ^       (handler->broken is called once)
 *   CLOSED --rlk_conn_open--> (HANDSHAKE)
 *
 * It gets its socket connected: net/dial.h.
 *
 * Commands are appended to a buffer and leave in one send at the end of the loop turn, however
 * many they are. EV_WRITE is armed only while the socket accepts no more bytes. Replies are passed
 * to the handler in the order in which they come; node/inflight.h knows which command each belongs
 * to.
 *
 * docs/design.md says why hiredis' async context is not used. */
#ifndef RLK_NET_CONN_H
#define RLK_NET_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/fault.h"
#include "net/reply.h"
#include "net/tls.h"
#include "net/turn.h"

struct event;
struct rlk_conn;
struct rlk_loop;

/* The most bytes of unsent commands; rlk_conn_reserve() refuses more [S13]. */
#define RLK_CONN_OUT_MAX (4 * 1024 * 1024)

/* The most bytes that a close reads and drops: about a millisecond of work. */
#define RLK_CONN_DRAIN_MAX (1024 * 1024)

struct rlk_conn_handler {
    /* Bytes can be sent. May be called before rlk_conn_open() returns; with TLS, it is later. */
    void (*opened)(struct rlk_conn *c);
    /* One complete reply, borrowed for the call. now_us: the clock, read after the bytes came. */
    void (*replied)(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us);
    /* All complete replies that came together were passed on. NULL: nothing to do. */
    void (*replied_all)(struct rlk_conn *c, uint64_t now_us);
    /* The connection has ended. It is closed already. */
    void (*broken)(struct rlk_conn *c, const struct rlk_fault *fault);
};

enum rlk_conn_state {
    RLK_CONN_CLOSED = 0,
    RLK_CONN_HANDSHAKE, /* of TLS */
    RLK_CONN_OPEN
};

struct rlk_conn {
    struct rlk_loop *loop;
    const struct rlk_conn_handler *handler;
    enum rlk_conn_state state;
    int fd;
    uint64_t opened; /* how many sockets there were: to see that this one was replaced */
    struct event *read_event, *write_event;
    bool write_armed;
    int send_error; /* the errno of a send that failed permanently; 0: none failed */
    struct rlk_call flush;
    char *out; /* in memory for secrets (net/secret.h): it may have a login */
    size_t out_len, out_cap;
    struct rlk_reply_parser in;
    bool received;               /* something came since it was opened */
    bool logged_in;              /* nothing that is sent from now on is a login */
    struct rlk_tls_session *tls; /* NULL: the bytes are sent as they are */
};

void rlk_conn_init(struct rlk_conn *c, struct rlk_loop *loop,
                   const struct rlk_conn_handler *handler);

/* Close, and free the memory. The handler is not called. */
void rlk_conn_end(struct rlk_conn *c);

/* Use a socket that is connected and does not block; it is the connection's from now on, also on
 * failure. tls: what to speak TLS with, borrowed until the connection is closed; NULL: no TLS. 0:
 * handler->opened is called, or with TLS handler->broken. Otherwise *ret_fault says why not, the
 * connection is closed, and no handler is called. */
int rlk_conn_open(struct rlk_conn *c, int fd, struct rlk_tls *tls, struct rlk_fault *ret_fault);

/* Make room for `len` more bytes. False: out of memory, or more than RLK_CONN_OUT_MAX. */
bool rlk_conn_grow(struct rlk_conn *c, size_t len);

/* The same, but quick when there is room already. */
static inline bool rlk_conn_reserve(struct rlk_conn *c, size_t len)
{
    return c->out_len + len <= c->out_cap || rlk_conn_grow(c, len);
}

/* Append bytes for which room was reserved; they leave at the end of the turn. */
void rlk_conn_append(struct rlk_conn *c, const char *bytes, size_t len);

/* The server has taken the login, and it was the last of this connection: what is sent from now on
 * is no longer wiped. */
static inline void rlk_conn_note_login(struct rlk_conn *c)
{
    c->logged_in = true;
}

/* Close; the handler is not called. hard: by a reset, so that the kernel drops bytes that have not
 * left yet [S5]. Otherwise the kernel still delivers the bytes that it has, unless more than
 * RLK_CONN_DRAIN_MAX bytes of replies are unread. */
void rlk_conn_close(struct rlk_conn *c, bool hard);

/* "TLSv1.3, verified" while it is open; "" without TLS. Static. */
const char *rlk_conn_tls(const struct rlk_conn *c);

/* Whether the peer is on another machine, judged by its address. */
bool rlk_conn_is_remote(const struct rlk_conn *c);

#endif
