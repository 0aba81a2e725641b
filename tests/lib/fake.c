/* lib/fake.c - see fake.h. What the rules make of a server (testing/server.h). */
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

#include <event2/buffer.h>

#include "lib/fake_rules.h"
#include "lib/runner.h"
#include "testing/server.h"

struct fake {
    struct server server;
    struct fake_rules rules;
    enum fake_where where;
    int port;
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    char uri[160];
    int reserved; /* a TCP socket that keeps the port while it does not listen; -1: none */
    enum fake_how greets_how;
    char *greeting;
};

static void must(bool worked, const char *what)
{
    if (!worked) {
        ck_abort_msg("the fake server: %s: %s", what, strerror(errno));
    }
}

static struct fake *fake_of(const struct server_conn *c)
{
    return (struct fake *)((char *)c->server - offsetof(struct fake, server));
}

static enum server_end end_of(enum fake_how how)
{
    return how == FAKE_REPLY_CLOSE   ? SERVER_CLOSES
           : how == FAKE_REPLY_RESET ? SERVER_RESETS
                                     : SERVER_STAYS;
}

static void greet(struct server_conn *c)
{
    const struct fake *f = fake_of(c);

    if (f->greets_how != FAKE_MODEL) {
        c->end = end_of(f->greets_how);
        rlk_testing_server_conn_say(c, f->greeting, strlen(f->greeting));
    }
}

static void obey_rule(struct server_conn *c, const struct resp_request *request,
                      const struct fake_rule *rule)
{
    switch (rule->how) {
    case FAKE_REPLY:
    case FAKE_REPLY_CLOSE:
    case FAKE_REPLY_RESET:
        evbuffer_add(c->out, rule->bytes, rule->len);
        c->end = end_of(rule->how);
        break;
    case FAKE_DO_CLOSE:
        rlk_testing_server_conn_obey(c, request, 0);
        c->end = SERVER_CLOSES;
        break;
    case FAKE_DRIP:
        c->dripping = true;
        rlk_testing_server_conn_obey(c, request, 1);
        break;
    case FAKE_TWICE:
        rlk_testing_server_conn_obey(c, request, 2);
        break;
    case FAKE_MUTE:
        break;
    case FAKE_STALL:
        c->stalled = true;
        break;
    case FAKE_MODEL:
        rlk_testing_server_conn_obey(c, request, 1);
        break;
    }
}

static void obey(struct server_conn *c, const struct server_entry *entry)
{
    struct fake_rules *rules = &fake_of(c)->rules;
    struct fake_rule *rule = fake_rules_find(rules, entry->text);

    if (!rule) {
        rlk_testing_server_conn_obey(c, &entry->request, 1);
    } else {
        obey_rule(c, &entry->request, rule);
        fake_rules_used(rules, rule);
    }
}

static void bind_tcp(struct fake *f)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof(name);
    int yes = 1;

    f->reserved = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    must(f->reserved >= 0, "socket");
    setsockopt(f->reserved, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    name.sin_port = htons((uint16_t)f->port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(bind(f->reserved, (struct sockaddr *)&name, sizeof(name)) == 0, "bind");
    must(getsockname(f->reserved, (struct sockaddr *)&name, &size) == 0, "getsockname");
    f->port = ntohs(name.sin_port);
}

static void start_listening(struct fake *f)
{
    if (f->where == FAKE_UNIX) {
        must(rlk_testing_server_listen_unix(&f->server, f->path) == 0, "listen");
        return;
    }
    if (f->reserved < 0) {
        bind_tcp(f);
    }
    must(rlk_testing_server_listen(&f->server, f->reserved) == 0, "listen");
    f->reserved = -1;
}

/* Binds a TCP port again at once, without listening, so that no other process gets it. */
static void stop_listening(struct fake *f)
{
    rlk_testing_server_deafen(&f->server);
    if (f->where == FAKE_UNIX) {
        unlink(f->path);
    } else if (f->reserved < 0) {
        bind_tcp(f);
    }
}

struct fake *fake_new(struct event_base *base, enum fake_where where)
{
    static unsigned n;
    struct fake *f = calloc(1, sizeof(*f));

    rlk_testing_server_init(&f->server, base);
    f->server.greet = greet;
    f->server.obey = obey;
    f->where = where;
    f->reserved = -1;
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
    if (!f) {
        return;
    }
    rlk_testing_server_free(&f->server);
    if (f->where == FAKE_UNIX) {
        unlink(f->path);
    }
    if (f->reserved >= 0) {
        close(f->reserved);
    }
    fake_rules_clear(&f->rules);
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
    return &f->server.model;
}

void fake_on(struct fake *f, const char *command, enum fake_how how, const char *bytes)
{
    fake_on_next(f, 0, command, how, bytes, bytes ? strlen(bytes) : 0);
}

void fake_on_next(struct fake *f, unsigned times, const char *command, enum fake_how how,
                  const char *bytes, size_t len)
{
    fake_rules_add(&f->rules, times, command, how, bytes, len);
}

void fake_on_connect(struct fake *f, enum fake_how how, const char *bytes)
{
    free(f->greeting);
    f->greets_how = how;
    f->greeting = strdup(bytes ? bytes : "");
}

void fake_behave(struct fake *f)
{
    fake_rules_clear(&f->rules);
    fake_on_connect(f, FAKE_MODEL, NULL);
}

void fake_pause(struct fake *f)
{
    rlk_testing_server_pause(&f->server);
}

void fake_go_on(struct fake *f)
{
    rlk_testing_server_go_on(&f->server);
}

void fake_say(struct fake *f, const char *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < f->server.n_conns; i++) {
        if (f->server.conns[i]->fd >= 0) {
            rlk_testing_server_conn_say(f->server.conns[i], bytes, len);
        }
    }
}

