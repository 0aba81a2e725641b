/* io/tls_front.c - see tls_front.h. */
#include "io/tls_front.h"

#include <arpa/inet.h>
#include <check.h>
#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/authority.h"
#include "lib/fake.h"

#define MOST 64

struct tie {
    struct tls_front *front;
    int fd, behind;
    struct event *from_client, *from_fake;
    SSL *ssl;
    BIO *in, *out;
    size_t room; /* how many bytes may still be sent */
    bool met;
};

struct tls_front {
    struct event_base *base;
    const struct fake *fake;
    SSL_CTX *context;
    int listener;
    struct event *incoming;
    char authority[32];
    char uri[1024];
    enum tls_front_manner manner;
    enum tls_front_end end;
    size_t room, room_after_handshake;
    struct tie ties[MOST];
    size_t n_ties, n_met, n_resumed;
    bool tickets_are_large;
};

static void close_tie(struct tie *t)
{
    if (t->fd >= 0) {
        event_free(t->from_client);
        event_free(t->from_fake);
        close(t->fd);
        close(t->behind);
        SSL_free(t->ssl);
        t->fd = -1;
    }
}

static void reset_tie(struct tie *t)
{
    const struct linger drop = {1, 0};

    setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &drop, sizeof(drop));
    close_tie(t);
}

/* ---- to the client ---- */

/* All that may leave goes in one packet. */
static void flush(struct tie *t)
{
    static char bytes[1 << 18];
    size_t len = BIO_ctrl_pending(t->out) < t->room ? BIO_ctrl_pending(t->out) : t->room;
    bool is_over;

    ck_assert_uint_le(len, sizeof(bytes));
    if (len > 0) {
        BIO_read(t->out, bytes, (int)len);
        t->room -= len;
        send(t->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    is_over = t->room == 0 || (SSL_get_shutdown(t->ssl) & SSL_SENT_SHUTDOWN);
    if (is_over && t->front->end == TLS_FRONT_CLOSES) {
        close_tie(t);
    } else if (is_over && t->front->end == TLS_FRONT_RESETS) {
        reset_tie(t);
    }
}

static void encrypt(struct tie *t, const char *bytes, size_t len)
{
    size_t piece = t->front->manner == TLS_FRONT_BYTE_BY_BYTE ? 1 : len, at;

    for (at = 0; at < len; at += piece) {
        SSL_write(t->ssl, bytes + at, (int)piece);
    }
    if (t->front->manner == TLS_FRONT_WITH_GOODBYE) {
        SSL_shutdown(t->ssl);
    }
    flush(t);
}

static void on_fake(evutil_socket_t fd, short what, void *arg)
{
    char bytes[16384];
    ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    (void)what;
    if (n > 0) {
        encrypt(arg, bytes, (size_t)n);
    } else {
        close_tie(arg);
    }
}

/* ---- from the client ---- */

static void end_handshake(struct tie *t)
{
    struct tls_front *front = t->front;

    if (!t->met && SSL_is_init_finished(t->ssl)) {
        t->met = true;
        front->n_met++;
        front->n_resumed += SSL_session_reused(t->ssl);
        t->room = front->room_after_handshake < t->room ? front->room_after_handshake : t->room;
    }
}

static void on_client(evutil_socket_t fd, short what, void *arg)
{
    struct tie *t = arg;
    char bytes[16384];
    ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    int plain;

    (void)what;
    if (n <= 0) {
        close_tie(t);
        return;
    }
    BIO_write(t->in, bytes, (int)n);
    while ((plain = SSL_read(t->ssl, bytes, sizeof(bytes))) > 0) {
        send(t->behind, bytes, (size_t)plain, MSG_NOSIGNAL);
    }
    end_handshake(t);
    flush(t);
}

/* ---- the listener ---- */

static int connect_to_fake(const struct fake *fake)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(name.sun_path, sizeof(name.sun_path), "%s", fake_path(fake));
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    return fd;
}

static void on_incoming(evutil_socket_t fd, short what, void *arg)
{
    struct tls_front *front = arg;
    struct tie *t = &front->ties[front->n_ties++];

    (void)what;
    ck_assert_uint_le(front->n_ties, MOST);
    t->front = front;
    t->fd = accept(fd, NULL, NULL);
    t->behind = connect_to_fake(front->fake);
    t->from_client = event_new(front->base, t->fd, EV_READ | EV_PERSIST, on_client, t);
    t->from_fake = event_new(front->base, t->behind, EV_READ | EV_PERSIST, on_fake, t);
    event_add(t->from_client, NULL);
    event_add(t->from_fake, NULL);
    t->ssl = SSL_new(front->context);
    t->in = BIO_new(BIO_s_mem());
    t->out = BIO_new(BIO_s_mem());
    SSL_set_bio(t->ssl, t->in, t->out);
    SSL_set_accept_state(t->ssl);
    t->room = front->room;
}

static int fill_ticket(SSL *ssl, void *arg)
{
    static const char data[3000];
    const struct tls_front *front = arg;
    size_t len = front->tickets_are_large ? sizeof(data) : 0;

    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), data, len);
}

