/* lib/resp.h - the small part of the Redis protocol that a fake server needs: it parses requests
 * and writes replies. It is independent of hiredis, so that the two can disagree. */
#ifndef RLK_TESTS_LIB_RESP_H
#define RLK_TESTS_LIB_RESP_H

#include <stdbool.h>
#include <stddef.h>

struct evbuffer;

/* One command: its words, each NUL terminated besides its length. */
struct resp_request {
    size_t argc;
    char **argv;
    size_t *len;
};

enum resp_taken {
    RESP_MORE, /* not a whole request yet */
    RESP_ONE,  /* one was taken from the buffer */
    RESP_BAD   /* no client may send this */
};

/* Take one request, an array of bulk strings, from the front of the buffer. */
enum resp_taken resp_take(struct evbuffer *in, struct resp_request *ret_request);

void resp_free(struct resp_request *request);

/* The words with a space between them, unprintable bytes as '?'. The caller frees it. */
char *resp_text(const struct resp_request *request);

/* Whether word `at` is there and equal to `word`, upper and lower case alike. */
bool resp_is(const struct resp_request *request, size_t at, const char *word);

void resp_put_status(struct evbuffer *out, const char *text);
void resp_put_error(struct evbuffer *out, const char *text);
void resp_put_int(struct evbuffer *out, long long value);
void resp_put_bulk(struct evbuffer *out, const char *bytes, size_t len);
void resp_put_text(struct evbuffer *out, const char *text);
void resp_put_nil(struct evbuffer *out);
void resp_put_array(struct evbuffer *out, size_t n);

#endif
