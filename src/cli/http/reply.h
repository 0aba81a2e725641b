/* reply.h - one reply of the server, with the headers that each has. */
#ifndef CLI_HTTP_REPLY_H
#define CLI_HTTP_REPLY_H

struct evbuffer;
struct evhttp_request;

/* Set the headers of a reply with this content type. */
void cli_reply_headers(struct evhttp_request *request, const char *type);

/* Send a page, or only its headers to HEAD. */
void cli_reply_send(struct evhttp_request *request, const char *type, struct evbuffer *body);

/* Refuse a request: a line of text that says why. */
void cli_reply_refuse(struct evhttp_request *request, int code, const char *text);

#endif
