/* lib/fake.c - see fake.h. The listening socket; the rest is in fake_conn.c. */
#include "lib/fake.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#include "lib/fake_conn.h"
#include "lib/runner.h"

struct fake {
    struct fake_host host;
    enum fake_where where;
    int port;
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    char uri[160];
    int fd;
    struct event *acceptable;
    enum fake_how greets_how;
    char *greeting;
};

static void must(bool worked, const char *what)
{
    if (!worked) {
        ck_abort_msg("the fake server: %s: %s", what, strerror(errno));
    }
}

static void greet(struct fake *f, struct fake_conn *c)
{
    if (f->greets_how == FAKE_MODEL) {
        return;
    }
    if (f->greets_how == FAKE_REPLY_CLOSE) {
        c->end = FAKE_CLOSES;
    } else if (f->greets_how == FAKE_REPLY_RESET) {
        c->end = FAKE_RESETS;
    }
    fake_conn_say(c, f->greeting, strlen(f->greeting));
}

static void on_acceptable(evutil_socket_t fd, short what, void *arg)
{
    struct fake *f = arg;
    int conn;

    (void)what;
    while ((conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        greet(f, fake_conn_new(&f->host, conn));
    }
}

static void bind_unix(struct fake *f)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    f->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    must(f->fd >= 0, "socket");
    memcpy(name.sun_path, f->path, sizeof(f->path));
    must(bind(f->fd, (struct sockaddr *)&name, sizeof(name)) == 0, "bind");
}

static void bind_tcp(struct fake *f)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof(name);
    int yes = 1;

    f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    must(f->fd >= 0, "socket");
    setsockopt(f->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    name.sin_port = htons((uint16_t)f->port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(bind(f->fd, (struct sockaddr *)&name, sizeof(name)) == 0, "bind");
    must(getsockname(f->fd, (struct sockaddr *)&name, &size) == 0, "getsockname");
    f->port = ntohs(name.sin_port);
}

static void start_listening(struct fake *f)
{
    if (f->where == FAKE_UNIX) {
        bind_unix(f);
    } else if (f->fd < 0) {
        bind_tcp(f);
    }
    must(listen(f->fd, 128) == 0, "listen");
    f->acceptable = event_new(f->host.base, f->fd, EV_READ | EV_PERSIST, on_acceptable, f);
    event_add(f->acceptable, NULL);
}

/* Binds a TCP port again at once, without listening, so that no other process gets it. */
static void stop_listening(struct fake *f)
{
    if (f->acceptable) {
        event_free(f->acceptable);
        f->acceptable = NULL;
    }
    if (f->fd >= 0) {
        close(f->fd);
        f->fd = -1;
    }
    if (f->where == FAKE_UNIX) {
        unlink(f->path);
    } else {
        bind_tcp(f);
    }
}

struct fake *fake_new(struct event_base *base, enum fake_where where)
{
    static unsigned n;
    struct fake *f = calloc(1, sizeof(*f));

    f->host.base = base;
    f->where = where;
    f->fd = -1;
    model_init(&f->host.model);
    if (where == FAKE_UNIX) {
        snprintf(f->path, sizeof(f->path), "%s/f%d-%u", rlk_test_folder(), (int)getpid(), n++);
        start_listening(f);
        snprintf(f->uri, sizeof(f->uri), "unix://%s", f->path);
    } else {
        start_listening(f);
        snprintf(f->uri, sizeof(f->uri), "redis://127.0.0.1:%d", f->port);
    }
    return f;
}

void fake_free(struct fake *f)
{
    size_t i;

    if (!f) {
        return;
    }
    for (i = 0; i < f->host.n_conns; i++) {
        fake_conn_free(f->host.conns[i]);
    }
    stop_listening(f);
    if (f->fd >= 0) {
        close(f->fd);
    }
    fake_rules_clear(&f->host.rules);
    model_free(&f->host.model);
    free(f->host.conns);
    free(f->greeting);
    free(f);
}

const char *fake_uri(const struct fake *f)
{
    return f->uri;
}

const char *fake_path(const struct fake *f)
{
    return f->where == FAKE_UNIX ? f->path : NULL;
}

int fake_port(const struct fake *f)
{
    return f->port;
}

struct model *fake_model(struct fake *f)
{
    return &f->host.model;
}

void fake_on(struct fake *f, const char *command, enum fake_how how, const char *bytes)
{
    fake_on_next(f, 0, command, how, bytes, bytes ? strlen(bytes) : 0);
}

void fake_on_next(struct fake *f, unsigned times, const char *command, enum fake_how how,
                  const char *bytes, size_t len)
{
    fake_rules_add(&f->host.rules, times, command, how, bytes, len);
}

void fake_on_connect(struct fake *f, enum fake_how how, const char *bytes)
{
    free(f->greeting);
    f->greets_how = how;
    f->greeting = strdup(bytes ? bytes : "");
}

void fake_behave(struct fake *f)
{
    fake_rules_clear(&f->host.rules);
    fake_on_connect(f, FAKE_MODEL, NULL);
}

void fake_pause(struct fake *f)
{
    f->host.paused = true;
    event_del(f->acceptable);
}

void fake_go_on(struct fake *f)
{
    size_t i;

    f->host.paused = false;
    if (f->acceptable) {
        event_add(f->acceptable, NULL);
    }
    for (i = 0; i < f->host.n_conns; i++) {
        fake_conn_go_on(f->host.conns[i]);
    }
}

void fake_say(struct fake *f, const char *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < f->host.n_conns; i++) {
        if (f->host.conns[i]->fd >= 0) {
            fake_conn_say(f->host.conns[i], bytes, len);
        }
    }
}

