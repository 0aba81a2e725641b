/* reply.c - replies, with headers that let a browser do no more than the page needs; and a table of
 * streams. A stream ends when its client does, or when it does not read.
 */
#include "cli/http/reply.h"

#include <stdio.h>
#include <stdlib.h>

#include <sys/time.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>

/* Scripts and styles come from files of ours, never from inside a page. */
static const char *const always[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
};

static void add_headers(struct evhttp_request *request, const char *type)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    size_t i;

    evhttp_add_header(headers, "Content-Type", type);
    for (i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        evhttp_add_header(headers, always[i][0], always[i][1]);
    }
}

void cli_reply_send(struct evhttp_request *request, int code, const char *type,
                    struct evbuffer *body)
{
    char length[24];

    add_headers(request, type);
    snprintf(length, sizeof(length), "%zu", body ? evbuffer_get_length(body) : 0);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Length", length);
    evhttp_send_reply(request, code, NULL,
                      evhttp_request_get_command(request) == EVHTTP_REQ_HEAD ? NULL : body);
}

void cli_reply_refuse(struct evhttp_request *request, int code, const char *text)
{
    struct evbuffer *body = evbuffer_new();

    if (body) {
        evbuffer_add_printf(body, "%s\n", text);
    }
    cli_reply_send(request, code, "text/plain; charset=utf-8", body);
    if (body) {
        evbuffer_free(body);
    }
}

/* ---- streams ---- */

/* A client with this many unread bytes does not read. */
#define MAX_UNREAD (1U << 20)

/* A stream is idle between two events, and a client never sends more: only writing has a limit. */
static const struct timeval write_timeout = {20, 0};

struct cli_stream {
    struct cli_streams *streams;
    struct evhttp_request *request;
    size_t place;
};

static void forget_stream(struct cli_stream *stream)
{
    stream->streams->all[stream->place] = NULL;
    stream->streams->n--;
    free(stream);
}

/* evhttp frees a request together with its connection. But if the connection fails while a reply
 * without an end is being sent, the request is ours to free. */
static void on_closed(struct evhttp_connection *connection, void *arg)
{
    struct cli_stream *stream = arg;
    struct evhttp_request *request = stream->request;

    (void)connection;
    forget_stream(stream);
    if (evhttp_request_get_connection(request) == NULL) {
        evhttp_request_free(request);
    }
}

static struct cli_stream *add_stream(struct cli_streams *streams, struct evhttp_request *request)
{
    struct cli_stream *stream = NULL;
    size_t i = 0;

    while (i < CLI_STREAMS_MAX && streams->all[i]) {
        i++;
    }
    if (i < CLI_STREAMS_MAX) {
        stream = malloc(sizeof(*stream));
    }
    if (stream) {
        *stream = (struct cli_stream){streams, request, i};
        streams->all[i] = stream;
        streams->n++;
    }
    return stream;
}

int cli_streams_begin(struct cli_streams *streams, struct evhttp_request *request, const char *type,
                      struct evbuffer *first)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    struct cli_stream *stream = add_stream(streams, request);

    if (stream == NULL) {
        return -1;
    }
    evhttp_connection_set_closecb(connection, on_closed, stream);
    bufferevent_set_timeouts(evhttp_connection_get_bufferevent(connection), NULL, &write_timeout);
    add_headers(request, type);
    evhttp_send_reply_start(request, HTTP_OK, NULL);
    evhttp_send_reply_chunk(request, first);
    return 0;
}

static struct evhttp_connection *connection_of(const struct cli_stream *stream)
{
    return evhttp_request_get_connection(stream->request);
}

static void end_stream(struct cli_stream *stream)
{
    struct evhttp_connection *connection = connection_of(stream);

    evhttp_connection_set_closecb(connection, NULL, NULL);
    forget_stream(stream);
    evhttp_connection_free(connection);
}

static size_t unread(const struct cli_stream *stream)
{
    struct bufferevent *bev = evhttp_connection_get_bufferevent(connection_of(stream));

    return evbuffer_get_length(bufferevent_get_output(bev));
}

static void send_chunk(struct cli_stream *stream, const char *data, size_t length)
{
    struct evbuffer *chunk = unread(stream) <= MAX_UNREAD ? evbuffer_new() : NULL;

    if (chunk && evbuffer_add(chunk, data, length) == 0) {
        evhttp_send_reply_chunk(stream->request, chunk);
    } else {
        end_stream(stream);
    }
    if (chunk) {
        evbuffer_free(chunk);
    }
}

void cli_streams_send(struct cli_streams *streams, const char *data, size_t length)
{
    size_t i;

    for (i = 0; i < CLI_STREAMS_MAX; i++) {
        if (streams->all[i]) {
            send_chunk(streams->all[i], data, length);
        }
    }
}

void cli_streams_end(struct cli_streams *streams)
{
    size_t i;

    for (i = 0; i < CLI_STREAMS_MAX; i++) {
        if (streams->all[i]) {
            end_stream(streams->all[i]);
        }
    }
}
