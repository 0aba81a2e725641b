/* server.c - libevent's evhttp, with limits.
 *
 * evhttp limits the size of a request and how long a client may be silent; clients.c, how long a
 * request may take, and how many clients there are. Many may be accepted in one turn of the loop.
 * Files have the lowest free number, so when a new one would get a high number, no connection is
 * accepted for a moment. Without files the masters could not be connected again.
 */
#include "cli/http/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "cli/http/clients.h"
#include "cli/http/reply.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/loop.h"

#define MAX_HEADERS 16384
#define MAX_BODY 1024
#define MAX_UNPARSED 65536 /* more than the headers and the body */
#define MAX_FILES 256
#define SILENCE_S 10

#define ALL_METHODS                                                                                \
    (EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |     \
     EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE | EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH)

/* How long no connection is accepted when there are too many. */
static const struct timeval full_pause = {0, 200000};

struct cli_http {
    struct cli_http_options options;
    struct evhttp *evhttp;
    struct evconnlistener *listener;
    struct event *again;
    struct cli_clients clients;
    struct cli_streams streams;
    bool asked_here; /* the client of the request that is being answered is on this machine */
};

/* ---- one request ---- */

static const struct cli_http_route *find(const struct cli_http *http, const char *path)
{
    size_t i;

    for (i = 0; path && i < http->options.n_routes; i++) {
        if (strcmp(http->options.routes[i].path, path) == 0) {
            return &http->options.routes[i];
        }
    }
    return NULL;
}

static int write_body(const struct cli_http *http, const struct cli_http_route *route,
                      struct evbuffer *body)
{
    return route->text ? evbuffer_add(body, route->text, strlen(route->text))
                       : route->write(body, http->options.arg);
}

static void answer_request(struct cli_http *http, struct evhttp_request *request,
                           const struct cli_http_route *route)
{
    struct evbuffer *body = evbuffer_new();
    int code = body ? write_body(http, route, body) : -1;

    if (code < 0) {
        cli_reply_refuse(request, HTTP_INTERNAL, "out of memory");
    } else if (!route->stream || evhttp_request_get_command(request) == EVHTTP_REQ_HEAD) {
        cli_reply_send(request, code ? code : HTTP_OK, route->type, body);
    } else if (cli_streams_begin(&http->streams, request, route->type, body) != 0) {
        cli_reply_refuse(request, HTTP_SERVUNAVAIL, "too many streams are open: close some");
    } else {
        cli_clients_release(&http->clients, request);
    }
    if (body) {
        evbuffer_free(body);
    }
}

/* Whether a request is refused whatever it asks for. */
static bool refuse_request(const struct cli_http *http, struct evhttp_request *request)
{
    struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
    const char *host = evhttp_find_header(headers, "Host");

    if (!cli_address_answers(&http->options.names, host)) {
        cli_reply_refuse(request, 421,
                         "this server has no such name: use localhost or its IP address, "
                         "or start it with --host NAME");
    } else if (!cli_address_is_origin(host, evhttp_find_header(headers, "Origin"))) {
        cli_reply_refuse(request, 403, "pages of other sites may not read this");
    } else if (!(evhttp_request_get_command(request) & (EVHTTP_REQ_GET | EVHTTP_REQ_HEAD))) {
        evhttp_add_header(evhttp_request_get_output_headers(request), "Allow", "GET, HEAD");
        cli_reply_refuse(request, HTTP_BADMETHOD, "only GET and HEAD are allowed");
    } else {
        return false;
    }
    return true;
}

static bool is_local(struct evhttp_request *request)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    char *ip = NULL;
    ev_uint16_t port;

    if (connection) {
        evhttp_connection_get_peer(connection, &ip, &port);
    }
    return ip && cli_address_is_loopback(ip);
}

static void on_request(struct evhttp_request *request, void *arg)
{
    struct cli_http *http = arg;
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    const struct cli_http_route *route;

    cli_clients_asked(&http->clients, request);
    if (refuse_request(http, request)) {
        return;
    }
    http->asked_here = is_local(request);
    route = find(http, uri ? evhttp_uri_get_path(uri) : NULL);
    if (route) {
        answer_request(http, request, route);
    } else {
        cli_reply_refuse(request, HTTP_NOTFOUND, "there is no such page");
    }
}

/* ---- connections ---- */

static bool is_full(void)
{
    int fd = dup(STDERR_FILENO);
    bool full = fd < 0 || fd >= MAX_FILES;

    if (fd >= 0) {
        close(fd);
    }
    return full;
}

