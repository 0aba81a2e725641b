/* clients.c - a table of connections.
 *
 * evhttp does not say when it closes a connection. So an entry has the file and the address of the
 * client, and is dropped when the file has no such peer any more. A connection is ended by
 * shutdown(2): evhttp reads the end, and closes the file.
 */
#include "cli/http/clients.h"

#include <stdbool.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/time.h>

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>

#include "cli/system/clock.h"
#include "cli/system/loop.h"

#define REQUEST_US UINT64_C(10000000)

static const struct timeval second = {1, 0};

static struct sockaddr_in6 peer_of(int fd)
{
    struct sockaddr_in6 peer;
    socklen_t length = sizeof(peer);

    memset(&peer, 0, sizeof(peer));
    if (getpeername(fd, (struct sockaddr *)&peer, &length) != 0) {
        memset(&peer, 0, sizeof(peer));
    }
    return peer;
}

static bool is_there(const struct cli_client *client)
{
    struct sockaddr_in6 peer = peer_of(client->fd);

    return memcmp(&peer, &client->peer, sizeof(peer)) == 0;
}

static void drop(struct cli_clients *clients, size_t i)
{
    clients->all[i] = clients->all[--clients->n];
    if (clients->n == 0) {
        event_del(clients->tick);
    }
}

static void disconnect(struct cli_clients *clients, size_t i)
{
    shutdown(clients->all[i].fd, SHUT_RDWR);
    drop(clients, i);
}

static void drop_closed(struct cli_clients *clients)
{
    size_t i;

    for (i = clients->n; i-- > 0;) {
        if (!is_there(&clients->all[i])) {
            drop(clients, i);
        }
    }
}

static size_t oldest(const struct cli_clients *clients)
{
    size_t i, best = 0;

    for (i = 1; i < clients->n; i++) {
        if (clients->all[i].since_us < clients->all[best].since_us) {
            best = i;
        }
    }
    return best;
}

static void enter(struct cli_clients *clients, int fd)
{
    if (clients->n == CLI_CLIENTS_MAX) {
        drop_closed(clients);
    }
    if (clients->n == CLI_CLIENTS_MAX) {
        disconnect(clients, oldest(clients));
    }
    if (clients->n == 0) {
        event_add(clients->tick, &second);
    }
    clients->all[clients->n++] = (struct cli_client){fd, peer_of(fd), cli_clock_us()};
}

/* It has its file now. */
static void settle(struct cli_clients *clients)
{
    struct bufferevent *bev = clients->new_one;
    int fd = bev ? bufferevent_getfd(bev) : -1;

    clients->new_one = NULL;
    if (fd >= 0) {
        enter(clients, fd);
    }
    if (bev) {
        bufferevent_decref(bev);
    }
}

static void on_accepted(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    settle(arg);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct cli_clients *clients = arg;
    uint64_t now_us = cli_clock_us();
    size_t i;

    (void)fd;
    (void)what;
    drop_closed(clients);
    for (i = clients->n; i-- > 0;) {
        if (now_us - clients->all[i].since_us >= REQUEST_US) {
            disconnect(clients, i);
        }
    }
}

int cli_clients_begin(struct cli_clients *clients, struct event_base *base)
{
    memset(clients, 0, sizeof(*clients));
    clients->accepted = event_new(base, -1, 0, on_accepted, clients);
    clients->tick = event_new(base, -1, EV_PERSIST, on_tick, clients);
    if (clients->accepted == NULL || clients->tick == NULL ||
        event_priority_set(clients->accepted, CLI_LOOP_URGENT) != 0 ||
        event_priority_set(clients->tick, CLI_LOOP_LAST) != 0) {
        return -1;
    }
    return 0;
}

/* A turn of the loop may accept several. */
void cli_clients_add(struct cli_clients *clients, struct bufferevent *bev)
{
    settle(clients);
    bufferevent_incref(bev);
    clients->new_one = bev;
    event_active(clients->accepted, EV_TIMEOUT, 0);
}

static struct cli_client *find_client(struct cli_clients *clients, struct evhttp_request *request)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
    size_t i;

    for (i = 0; i < clients->n; i++) {
        if (clients->all[i].fd == fd && is_there(&clients->all[i])) {
            return &clients->all[i];
        }
    }
    return NULL;
}

void cli_clients_asked(struct cli_clients *clients, struct evhttp_request *request)
{
    struct cli_client *client = find_client(clients, request);

    if (client) {
        client->since_us = cli_clock_us();
    }
}

void cli_clients_release(struct cli_clients *clients, struct evhttp_request *request)
{
    struct cli_client *client = find_client(clients, request);

    if (client) {
        drop(clients, (size_t)(client - clients->all));
    }
}

void cli_clients_end(struct cli_clients *clients)
{
    settle(clients);
    cli_event_free(clients->accepted);
    cli_event_free(clients->tick);
}
