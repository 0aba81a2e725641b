/* clients.h - the connections of a server on which a request may still come.
 *
 * evhttp limits only the silence between two bytes. Here a client has ten seconds for a whole
 * request, counted from its connection or from its last request; and when there are too many
 * clients, the one that has waited longest has to go. So clients that send nothing, or a byte now
 * and then, never keep others out.
 */
#ifndef CLI_HTTP_CLIENTS_H
#define CLI_HTTP_CLIENTS_H

#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>

struct bufferevent;
struct event;
struct event_base;
struct evhttp_request;

#define CLI_CLIENTS_MAX 100

/* A file and its peer: as long as both are the same, it is the same connection. */
struct cli_client {
    int fd;
    struct sockaddr_in6 peer; /* or an IPv4 address, which is shorter */
    uint64_t since_us;
};

struct cli_clients {
    struct cli_client all[CLI_CLIENTS_MAX];
    size_t n;
    struct bufferevent *new_one; /* accepted in this turn of the loop: it gets its file later */
    struct event *accepted, *tick;
};

/* Returns 0; -1 when out of memory. In both cases the caller calls cli_clients_end(). */
int cli_clients_begin(struct cli_clients *clients, struct event_base *base);

/* A connection was accepted, and will get this bufferevent. */
void cli_clients_add(struct cli_clients *clients, struct bufferevent *bev);

/* A request has come: the client's time begins anew; or it is a stream now, which has its own
 * limits. */
void cli_clients_asked(struct cli_clients *clients, struct evhttp_request *request);
void cli_clients_release(struct cli_clients *clients, struct evhttp_request *request);

void cli_clients_end(struct cli_clients *clients);

#endif