void fake_say_on(struct fake *f, size_t conn, const char *bytes, size_t len)
{
    if (fake_is_open(f, conn)) {
        fake_conn_say(f->host.conns[conn], bytes, len);
    }
}

static void end_all(struct fake *f, enum fake_end how)
{
    size_t i;

    for (i = 0; i < f->host.n_conns; i++) {
        fake_conn_end(f->host.conns[i], how);
    }
}

void fake_hang_up(struct fake *f)
{
    end_all(f, FAKE_CLOSES);
}

void fake_reset(struct fake *f)
{
    end_all(f, FAKE_RESETS);
}

void fake_hang_up_on(struct fake *f, size_t conn)
{
    ck_assert_uint_lt(conn, f->host.n_conns);
    fake_conn_end(f->host.conns[conn], FAKE_CLOSES);
}

void fake_down(struct fake *f)
{
    stop_listening(f);
    end_all(f, FAKE_CLOSES);
}

void fake_up(struct fake *f)
{
    start_listening(f);
}

size_t fake_n_conns(const struct fake *f)
{
    return f->host.n_conns;
}

size_t fake_n_open(const struct fake *f)
{
    size_t n = 0;
    size_t i;

    for (i = 0; i < f->host.n_conns; i++) {
        n += f->host.conns[i]->fd >= 0;
    }
    return n;
}

static const struct fake_log *log_of(const struct fake *f, size_t conn)
{
    ck_assert_uint_lt(conn, f->host.n_conns);
    return &f->host.conns[conn]->log;
}

bool fake_is_open(const struct fake *f, size_t conn)
{
    return conn < f->host.n_conns && f->host.conns[conn]->fd >= 0;
}

size_t fake_n_commands(const struct fake *f, size_t conn)
{
    return log_of(f, conn)->n;
}

const struct resp_request *fake_request(const struct fake *f, size_t conn, size_t at)
{
    const struct fake_log *log = log_of(f, conn);

    ck_assert_uint_lt(at, log->n);
    return &log->entries[at].request;
}

const char *fake_text(const struct fake *f, size_t conn, size_t at)
{
    const struct fake_log *log = log_of(f, conn);

    ck_assert_uint_lt(at, log->n);
    return log->entries[at].text;
}

size_t fake_count(const struct fake *f, const char *command)
{
    size_t n = 0;
    size_t i;

    for (i = 0; i < f->host.n_conns; i++) {
        n += fake_log_count(&f->host.conns[i]->log, command);
    }
    return n;
}

long fake_find(const struct fake *f, size_t conn, size_t from, const char *command)
{
    return fake_log_find(log_of(f, conn), from, command);
}

size_t fake_n_received(const struct fake *f)
{
    return f->host.n_received;
}

size_t fake_n_sent(const struct fake *f)
{
    return f->host.n_sent;
}

size_t fake_n_bad(const struct fake *f)
{
    return f->host.n_bad;
}
