/* io/tls_front.h - TLS in front of a fake server, by the same libssl: it decrypts what the client
 * says for the fake, and encrypts the replies. It may be as hostile as a test likes.
 *
 *     library <--TCP, TLS--> front <--unix socket--> fake
 *
 * It lives on the test's own loop, as the fake does. The certificates are files in the folder of
 * the test. */
#ifndef RLK_TESTS_IO_TLS_FRONT_H
#define RLK_TESTS_IO_TLS_FRONT_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct fake;
struct tls_front;

/* What happens when all bytes that may be sent are sent. */
enum tls_front_end {
    TLS_FRONT_STOPS, /* the rest waits for tls_front_go_on() */
    TLS_FRONT_CLOSES,
    TLS_FRONT_RESETS
};

enum tls_front_manner {
    TLS_FRONT_PLAINLY,
    TLS_FRONT_BYTE_BY_BYTE, /* each byte of a reply is in a record of its own */
    TLS_FRONT_WITH_GOODBYE  /* the end of the session comes in one packet with the replies */
};

/* version: TLS1_3_VERSION, or TLS1_2_VERSION. */
struct tls_front *tls_front_new(struct event_base *base, const struct fake *behind, int version);
void tls_front_free(struct tls_front *t);

/* Its address, with the CA to trust; lives as long as t. */
const char *tls_front_uri(const struct tls_front *t);

void tls_front_set_manner(struct tls_front *t, enum tls_front_manner manner);

/* From now on each connection, open or to come, is sent so many bytes only. */
void tls_front_limit(struct tls_front *t, size_t bytes, enum tls_front_end end);

/* The same, but the bytes of the handshake are not counted; for connections to come. */
void tls_front_limit_after_handshake(struct tls_front *t, size_t bytes, enum tls_front_end end);

/* No limit; what waits is sent. */
void tls_front_go_on(struct tls_front *t);

/* Send bytes that are not encrypted on every open connection. */
void tls_front_say(struct tls_front *t, const char *bytes, size_t len);

/* Send a ticket that takes several records on every open connection, as far as the limit allows. */
void tls_front_give_ticket(struct tls_front *t);

void tls_front_hang_up(struct tls_front *t);

/* How many connections there were; how many handshakes have ended, and resumed a session; how many
 * connections are open. */
size_t tls_front_n_conns(const struct tls_front *t);
size_t tls_front_n_met(const struct tls_front *t);
size_t tls_front_n_resumed(const struct tls_front *t);
size_t tls_front_n_open(const struct tls_front *t);

#endif
