/* net_conn.c - src/net/conn.h: bytes out, replies in, over the wires of the world. As in the
 * library, what a turn appends is sent at its end. */
#include "net/conn.h"

#include <netinet/in.h>

#include "net/loop.h"
#include "sim/command.h"
#include "sim/net.h"
#include "sim/process.h"
#include "sim/reply.h"
#include "sim/watch.h"
#include "sim/wire.h"

static const struct client *client_of(const struct rlk_conn *c)
{
    return (const struct client *)c->loop->base;
}

static void on_flush(struct rlk_call *call)
{
    struct rlk_conn *c = RLK_CONTAINER(call, struct rlk_conn, flush);

    c->out_len = 0;
    wire_flush(process_world(), (unsigned)c->fd);
}

void rlk_conn_init(struct rlk_conn *c, struct rlk_loop *loop,
                   const struct rlk_conn_handler *handler)
{
    c->loop = loop;
    c->handler = handler;
    c->state = RLK_CONN_CLOSED;
    c->fd = -1;
    c->out_len = 0;
    rlk_call_init(&c->flush, on_flush);
}

void rlk_conn_end(struct rlk_conn *c)
{
    rlk_conn_close(c, false);
}

/* The last part of its address is the number of the node (net_world.c). */
static unsigned node_at(const struct sockaddr *addr)
{
    return ntohl(((const struct sockaddr_in *)(const void *)addr)->sin_addr.s_addr) & 255;
}

int rlk_conn_open(struct rlk_conn *c, const struct sockaddr *addr, socklen_t len,
                  struct rlk_fault *ret_fault)
{
    struct world *w = process_world();
    unsigned node = node_at(addr);
    struct peer *p = &w->clients[w->running].peers[node];

    (void)len;
    (void)ret_fault;
    c->fd = (int)wire_open(w, w->running, node);
    if (p->conn == NULL || p->conn == c) {
        p->conn = c;
        p->wire = (unsigned)c->fd;
    } else { /* a node opens its command connection first */
        p->watch = c;
        p->watch_wire = (unsigned)c->fd;
        w->wires[c->fd].watch = true;
    }
    c->state = RLK_CONN_CONNECTING;
    return 0;
}

bool rlk_conn_reserve(struct rlk_conn *c, size_t len)
{
    return c->out_len + len <= RLK_CONN_OUT_MAX;
}

/* Each call appends one whole command. */
void rlk_conn_append(struct rlk_conn *c, const char *bytes, size_t len)
{
    struct world *w = process_world();
    struct message m;

    if (w->ending) {
        return;
    }
    if (command_read(w, bytes, len, &m)) {
        m.sent_us = world_client_us(w, w->running);
        if (!w->wires[c->fd].watch) {
            watch_request(w, w->running, w->wires[c->fd].node, &m);
        }
        wire_put(w, (unsigned)c->fd, &m);
    }
    c->out_len += len;
    rlk_turn_flush(&c->loop->turn, &c->flush);
}

void rlk_conn_close(struct rlk_conn *c, bool hard)
{
    struct world *w = process_world();

    if (c->fd >= 0) {
        if (!w->wires[c->fd].watch) {
            watch_close(w, (unsigned)c->fd);
        }
        wire_close(w, (unsigned)c->fd, hard || w->ending);
        c->fd = -1;
    }
    rlk_list_remove(&c->flush.link);
    c->out_len = 0;
    c->state = RLK_CONN_CLOSED;
}

bool rlk_conn_is_remote(const struct rlk_conn *c)
{
    (void)c;
    return false;
}

/* ---- what happens to it ---- */

/* The connection of a wire; NULL when the client has closed it. */
static struct rlk_conn *conn_of(struct world *w, unsigned wire)
{
    const struct wire *x = &w->wires[wire];
    const struct peer *p = &w->clients[x->client].peers[x->node];
    struct rlk_conn *c = x->watch ? p->watch : p->conn;

    return x->client_open && w->clients[x->client].rl && c && c->fd == (int)wire ? c : NULL;
}

void net_on_opened(struct world *w, unsigned wire)
{
    struct rlk_conn *c = conn_of(w, wire);

    if (c && c->state == RLK_CONN_CONNECTING) {
        process_enter(w, client_of(c)->index);
        c->state = RLK_CONN_OPEN;
        c->handler->opened(c);
        process_leave(w);
    }
}

static void hand_up(struct world *w, struct rlk_conn *c, unsigned wire, const struct message *m)
{
    unsigned client = w->wires[wire].client, node = w->wires[wire].node;
    struct reply reply;

    reply_write(w, wire, m, &reply);
    if (w->wires[wire].watch) {
        c->handler->replied(c, reply.items, world_client_us(w, client));
        return;
    }
    watch_reply(w, client, node, m);
    c->handler->replied(c, reply.items, world_client_us(w, client));
    watch_reply_done(w, client, node, m);
}

/* All answers that have arrived together. A handler may close this connection, and even open
 * another one. */
void net_on_reply(struct world *w, unsigned wire)
{
    struct rlk_conn *c = conn_of(w, wire);
    const struct message *taken;
    struct message m = {.ends = false};

    if (c == NULL) {
        return;
    }
    process_enter(w, w->wires[wire].client);
    while (!m.ends && c->fd == (int)wire && (taken = wire_take_answer(w, wire)) != NULL) {
        m = *taken; /* a handler that appends moves the array */
        hand_up(w, c, wire, &m);
    }
    process_leave(w);
}

void net_on_push(struct world *w, unsigned wire, enum push_kind kind, unsigned key)
{
    struct rlk_conn *c = conn_of(w, wire);
    struct reply reply;

    if (c && !w->wires[wire].cut) {
        process_enter(w, w->wires[wire].client);
        reply_write_push(w, wire, kind, key, &reply);
        c->handler->replied(c, reply.items, world_client_us(w, w->wires[wire].client));
        process_leave(w);
    }
}

void net_on_broken(struct world *w, unsigned wire)
{
    static const struct rlk_fault fault = {RLK_FAULT_SYSTEM, "Connection reset by peer"};
    struct rlk_conn *c = conn_of(w, wire);

    if (c) {
        process_enter(w, client_of(c)->index);
        rlk_conn_close(c, true);
        c->handler->broken(c, &fault);
        process_leave(w);
    }
}
