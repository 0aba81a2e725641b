/* testing/server.c - see server.h. The listening socket; the rest is in server_conn.c. */
#include "testing/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#include "testing/memory.h"

void rlk_testing_server_init(struct server *s, struct event_base *base)
{
    memset(s, 0, sizeof(*s));
    s->base = base;
    s->fd = -1;
    s->last_id = 100;
    rlk_model_init(&s->model);
}

void rlk_testing_server_free(struct server *s)
{
    size_t i;

    for (i = 0; i < s->n_conns; i++) {
        rlk_testing_server_conn_free(s->conns[i]);
    }
    rlk_testing_server_deafen(s);
    rlk_model_free(&s->model);
    free(s->conns);
}

static void free_ended(struct server *s)
{
    size_t i, n = 0;

    for (i = 0; i < s->n_conns; i++) {
        if (s->conns[i]->fd < 0) {
            rlk_testing_server_conn_free(s->conns[i]);
        } else {
            s->conns[n++] = s->conns[i];
        }
    }
    s->n_conns = n;
}

static void accept_one(struct server *s, int fd)
{
    struct server_conn *c = rlk_testing_server_conn_new(s, fd);

    if (c && s->greet) {
        s->greet(c);
    }
}

static void on_acceptable(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    int conn;

    (void)what;
    if (s->forgets) {
        free_ended(s);
    }
    while ((conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        accept_one(s, conn);
    }
}

int rlk_testing_server_listen(struct server *s, int fd)
{
    struct event *acceptable;

    if (listen(fd, 128) < 0) {
        return -1;
    }
    acceptable = event_new(s->base, fd, EV_READ | EV_PERSIST, on_acceptable, s);
    if (!acceptable || (!s->paused && event_add(acceptable, NULL) < 0)) {
        if (acceptable) {
            event_free(acceptable);
        }
        errno = ENOMEM;
        return -1;
    }
    s->acceptable = acceptable;
    s->fd = fd;
    return 0;
}

static int bind_unix(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof(name.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(name.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int rlk_testing_server_listen_unix(struct server *s, const char *path)
{
    int fd = bind_unix(path), why;

    if (fd >= 0 && rlk_testing_server_listen(s, fd) < 0) {
        why = errno;
        close(fd);
        unlink(path);
        errno = why;
        return -1;
    }
    return fd < 0 ? -1 : 0;
}

void rlk_testing_server_deafen(struct server *s)
{
    if (s->acceptable) {
        event_free(s->acceptable);
        s->acceptable = NULL;
    }
    if (s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
    }
}

void rlk_testing_server_pause(struct server *s)
{
    s->paused = true;
    if (s->acceptable) {
        event_del(s->acceptable);
    }
}

void rlk_testing_server_go_on(struct server *s)
{
    size_t i;

    s->paused = false;
    if (s->acceptable) {
        event_add(s->acceptable, NULL);
    }
    for (i = 0; i < s->n_conns; i++) {
        rlk_testing_server_conn_go_on(s->conns[i]);
    }
}

void rlk_testing_server_end_all(struct server *s, enum server_end how)
{
    size_t i;

    for (i = 0; i < s->n_conns; i++) {
        rlk_testing_server_conn_end(s->conns[i], how);
    }
}
