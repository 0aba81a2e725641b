/* testing/server_conn.c - see server_conn.h. */
#include "testing/server_conn.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include "testing/memory.h"

static void forget_socket(struct server_conn *c)
{
    if (c->fd < 0) {
        return;
    }
    event_del(c->readable);
    event_del(c->writable);
    event_del(c->next_byte);
    rlk_model_session_leave(&c->server->model, &c->session);
    close(c->fd);
    c->fd = -1;
}

/* There was not enough memory for a request or its reply. */
static void abandon(struct server_conn *c)
{
    c->end = SERVER_CLOSES;
    forget_socket(c);
}

static void end_now(struct server_conn *c)
{
    const struct linger hard = {1, 0};

    if (c->fd >= 0 && c->end == SERVER_RESETS) {
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    }
    forget_socket(c);
}

/* Sends as much as possible; or, if dripping, one byte in each turn. MSG_NOSIGNAL: the client may
 * have disconnected; SIGPIPE keeps its default, so that a client that does not handle it is
 * noticed. */
static void flush(struct server_conn *c)
{
    const struct timeval next_turn = {0, 0};
    size_t len;

    while (c->fd >= 0 && (len = evbuffer_get_length(c->out)) > 0) {
        const unsigned char *bytes = evbuffer_pullup(c->out, -1);
        ssize_t sent =
            bytes ? send(c->fd, bytes, c->dripping ? 1 : len, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;

        if (bytes && sent < 0 && errno == EAGAIN) {
            event_add(c->writable, NULL);
            return;
        }
        if (sent < 0) {
            forget_socket(c);
            return;
        }
        c->server->n_sent += (size_t)sent;
        evbuffer_drain(c->out, (size_t)sent);
        if (c->dripping && evbuffer_get_length(c->out) > 0) {
            event_add(c->next_byte, &next_turn);
            return;
        }
    }
    c->dripping = false;
    if (c->end != SERVER_STAYS) {
        end_now(c);
    }
}

static bool is_asked_for(const struct server_conn *c, const struct server_conn *by)
{
    long long id = by->session.kill_id;

    return id == MODEL_KILL_OTHERS ? c != by : c->session.id == id;
}

static void kill_asked_for(struct server_conn *c)
{
    struct server *server = c->server;
    size_t i;

    for (i = 0; i < server->n_conns && c->session.kill_id != 0; i++) {
        if (is_asked_for(server->conns[i], c)) {
            rlk_testing_server_conn_end(server->conns[i], SERVER_CLOSES);
        }
    }
    c->session.kill_id = 0;
}

void rlk_testing_server_conn_obey(struct server_conn *c, const struct resp_request *request,
                                  int replies)
{
    struct evbuffer *reply = evbuffer_new();

    if (!rlk_testing_memory_note(reply != NULL)) {
        return;
    }
    rlk_model_run(&c->server->model, &c->session, request, reply);
    for (; replies > 0 && evbuffer_get_length(reply) > 0; replies--) {
        const unsigned char *bytes = evbuffer_pullup(reply, -1);

        rlk_testing_memory_note(bytes &&
                                evbuffer_add(c->out, bytes, evbuffer_get_length(reply)) == 0);
    }
    evbuffer_free(reply);
    kill_asked_for(c);
}

static void obey(struct server_conn *c, const struct server_entry *entry)
{
    c->server->n_commands++;
    if (c->server->obey) {
        c->server->obey(c, entry);
    } else {
        rlk_testing_server_conn_obey(c, &entry->request, 1);
    }
    if (rlk_testing_memory_failed()) {
        abandon(c);
    }
}

/* Commands of a client that has disconnected are carried out, too: Redis has received them. */
static void do_what_waits(struct server_conn *c)
{
    while (c->n_done < c->log.n && c->end == SERVER_STAYS && !c->stalled && !c->server->paused) {
        obey(c, &c->log.entries[c->n_done]);
        c->n_done += !c->stalled;
    }
    if (c->server->forgets && c->n_done == c->log.n) {
        rlk_testing_server_log_clear(&c->log);
        c->n_done = 0;
    }
    flush(c);
}

static void take_requests(struct server_conn *c)
{
    struct resp_request request;
    enum resp_taken taken;

    while ((taken = rlk_resp_take(c->in, &request)) == RESP_ONE) {
        rlk_testing_server_log_add(&c->log, &request);
    }
    if (rlk_testing_memory_failed()) {
        abandon(c);
    } else if (taken == RESP_BAD) {
        c->server->n_bad++;
        evbuffer_drain(c->in, evbuffer_get_length(c->in));
        rlk_resp_put_error(c->out, "ERR Protocol error");
        c->end = SERVER_CLOSES;
    }
}

static void on_client_readable(evutil_socket_t fd, short what, void *arg)
{
    struct server_conn *c = arg;
    char bytes[16384];
    ssize_t got;

    (void)what;
    while ((got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
        c->server->n_received += (size_t)got;
        rlk_testing_memory_note(evbuffer_add(c->in, bytes, (size_t)got) == 0);
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        forget_socket(c);
    }
    take_requests(c);
    do_what_waits(c);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    flush(arg);
}

static void on_pushed(struct model_session *s)
{
    flush((struct server_conn *)((char *)s - offsetof(struct server_conn, session)));
}

static bool make_parts(struct server_conn *c, struct event_base *base)
{
    c->in = evbuffer_new();
    c->out = evbuffer_new();
    c->readable = event_new(base, c->fd, EV_READ | EV_PERSIST, on_client_readable, c);
    c->writable = event_new(base, c->fd, EV_WRITE, on_writable, c);
    c->next_byte = event_new(base, -1, 0, on_writable, c);
    return c->in && c->out && c->readable && c->writable && c->next_byte &&
           event_add(c->readable, NULL) == 0;
}

static void free_event(struct event *event)
{
    if (event) {
        event_free(event);
    }
}

static void free_parts(struct server_conn *c)
{
    free_event(c->readable);
    free_event(c->writable);
    free_event(c->next_byte);
    if (c->in) {
        evbuffer_free(c->in);
    }
    if (c->out) {
        evbuffer_free(c->out);
    }
}

static bool join_server(struct server_conn *c, struct server *server)
{
    struct server_conn **conns = realloc(server->conns, (server->n_conns + 1) * sizeof(*conns));

    if (!conns) {
        return false;
    }
    conns[server->n_conns++] = c;
    server->conns = conns;
    c->server = server;
    c->session.id = ++server->last_id;
    rlk_model_session_join(&server->model, &c->session, c->out, on_pushed);
    return true;
}

struct server_conn *rlk_testing_server_conn_new(struct server *server, int fd)
{
    struct server_conn *c = calloc(1, sizeof(*c));

    if (c) {
        c->fd = fd;
    }
    if (!c || !make_parts(c, server->base) || !join_server(c, server)) {
        if (c) {
            free_parts(c);
        }
        free(c);
        close(fd);
        return NULL;
    }
    return c;
}

void rlk_testing_server_conn_free(struct server_conn *c)
{
    forget_socket(c);
    free_parts(c);
    rlk_testing_server_log_clear(&c->log);
    free(c);
}

void rlk_testing_server_conn_say(struct server_conn *c, const char *bytes, size_t len)
{
    if (evbuffer_add(c->out, bytes, len) < 0) {
        abandon(c);
    }
    flush(c);
}

void rlk_testing_server_conn_end(struct server_conn *c, enum server_end how)
{
    c->end = how;
    if (evbuffer_get_length(c->out) == 0) {
        end_now(c);
    }
}

/* The command at which the connection stalled is carried out as Redis would, whatever the rules are
 * now. */
void rlk_testing_server_conn_go_on(struct server_conn *c)
{
    if (c->stalled) {
        c->stalled = false;
        rlk_testing_server_conn_obey(c, &c->log.entries[c->n_done].request, 1);
        c->n_done++;
    }
    do_what_waits(c);
}
