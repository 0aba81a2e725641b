/* server.h - a small HTTP server on the loop of a command: pages to read, and streams of events.
 *
 * It answers GET and HEAD, and no request changes anything; but /leader of --metrics makes a
 * promise to this machine, and so may keep a lock for some seconds. Every client may be hostile:
 * requests are small or refused, a client that sends nothing or reads nothing is disconnected, and
 * the number of clients is limited. Its events run after those of the library that are due.
 *
 *     cli_http_open --> (cli_http_send, ...) --> cli_http_close
 */
#ifndef CLI_HTTP_SERVER_H
#define CLI_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/http/address.h"

struct cli_http;
struct event_base;
struct evbuffer;

/* A page. */
struct cli_http_route {
    const char *path;
    const char *type;                               /* its content type */
    const char *text;                               /* the page; NULL: write() writes it */
    int (*write)(struct evbuffer *body, void *arg); /* returns 0, or an HTTP status that is not
                                                       200; -1 when out of memory */
    bool stream; /* the page has no end: cli_http_send() goes on with it */
};

struct cli_http_options {
    struct cli_address address;
    struct cli_address_names names;
    const char *option;                  /* that gives the address, for messages */
    const struct cli_http_route *routes; /* borrowed until the end */
    size_t n_routes;
    void *arg; /* of each write() */
};

/* Listen. Returns CLI_OK, and the caller calls cli_http_close(); or says what is wrong and returns
 * CLI_INTERNAL. */
int cli_http_open(struct event_base *base, const struct cli_http_options *options,
                  struct cli_http **ret_http);

/* Where it listens: the port is the one that the kernel chose. */
const struct cli_address *cli_http_address(const struct cli_http *http);

/* Inside write(): whether the client is on this machine, or in this pod. A proxy there asks for
 * clients that are elsewhere. */
bool cli_http_is_asked_here(const struct cli_http *http);

/* How many streams are open. */
size_t cli_http_streams(const struct cli_http *http);

/* Send the same to all streams. One whose client does not read is ended instead.
 * Not inside write(). */
void cli_http_send(struct cli_http *http, const char *data, size_t length);

/* End all connections. NULL does nothing. */
void cli_http_close(struct cli_http *http);

#endif
