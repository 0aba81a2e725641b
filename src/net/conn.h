/* conn.h - one socket: bytes out, replies in.
 *
 *   CLOSED --rlk_conn_open--> CONNECTING --writable--> OPEN --error, end, bad bytes--> CLOSED
 *                                                                (the handler is told once)
 *
 * Commands are appended to a buffer and leave in one send at the end of the loop turn,
 * however many they are. EV_WRITE is armed only while the socket takes no more. Replies are
 * handed up in order; who asked what is known above (inflight.h).
 *
 * Why not hiredis' async context: see docs/design.md. */
#ifndef RLK_NET_CONN_H
#define RLK_NET_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/fault.h"
#include "net/reply.h"
#include "net/turn.h"

struct event;
struct rlk_conn;
struct rlk_loop;

/* Text and commands that wait to be sent, at the most; more is refused [S13]. */
#define RLK_CONN_OUT_MAX (4 * 1024 * 1024)

/* What is still taken of a connection that is closed: a millisecond's work. */
#define RLK_CONN_DRAIN_MAX (1024 * 1024)

struct rlk_conn_handler {
    void (*opened)(struct rlk_conn *c);
    /* One complete reply, borrowed. now_us was read after its bytes had come. */
    void (*replied)(struct rlk_conn *c, const struct rlk_reply *reply, uint64_t now_us);
    /* The connection has ended, or could not be made; it is closed already. */
    void (*broken)(struct rlk_conn *c, const struct rlk_fault *fault);
};

enum rlk_conn_state {
    RLK_CONN_CLOSED = 0,
    RLK_CONN_CONNECTING,
    RLK_CONN_OPEN
};

struct rlk_conn {
    struct rlk_loop *loop;
    const struct rlk_conn_handler *handler;
    enum rlk_conn_state state;
    int fd;
    uint64_t opened; /* counts the sockets: tells an event's own from a successor */
    struct event *read_event, *write_event;
    bool write_armed;
    int send_error; /* the errno of a send that failed for good; 0 */
    struct rlk_call flush;
    char *out;
    size_t out_len, out_cap;
    struct rlk_reply_parser in;
};

void rlk_conn_init(struct rlk_conn *c, struct rlk_loop *loop,
                   const struct rlk_conn_handler *handler);

/* Closes, and frees what it kept. */
void rlk_conn_end(struct rlk_conn *c);

/* Begin to connect. 0: the handler is told how it went, later. Otherwise *ret_fault is why not, and
 * the handler is not told. */
int rlk_conn_open(struct rlk_conn *c, const struct sockaddr *addr, socklen_t len,
                  struct rlk_fault *ret_fault);

/* Whether `len` bytes can be appended now. False for want of memory or room. */
bool rlk_conn_reserve(struct rlk_conn *c, size_t len);

/* Append bytes that were reserved; they leave at the end of the turn. */
void rlk_conn_append(struct rlk_conn *c, const char *bytes, size_t len);

/* Close without telling the handler. hard: what was not sent yet is dropped, by a reset
 * [S5]; otherwise the kernel still delivers what it has, unless more answers than
 * RLK_CONN_DRAIN_MAX wait to be read. */
void rlk_conn_close(struct rlk_conn *c, bool hard);

/* Whether it leads to another machine, as far as its address tells. */
bool rlk_conn_is_remote(const struct rlk_conn *c);

#endif
