/* testing/resp.c - see resp.h. */
#include "testing/resp.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/buffer.h>

#include "testing/memory.h"

#define MOST_WORDS 256
#define LONGEST_WORD (1L << 20)

/* Where the parser stands in the bytes at hand. */
struct cursor {
    const char *at;
    const char *end;
};

/* Read "<mark><number>\r\n". */
static enum resp_taken take_number(struct cursor *c, char mark, long most, long *ret)
{
    const char *line_end = memchr(c->at, '\n', (size_t)(c->end - c->at));
    char *stop;

    if (c->at < c->end && *c->at != mark) {
        return RESP_BAD;
    }
    if (!line_end) {
        return c->end - c->at > 32 ? RESP_BAD : RESP_MORE;
    }
    *ret = strtol(c->at + 1, &stop, 10);
    if (stop == c->at + 1 || stop + 1 != line_end || *stop != '\r' || *ret < 0 || *ret > most) {
        return RESP_BAD;
    }
    c->at = line_end + 1;
    return RESP_ONE;
}

static enum resp_taken take_word(struct cursor *c, struct resp_request *request)
{
    long len;
    enum resp_taken taken = take_number(c, '$', LONGEST_WORD, &len);
    char *word;

    if (taken != RESP_ONE) {
        return taken;
    }
    if (c->end - c->at < len + 2) {
        return RESP_MORE;
    }
    if (memcmp(c->at + len, "\r\n", 2) != 0) {
        return RESP_BAD;
    }
    word = rlk_testing_memory_copy(c->at, (size_t)len);
    if (!word) {
        return RESP_BAD;
    }
    request->argv[request->argc] = word;
    request->len[request->argc++] = (size_t)len;
    c->at += len + 2;
    return RESP_ONE;
}

static enum resp_taken take_words(struct cursor *c, struct resp_request *request)
{
    long n;
    enum resp_taken taken = take_number(c, '*', MOST_WORDS, &n);

    if (taken != RESP_ONE) {
        return taken;
    }
    if (n == 0) {
        return RESP_BAD;
    }
    request->argv = rlk_testing_memory_new((size_t)n * sizeof(*request->argv));
    request->len = rlk_testing_memory_new((size_t)n * sizeof(*request->len));
    if (!request->argv || !request->len) {
        return RESP_BAD;
    }
    while (taken == RESP_ONE && request->argc < (size_t)n) {
        taken = take_word(c, request);
    }
    return taken;
}

enum resp_taken rlk_resp_take(struct evbuffer *in, struct resp_request *ret_request)
{
    size_t size = evbuffer_get_length(in);
    struct resp_request request = {0, NULL, NULL};
    struct cursor c;
    const char *start;
    enum resp_taken taken;

    if (size == 0) {
        return RESP_MORE;
    }
    start = (const char *)evbuffer_pullup(in, -1);
    if (!rlk_testing_memory_note(start != NULL)) {
        return RESP_BAD;
    }
    c.at = start;
    c.end = start + size;
    taken = take_words(&c, &request);
    if (taken != RESP_ONE) {
        rlk_resp_free(&request);
        return taken;
    }
    evbuffer_drain(in, (size_t)(c.at - start));
    *ret_request = request;
    return RESP_ONE;
}

void rlk_resp_free(struct resp_request *request)
{
    while (request->argc > 0) {
        free(request->argv[--request->argc]);
    }
    free(request->argv);
    free(request->len);
    request->argv = NULL;
    request->len = NULL;
}

char *rlk_resp_text(const struct resp_request *request)
{
    size_t size = 1;
    size_t i;
    char *text;
    char *at;

    for (i = 0; i < request->argc; i++) {
        size += request->len[i] + 1;
    }
    text = at = rlk_testing_memory_new(size);
    if (!text) {
        return NULL;
    }
    for (i = 0; i < request->argc; i++) {
        size_t j;

        for (j = 0; j < request->len[i]; j++) {
            char byte = request->argv[i][j];

            *at++ = byte >= ' ' && byte < 127 ? byte : '?';
        }
        *at++ = i + 1 < request->argc ? ' ' : '\0';
    }
    return text;
}

bool rlk_resp_is(const struct resp_request *request, size_t at, const char *word)
{
    return at < request->argc && request->len[at] == strlen(word) &&
           strcasecmp(request->argv[at], word) == 0;
}

void rlk_resp_put_status(struct evbuffer *out, const char *text)
{
    rlk_testing_memory_note(evbuffer_add_printf(out, "+%s\r\n", text) >= 0);
}

void rlk_resp_put_error(struct evbuffer *out, const char *text)
{
    rlk_testing_memory_note(evbuffer_add_printf(out, "-%s\r\n", text) >= 0);
}

void rlk_resp_put_int(struct evbuffer *out, long long value)
{
    rlk_testing_memory_note(evbuffer_add_printf(out, ":%lld\r\n", value) >= 0);
}

void rlk_resp_put_bulk(struct evbuffer *out, const char *bytes, size_t len)
{
    rlk_testing_memory_note(evbuffer_add_printf(out, "$%zu\r\n", len) >= 0);
    rlk_testing_memory_note(evbuffer_add(out, bytes, len) == 0);
    rlk_testing_memory_note(evbuffer_add(out, "\r\n", 2) == 0);
}

void rlk_resp_put_text(struct evbuffer *out, const char *text)
{
    rlk_resp_put_bulk(out, text, strlen(text));
}

void rlk_resp_put_nil(struct evbuffer *out)
{
    rlk_testing_memory_note(evbuffer_add(out, "$-1\r\n", 5) == 0);
}

void rlk_resp_put_array(struct evbuffer *out, size_t n)
{
    rlk_testing_memory_note(evbuffer_add_printf(out, "*%zu\r\n", n) >= 0);
}
