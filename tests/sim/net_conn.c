/* net_conn.c - src/net/dial.h and conn.h: bytes out, replies in, over the wires of the world. As in
 * the library, what a turn appends is sent at its end. A wire is a file descriptor here. */
#include "net/conn.h"

#include <stdlib.h>
#include <string.h>

#include "net/dial.h"
#include "net/loop.h"
#include "net/uri.h"
#include "sim/command.h"
#include "sim/net.h"
#include "sim/operator.h"
#include "sim/process.h"
#include "sim/reply.h"
#include "sim/watch.h"
#include "sim/wire.h"

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
    c->out_len = c->out_cap = 0; /* wires keep the messages */
    rlk_call_init(&c->flush, on_flush);
}

void rlk_conn_end(struct rlk_conn *c)
{
    rlk_conn_close(c, false);
}

static void close_wire(struct world *w, unsigned wire, bool hard)
{
    if (!w->wires[wire].watch) {
        watch_close(w, wire);
    }
    wire_close(w, wire, hard || w->ending);
}

/* ---- connecting ---- */

void rlk_dial_init(struct rlk_dial *d, struct rlk_loop *loop, rlk_dial_done *done)
{
    d->loop = loop;
    d->done = done;
    d->step = RLK_DIAL_ATTEMPTS;
    d->attempts[0].fd = -1;
}

/* won: the number of the node. */
static void dial(struct rlk_dial *d, bool watch)
{
    struct world *w = process_world();
    struct client *c = &w->clients[w->running];
    struct peer *p = &c->peers[d->won];
    unsigned server = watch ? w->wires[p->wire].server : c->names[c->list[d->won]];
    unsigned wire = wire_open(w, w->running, d->won, server);

    w->wires[wire].watch = watch;
    d->attempts[0].fd = (int)wire;
    if (watch) {
        p->watch_dial = d;
        p->watch_wire = wire;
    } else {
        p->dial = d;
        p->wire = wire;
    }
}

/* The last part of an address is its number (process.c). */
void rlk_dial_start(struct rlk_dial *d, const struct rlk_uri *uri)
{
    struct world *w = process_world();
    const struct client *c = &w->clients[w->running];
    unsigned address = (unsigned)atoi(strrchr(uri->host, '.') + 1);

    d->won = RLK_CONTAINER(d, struct rlk_node, link.dial)->index;
    if (d->won >= c->nodes || c->list[d->won] != address || c->vacant >> d->won & 1) {
        operator_moved(w, w->running, d->won, address);
    }
    dial(d, false);
}

void rlk_dial_start_same(struct rlk_dial *d, const struct rlk_dial *other)
{
    d->won = other->won;
    dial(d, true);
}

void rlk_dial_cancel(struct rlk_dial *d)
{
    struct world *w = process_world();

    if (d->attempts[0].fd >= 0) {
        close_wire(w, (unsigned)d->attempts[0].fd, true);
        d->attempts[0].fd = -1;
    }
}

void rlk_dial_note_worked(struct rlk_dial *d)
{
    (void)d;
}

void rlk_dial_note_failed(struct rlk_dial *d)
{
    (void)d;
}

int rlk_conn_open(struct rlk_conn *c, int fd, struct rlk_tls *tls, struct rlk_fault *ret_fault)
{
    struct world *w = process_world();
    struct wire *x = &w->wires[fd];
    struct peer *p = &w->clients[x->client].peers[x->node];

    (void)tls;
    (void)ret_fault;
    *(x->watch ? &p->watch : &p->conn) = c;
    c->fd = fd;
    c->state = RLK_CONN_OPEN;
    c->handler->opened(c);
    return 0;
}

/* ---- an open connection ---- */

bool rlk_conn_grow(struct rlk_conn *c, size_t len)
{
    return c->out_len + len <= RLK_CONN_OUT_MAX;
}

/* Each call appends one whole command. */
void rlk_conn_append(struct rlk_conn *c, const char *bytes, size_t len)
{
    struct world *w = process_world();
    struct message m[COMMAND_PARTS];
    unsigned i, n;

    if (w->ending) {
        return;
    }
    n = command_read(w, bytes, len, m);
    for (i = 0; i < n; i++) {
        m[i].sent_us = world_client_us(w, w->running);
        if (!w->wires[c->fd].watch) {
            watch_request(w, w->running, w->wires[c->fd].node, &m[i]);
        }
        wire_put(w, (unsigned)c->fd, &m[i]);
    }
    c->out_len += len;
    rlk_turn_flush(&c->loop->turn, &c->flush);
}