/* Each front has a CA of its own, whose certificate is NAME.crt. */
static void make_certificate(struct tls_front *t)
{
    static unsigned n;
    struct authority ours;
    const struct authority_paper paper = {
        .name = "front", .others = "IP:127.0.0.1", .from_s = -60, .till_s = 3600};

    snprintf(t->authority, sizeof(t->authority), "ours-%u", n++);
    authority_init(&ours, t->authority);
    authority_sign(&ours, &paper);
    authority_end(&ours);
}

static void make_context(struct tls_front *t, int version)
{
    make_certificate(t);
    t->context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_max_proto_version(t->context, version);
    SSL_CTX_set_max_send_fragment(t->context, 512);
    SSL_CTX_set_session_ticket_cb(t->context, fill_ticket, NULL, t);
    ck_assert_int_eq(
        SSL_CTX_use_certificate_file(t->context, authority_path("front.crt"), SSL_FILETYPE_PEM), 1);
    ck_assert_int_eq(
        SSL_CTX_use_PrivateKey_file(t->context, authority_path("front.key"), SSL_FILETYPE_PEM), 1);
}

static void listen_for_clients(struct tls_front *t)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(name);
    char file[40];

    t->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(t->listener, (struct sockaddr *)&name, len), 0);
    ck_assert_int_eq(listen(t->listener, 16), 0);
    ck_assert_int_eq(getsockname(t->listener, (struct sockaddr *)&name, &len), 0);
    t->incoming = event_new(t->base, t->listener, EV_READ | EV_PERSIST, on_incoming, t);
    event_add(t->incoming, NULL);
    snprintf(file, sizeof(file), "%s.crt", t->authority);
    snprintf(t->uri, sizeof(t->uri), "rediss://127.0.0.1:%u?cacert=%s", ntohs(name.sin_port),
             authority_path(file));
}

struct tls_front *tls_front_new(struct event_base *base, const struct fake *behind, int version)
{
    struct tls_front *t = calloc(1, sizeof(*t));

    t->base = base;
    t->fake = behind;
    make_context(t, version);
    listen_for_clients(t);
    tls_front_go_on(t);
    return t;
}

void tls_front_free(struct tls_front *t)
{
    tls_front_hang_up(t);
    event_free(t->incoming);
    close(t->listener);
    SSL_CTX_free(t->context);
    free(t);
}

/* ---- what a test says, and asks ---- */

const char *tls_front_uri(const struct tls_front *t)
{
    return t->uri;
}

void tls_front_set_manner(struct tls_front *t, enum tls_front_manner manner)
{
    t->manner = manner;
}

static void set_room(struct tls_front *t, size_t bytes)
{
    size_t i;

    t->room = t->room_after_handshake = bytes;
    for (i = 0; i < t->n_ties; i++) {
        t->ties[i].room = bytes;
    }
}

void tls_front_limit(struct tls_front *t, size_t bytes, enum tls_front_end end)
{
    t->end = end;
    set_room(t, bytes);
}

void tls_front_limit_after_handshake(struct tls_front *t, size_t bytes, enum tls_front_end end)
{
    t->end = end;
    t->room_after_handshake = bytes;
}

void tls_front_go_on(struct tls_front *t)
{
    size_t i;

    tls_front_limit(t, SIZE_MAX, TLS_FRONT_STOPS);
    for (i = 0; i < t->n_ties; i++) {
        if (t->ties[i].fd >= 0) {
            flush(&t->ties[i]);
        }
    }
}

void tls_front_say(struct tls_front *t, const char *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < t->n_ties; i++) {
        if (t->ties[i].fd >= 0) {
            send(t->ties[i].fd, bytes, len, MSG_NOSIGNAL);
        }
    }
}

void tls_front_give_ticket(struct tls_front *t)
{
    size_t i;

    t->tickets_are_large = true;
    for (i = 0; i < t->n_ties; i++) {
        if (t->ties[i].fd >= 0) {
            ck_assert_int_eq(SSL_new_session_ticket(t->ties[i].ssl), 1);
            ck_assert_int_eq(SSL_do_handshake(t->ties[i].ssl), 1);
            flush(&t->ties[i]);
        }
    }
}

void tls_front_hang_up(struct tls_front *t)
{
    size_t i;

    for (i = 0; i < t->n_ties; i++) {
        close_tie(&t->ties[i]);
    }
}

size_t tls_front_n_conns(const struct tls_front *t)
{
    return t->n_ties;
}

size_t tls_front_n_met(const struct tls_front *t)
{
    return t->n_met;
}

size_t tls_front_n_resumed(const struct tls_front *t)
{
    return t->n_resumed;
}

size_t tls_front_n_open(const struct tls_front *t)
{
    size_t n = 0, i;

    for (i = 0; i < t->n_ties; i++) {
        n += t->ties[i].fd >= 0;
    }
    return n;
}