void fake_say_on(struct fake *f, size_t conn, const char *bytes, size_t len)
{
    if (fake_is_open(f, conn)) {
        rlk_testing_server_conn_say(f->server.conns[conn], bytes, len);
    }
}

void fake_hang_up(struct fake *f)
{
    rlk_testing_server_end_all(&f->server, SERVER_CLOSES);
}

void fake_reset(struct fake *f)
{
    rlk_testing_server_end_all(&f->server, SERVER_RESETS);
}

void fake_hang_up_on(struct fake *f, size_t conn)
{
    ck_assert_uint_lt(conn, f->server.n_conns);
    rlk_testing_server_conn_end(f->server.conns[conn], SERVER_CLOSES);
}

void fake_down(struct fake *f)
{
    stop_listening(f);
    rlk_testing_server_end_all(&f->server, SERVER_CLOSES);
}

void fake_up(struct fake *f)
{
    start_listening(f);
}

size_t fake_n_conns(const struct fake *f)
{
    return f->server.n_conns;
}

size_t fake_n_open(const struct fake *f)
{
    size_t n = 0;
    size_t i;

    for (i = 0; i < f->server.n_conns; i++) {
        n += f->server.conns[i]->fd >= 0;
    }
    return n;
}

static const struct server_log *log_of(const struct fake *f, size_t conn)
{
    ck_assert_uint_lt(conn, f->server.n_conns);
    return &f->server.conns[conn]->log;
}

bool fake_is_open(const struct fake *f, size_t conn)
{
    return conn < f->server.n_conns && f->server.conns[conn]->fd >= 0;
}

size_t fake_n_commands(const struct fake *f, size_t conn)
{
    return log_of(f, conn)->n;
}

const struct resp_request *fake_request(const struct fake *f, size_t conn, size_t at)
{
    const struct server_log *log = log_of(f, conn);

    ck_assert_uint_lt(at, log->n);
    return &log->entries[at].request;
}

const char *fake_text(const struct fake *f, size_t conn, size_t at)
{
    const struct server_log *log = log_of(f, conn);

    ck_assert_uint_lt(at, log->n);
    return log->entries[at].text;
}

size_t fake_count(const struct fake *f, const char *command)
{
    size_t n = 0;
    size_t i;

    for (i = 0; i < f->server.n_conns; i++) {
        n += rlk_testing_server_log_count(&f->server.conns[i]->log, command);
    }
    return n;
}

long fake_find(const struct fake *f, size_t conn, size_t from, const char *command)
{
    return rlk_testing_server_log_find(log_of(f, conn), from, command);
}

size_t fake_n_received(const struct fake *f)
{
    return f->server.n_received;
}

size_t fake_n_sent(const struct fake *f)
{
    return f->server.n_sent;
}

size_t fake_n_bad(const struct fake *f)
{
    return f->server.n_bad;
}
