/* lib/fake_conn.c - see fake_conn.h. */
#include "lib/fake_conn.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>

static void forget_socket(struct fake_conn *c)
{
    if (c->fd < 0) {
        return;
    }
    event_del(c->readable);
    event_del(c->writable);
    event_del(c->next_byte);
    model_session_leave(&c->host->model, &c->session);
    close(c->fd);
    c->fd = -1;
}

static void end_now(struct fake_conn *c)
{
    const struct linger hard = {1, 0};

    if (c->fd >= 0 && c->end == FAKE_RESETS) {
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    }
    forget_socket(c);
}

/* Sends as much as possible, or a single byte, and the next one in the next turn. MSG_NOSIGNAL: the
 * client may have disconnected; SIGPIPE keeps its default, so that a client that does not handle it
 * is noticed. */
static void flush(struct fake_conn *c)
{
    const struct timeval next_turn = {0, 0};
    size_t len;

    while (c->fd >= 0 && (len = evbuffer_get_length(c->out)) > 0) {
        ssize_t sent = send(c->fd, evbuffer_pullup(c->out, -1), c->dripping ? 1 : len,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EAGAIN) {
            event_add(c->writable, NULL);
            return;
        }
        if (sent < 0) {
            forget_socket(c);
            return;
        }
        c->host->n_sent += (size_t)sent;
        evbuffer_drain(c->out, (size_t)sent);
        if (c->dripping && evbuffer_get_length(c->out) > 0) {
            event_add(c->next_byte, &next_turn);
            return;
        }
    }
    c->dripping = false;
    if (c->end != FAKE_STAYS) {
        end_now(c);
    }
}

static bool is_asked_for(const struct fake_conn *c, const struct fake_conn *by)
{
    long long id = by->session.kill_id;

    return id == MODEL_KILL_OTHERS ? c != by : c->session.id == id;
}

static void kill_asked_for(struct fake_conn *c)
{
    struct fake_host *host = c->host;
    size_t i;

    for (i = 0; i < host->n_conns && c->session.kill_id != 0; i++) {
        if (is_asked_for(host->conns[i], c)) {
            fake_conn_end(host->conns[i], FAKE_CLOSES);
        }
    }
    c->session.kill_id = 0;
}

static void obey_model(struct fake_conn *c, const struct resp_request *request, int replies)
{
    struct evbuffer *reply = evbuffer_new();

    model_run(&c->host->model, &c->session, request, reply);
    while (replies-- > 0) {
        evbuffer_add(c->out, evbuffer_pullup(reply, -1), evbuffer_get_length(reply));
    }
    evbuffer_free(reply);
    kill_asked_for(c);
}

static void obey_rule(struct fake_conn *c, const struct resp_request *request,
                      const struct fake_rule *rule)
{
    switch (rule->how) {
    case FAKE_REPLY:
    case FAKE_REPLY_CLOSE:
    case FAKE_REPLY_RESET:
        evbuffer_add(c->out, rule->bytes, rule->len);
        c->end = rule->how == FAKE_REPLY         ? FAKE_STAYS
                 : rule->how == FAKE_REPLY_CLOSE ? FAKE_CLOSES
                                                 : FAKE_RESETS;
        break;
    case FAKE_DO_CLOSE:
        obey_model(c, request, 0);
        c->end = FAKE_CLOSES;
        break;
    case FAKE_DRIP:
        c->dripping = true;
        obey_model(c, request, 1);
        break;
    case FAKE_TWICE:
        obey_model(c, request, 2);
        break;
    case FAKE_MUTE:
        break;
    case FAKE_STALL:
        c->stalled = true;
        break;
    case FAKE_MODEL:
        obey_model(c, request, 1);
        break;
    }
}

/* Commands of a client that disconnected are carried out as well: Redis has their bytes. */
static void do_what_waits(struct fake_conn *c)
{
    while (c->n_done < c->log.n && c->end == FAKE_STAYS && !c->stalled && !c->host->paused) {
        const struct fake_entry *entry = &c->log.entries[c->n_done];
        struct fake_rule *rule = fake_rules_find(&c->host->rules, entry->text);

        if (!rule) {
            obey_model(c, &entry->request, 1);
        } else {
            obey_rule(c, &entry->request, rule);
            fake_rules_used(&c->host->rules, rule);
        }
        c->n_done += !c->stalled;
    }
    flush(c);
}

static void take_requests(struct fake_conn *c)
{
    struct resp_request request;
    enum resp_taken taken;

    while ((taken = resp_take(c->in, &request)) == RESP_ONE) {
        fake_log_add(&c->log, &request);
    }
    if (taken == RESP_BAD) {
        c->host->n_bad++;
        evbuffer_drain(c->in, evbuffer_get_length(c->in));
        resp_put_error(c->out, "ERR Protocol error");
        c->end = FAKE_CLOSES;
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct fake_conn *c = arg;
    char bytes[16384];
    ssize_t got;

    (void)what;
    while ((got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
        c->host->n_received += (size_t)got;
        evbuffer_add(c->in, bytes, (size_t)got);
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
    flush((struct fake_conn *)((char *)s - offsetof(struct fake_conn, session)));
}

struct fake_conn *fake_conn_new(struct fake_host *host, int fd)
{
    static long long last_id = 100;
    struct fake_conn *c = calloc(1, sizeof(*c));

    c->host = host;
    c->fd = fd;
    c->in = evbuffer_new();
    c->out = evbuffer_new();
    c->session.id = ++last_id;
    c->readable = event_new(host->base, fd, EV_READ | EV_PERSIST, on_readable, c);
    c->writable = event_new(host->base, fd, EV_WRITE, on_writable, c);
    c->next_byte = event_new(host->base, -1, 0, on_writable, c);
    event_add(c->readable, NULL);
    model_session_join(&host->model, &c->session, c->out, on_pushed);
    host->conns = realloc(host->conns, (host->n_conns + 1) * sizeof(struct fake_conn *));
    host->conns[host->n_conns++] = c;
    return c;
}

void fake_conn_free(struct fake_conn *c)
{
    forget_socket(c);
    event_free(c->readable);
    event_free(c->writable);
    event_free(c->next_byte);
    evbuffer_free(c->in);
    evbuffer_free(c->out);
    fake_log_free(&c->log);
    free(c);
}

void fake_conn_say(struct fake_conn *c, const char *bytes, size_t len)
{
    evbuffer_add(c->out, bytes, len);
    flush(c);
}

void fake_conn_end(struct fake_conn *c, enum fake_end how)
{
    c->end = how;
    if (evbuffer_get_length(c->out) == 0) {
        end_now(c);
    }
}

/* The command at which the connection stalled is carried out as Redis would, whatever the rules are
 * now. */
void fake_conn_go_on(struct fake_conn *c)
{
    if (c->stalled) {
        c->stalled = false;
        obey_model(c, &c->log.entries[c->n_done].request, 1);
        c->n_done++;
    }
    do_what_waits(c);
}