void rlk_conn_close(struct rlk_conn *c, bool hard)
{
    struct world *w = process_world();

    if (c->fd >= 0) {
        close_wire(w, (unsigned)c->fd, hard);
        c->fd = -1;
    }
    rlk_list_remove(&c->flush.link);
    c->out_len = 0;
    c->state = RLK_CONN_CLOSED;
}

const char *rlk_conn_tls(const struct rlk_conn *c)
{
    (void)c;
    return "";
}

bool rlk_conn_is_remote(const struct rlk_conn *c)
{
    (void)c;
    return false;
}

/* ---- what happens to it ---- */

static struct peer *peer_of(struct world *w, unsigned wire)
{
    return &w->clients[w->wires[wire].client].peers[w->wires[wire].node];
}

static bool is_used(const struct world *w, unsigned wire)
{
    return w->wires[wire].client_open && w->clients[w->wires[wire].client].rl;
}

/* The connection of a wire; NULL when the client has closed it. */
static struct rlk_conn *conn_of(struct world *w, unsigned wire)
{
    const struct peer *p = peer_of(w, wire);
    struct rlk_conn *c = w->wires[wire].watch ? p->watch : p->conn;

    return is_used(w, wire) && c && c->fd == (int)wire ? c : NULL;
}

/* The dial whose socket this wire will be; NULL: none. */
static struct rlk_dial *dial_of(struct world *w, unsigned wire)
{
    const struct peer *p = peer_of(w, wire);
    struct rlk_dial *d = w->wires[wire].watch ? p->watch_dial : p->dial;

    return is_used(w, wire) && d && d->attempts[0].fd == (int)wire ? d : NULL;
}

void net_on_opened(struct world *w, unsigned wire)
{
    struct rlk_dial *d = dial_of(w, wire);

    if (d) {
        process_enter(w, w->wires[wire].client);
        d->attempts[0].fd = -1;
        d->done(d, (int)wire, NULL);
        process_leave(w);
    }
}

/* m: a message and the parts behind it. */
static void hand_up(struct world *w, struct rlk_conn *c, unsigned wire, const struct message *m,
                    unsigned parts)
{
    unsigned client = w->wires[wire].client, node = w->wires[wire].node;
    struct reply reply;

    if (m->many) {
        reply_write_parts(m, parts, &reply);
    } else {
        reply_write(w, wire, m, &reply);
    }
    if (w->wires[wire].watch) {
        c->handler->replied(c, reply.items, world_client_us(w, client));
        return;
    }
    watch_reply(w, client, node, m, parts);
    c->handler->replied(c, reply.items, world_client_us(w, client));
    watch_reply_done(w, client, node, m);
}

/* Take a message that is answered, with all parts of the same command. They are copied, because a
 * handler that appends moves the array. */
static unsigned take_answers(struct world *w, unsigned wire, struct message ret[COMMAND_PARTS])
{
    const struct message *taken = wire_take_answer(w, wire);
    unsigned n = 0;

    while (taken) {
        ret[n++] = *taken;
        taken = wire_is_part_next(w, wire) ? wire_take_answer(w, wire) : NULL;
    }
    return n;
}

/* All answers that have arrived together. A handler may close this connection, and even open
 * another one. */
void net_on_reply(struct world *w, unsigned wire)
{
    struct rlk_conn *c = conn_of(w, wire);
    struct message m[COMMAND_PARTS];
    bool ends = false;
    unsigned parts;

    if (c == NULL) {
        return;
    }
    process_enter(w, w->wires[wire].client);
    while (!ends && c->fd == (int)wire && (parts = take_answers(w, wire, m)) > 0) {
        ends = m[parts - 1].ends;
        hand_up(w, c, wire, m, parts);
    }
    if (c->fd == (int)wire && c->handler->replied_all) {
        c->handler->replied_all(c, world_client_us(w, w->wires[wire].client));
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
    struct rlk_dial *d = dial_of(w, wire);

    if (c == NULL && d == NULL) {
        return;
    }
    process_enter(w, w->wires[wire].client);
    if (c) {
        rlk_conn_close(c, true);
        c->handler->broken(c, &fault);
    } else {
        rlk_dial_cancel(d);
        d->done(d, -1, &fault);
    }
    process_leave(w);
}
