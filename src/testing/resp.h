/* testing/resp.h - the small part of the Redis protocol that a fake server needs: it parses
 * requests and writes replies. It is independent of hiredis, so that the two can disagree. */
#ifndef RLK_TESTING_RESP_H
#define RLK_TESTING_RESP_H

#include <stdbool.h>
#include <stddef.h>

struct evbuffer;

/* One command: its words, each with its length and a terminating NUL. */
struct resp_request {
    size_t argc;
    char **argv;
    size_t *len;
};

enum resp_taken {
    RESP_MORE, /* not a whole request yet */
    RESP_ONE,  /* one was taken from the buffer */
    RESP_BAD   /* no client may send this, or there was not enough memory */
};

/* Take one request, an array of bulk strings, from the front of the buffer. */
enum resp_taken rlk_resp_take(struct evbuffer *in, struct resp_request *ret_request);

void rlk_resp_free(struct resp_request *request);

/* The words, separated by spaces, with unprintable bytes as '?'. The caller frees the text. NULL:
 * out of memory. */
char *rlk_resp_text(const struct resp_request *request);

/* Whether word `at` exists and equals `word`, ignoring case. */
bool rlk_resp_is(const struct resp_request *request, size_t at, const char *word);

/* Append a part of a reply. When out of memory it is left out, as rlk_testing_memory_failed() then
 * says.
 */
void rlk_resp_put_status(struct evbuffer *out, const char *text);
void rlk_resp_put_error(struct evbuffer *out, const char *text);
void rlk_resp_put_int(struct evbuffer *out, long long value);
void rlk_resp_put_bulk(struct evbuffer *out, const char *bytes, size_t len);
void rlk_resp_put_text(struct evbuffer *out, const char *text);
void rlk_resp_put_nil(struct evbuffer *out);
void rlk_resp_put_array(struct evbuffer *out, size_t n);

#endif