static void pause_if_full(struct cli_http *http)
{
    if (is_full()) {
        evconnlistener_disable(http->listener);
        event_add(http->again, &full_pause);
    } else {
        evconnlistener_enable(http->listener);
    }
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pause_if_full(arg);
}

static void on_accept_failed(struct evconnlistener *listener, void *arg)
{
    struct cli_http *http = arg;

    evconnlistener_disable(listener);
    event_add(http->again, &full_pause);
}

/* Called for each connection. Bytes that come while a reply is being sent are read up to a limit.
 */
static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
    struct cli_http *http = arg;
    struct bufferevent *bev = bufferevent_socket_new(base, -1, 0);

    if (bev) {
        bufferevent_setwatermark(bev, EV_READ, 0, MAX_UNPARSED);
        bufferevent_priority_set(bev, CLI_LOOP_LAST);
        cli_clients_add(&http->clients, bev);
    }
    pause_if_full(http);
    return bev;
}

/* ---- the server ---- */

static void read_port(struct cli_http *http)
{
    struct sockaddr_storage storage;
    socklen_t length = sizeof(storage);
    int fd = evconnlistener_get_fd(http->listener);

    if (getsockname(fd, (struct sockaddr *)&storage, &length) == 0) {
        http->options.address.port =
            ntohs(http->options.address.v6 ? ((struct sockaddr_in6 *)&storage)->sin6_port
                                           : ((struct sockaddr_in *)&storage)->sin_port);
    }
}

static int start_server(struct cli_http *http, struct event_base *base)
{
    struct evhttp_bound_socket *bound;

    http->evhttp = evhttp_new(base);
    http->again = event_new(base, -1, 0, on_again, http);
    if (cli_clients_begin(&http->clients, base) != 0 || http->evhttp == NULL ||
        http->again == NULL) {
        return -1;
    }
    evhttp_set_allowed_methods(http->evhttp, ALL_METHODS);
    evhttp_set_max_headers_size(http->evhttp, MAX_HEADERS);
    evhttp_set_max_body_size(http->evhttp, MAX_BODY);
    evhttp_set_timeout(http->evhttp, SILENCE_S);
    evhttp_set_bevcb(http->evhttp, on_connection, http);
    evhttp_set_gencb(http->evhttp, on_request, http);
    errno = 0;
    bound = evhttp_bind_socket_with_handle(http->evhttp, http->options.address.ip,
                                           http->options.address.port);
    if (bound == NULL) {
        return -1;
    }
    http->listener = evhttp_bound_socket_get_listener(bound);
    evconnlistener_set_error_cb(http->listener, on_accept_failed);
    read_port(http);
    return 0;
}

static void complain(const struct cli_http_options *options, int error)
{
    const struct cli_address *address = &options->address;

    cli_say("cannot listen on %s%s%s:%d: %s", address->v6 ? "[" : "", address->ip,
            address->v6 ? "]" : "", address->port, strerror(error ? error : ENOMEM));
    if (error == EADDRINUSE) {
        cli_say_more("Another program listens there: end it, or give another port with %s.",
                     options->option);
    } else if (error == EADDRNOTAVAIL) {
        cli_say_more("This machine does not have this address: see `ip address`.");
    } else if (error == EACCES) {
        cli_say_more("Ports below 1024 need rights: give a larger one with %s.", options->option);
    }
}

int cli_http_open(struct event_base *base, const struct cli_http_options *options,
                  struct cli_http **ret_http)
{
    struct cli_http *http = calloc(1, sizeof(*http));

    if (http) {
        http->options = *options;
    }
    if (http == NULL || start_server(http, base) != 0) {
        complain(options, errno);
        cli_http_close(http);
        return CLI_INTERNAL;
    }
    *ret_http = http;
    return CLI_OK;
}

const struct cli_address *cli_http_address(const struct cli_http *http)
{
    return &http->options.address;
}

bool cli_http_is_asked_here(const struct cli_http *http)
{
    return http->asked_here;
}

size_t cli_http_streams(const struct cli_http *http)
{
    return http->streams.n;
}

void cli_http_send(struct cli_http *http, const char *data, size_t length)
{
    cli_streams_send(&http->streams, data, length);
}

void cli_http_close(struct cli_http *http)
{
    if (http == NULL) {
        return;
    }
    cli_streams_end(&http->streams);
    cli_clients_end(&http->clients);
    if (http->evhttp) {
        evhttp_free(http->evhttp);
    }
    cli_event_free(http->again);
    free(http);
}
