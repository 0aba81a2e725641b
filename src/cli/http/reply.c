/* reply.c - replies, with headers that let a browser do no more than the page needs. */
#include "cli/http/reply.h"

#include <inttypes.h>
#include <stdio.h>

#include <event2/buffer.h>
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

void cli_reply_headers(struct evhttp_request *request, const char *type)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    size_t i;

    evhttp_add_header(headers, "Content-Type", type);
    for (i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        evhttp_add_header(headers, always[i][0], always[i][1]);
    }
}

static void send_reply(struct evhttp_request *request, int code, const char *type,
                       struct evbuffer *body)
{
    char length[24];

    cli_reply_headers(request, type);
    snprintf(length, sizeof(length), "%zu", body ? evbuffer_get_length(body) : 0);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Length", length);
    evhttp_send_reply(request, code, NULL,
                      evhttp_request_get_command(request) == EVHTTP_REQ_HEAD ? NULL : body);
}

void cli_reply_send(struct evhttp_request *request, const char *type, struct evbuffer *body)
{
    send_reply(request, HTTP_OK, type, body);
}

void cli_reply_refuse(struct evhttp_request *request, int code, const char *text)
{
    struct evbuffer *body = evbuffer_new();

    if (body) {
        evbuffer_add_printf(body, "%s\n", text);
    }
    send_reply(request, code, "text/plain; charset=utf-8", body);
    if (body) {
        evbuffer_free(body);
    }
}
