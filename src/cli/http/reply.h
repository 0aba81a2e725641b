/* reply.h - the replies of the server, with the headers that each has: one that is sent at once, or
 * a stream, which has no end: all clients get the same.
 */
#ifndef CLI_HTTP_REPLY_H
#define CLI_HTTP_REPLY_H

#include <stddef.h>

struct evbuffer;
struct evhttp_request;

/* The largest number of streams. */
#define CLI_STREAMS_MAX 16

struct cli_streams {
    struct cli_stream *all[CLI_STREAMS_MAX]; /* NULL: free */
    size_t n;
};

/* Send a page, or only its headers to HEAD. */
void cli_reply_send(struct evhttp_request *request, int code, const char *type,
                    struct evbuffer *body);

/* Refuse a request: a line of text that says why. */
void cli_reply_refuse(struct evhttp_request *request, int code, const char *text);

/* ---- streams ---- */

/* Begin a stream with what `first` contains. Returns 0; -1 when there are too many, or out of
 * memory: then nothing was sent. */
int cli_streams_begin(struct cli_streams *streams, struct evhttp_request *request, const char *type,
                      struct evbuffer *first);

/* Send to all. A stream whose client does not read is ended. */
void cli_streams_send(struct cli_streams *streams, const char *data, size_t length);

/* End all. */
void cli_streams_end(struct cli_streams *streams);

#endif
