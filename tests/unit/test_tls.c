/* test_tls.c - sessions of net/tls.h against a server in memory: no socket, so every byte is ours
 * to cut, change and hold back. */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <redlock/error.h>

#include "lib/authority.h"
#include "lib/runner.h"
#include "lib/runner.h"
#include "lib/test.h"
#include "net/tls.h"
#include "net/uri.h"

SUITE("tls");

#define NOW .from_s = -60, .till_s = 3600

static struct authority ours;
static const struct authority_paper server_paper = {
    .name = "server", .others = "DNS:localhost,DNS:*.db.example,IP:127.0.0.1", NOW};

/* ---- what OpenSSL allocates ---- */

/* One allocation of the client fails. */
static struct {
    bool is_client, has_failed;
    unsigned long n, failing; /* counted from 1; 0: none fails */
} memory;

static bool must_fail_here(void)
{
    bool fails = memory.is_client && ++memory.n == memory.failing;

    memory.has_failed = memory.has_failed || fails;
    return fails;
}

static void *get_memory(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return must_fail_here() ? NULL : malloc(size);
}

static void *change_memory(void *p, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return must_fail_here() ? NULL : realloc(p, size);
}

static void give_back_memory(void *p, const char *file, int line)
{
    (void)file;
    (void)line;
    free(p);
}

/* ---- the server ---- */

struct server {
    SSL_CTX *context;
    SSL *ssl;
    BIO *in, *out;
};

static void server_load(struct server *s, const char *name)
{
    char file[64];

    snprintf(file, sizeof(file), "%s.crt", name);
    ck_assert_int_eq(
        SSL_CTX_use_certificate_file(s->context, authority_path(file), SSL_FILETYPE_PEM), 1);
    snprintf(file, sizeof(file), "%s.key", name);
    ck_assert_int_eq(
        SSL_CTX_use_PrivateKey_file(s->context, authority_path(file), SSL_FILETYPE_PEM), 1);
}

static void server_init(struct server *s, const char *name)
{
    s->context = SSL_CTX_new(TLS_server_method());
    server_load(s, name);
    s->ssl = NULL;
}

static void server_accept(struct server *s)
{
    SSL_free(s->ssl);
    s->ssl = SSL_new(s->context);
    s->in = BIO_new(BIO_s_mem());
    s->out = BIO_new(BIO_s_mem());
    SSL_set_bio(s->ssl, s->in, s->out);
    SSL_set_accept_state(s->ssl);
}

static void server_end(struct server *s)
{
    SSL_free(s->ssl);
    SSL_CTX_free(s->context);
}

static void server_want_clients(struct server *s)
{
    ck_assert_int_eq(SSL_CTX_load_verify_locations(s->context, authority_path("ours.crt"), NULL),
                     1);
    SSL_CTX_set_verify(s->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}

/* ---- the client ---- */

static struct rlk_uri uri_of(const char *text)
{
    struct rlk_uri u;
    const char *why = "";

    ck_assert_msg(rlk_uri_parse(text, &u, &why) == 0, "%s", why);
    return u;
}

/* A URI that trusts our CA. */
static struct rlk_uri trusting(const char *host, const char *more)
{
    char text[3072];

    snprintf(text, sizeof(text), "rediss://%s?cacert=%s%s", host, authority_path("ours.crt"), more);
    return uri_of(text);
}

static struct rlk_tls *context_of(const struct rlk_uri *u)
{
    struct rlk_tls *tls = NULL;
    char why[RLK_TLS_WHY] = "";

    ck_assert_msg(rlk_tls_new(u, NULL, &tls, why, sizeof(why)) == 0, "%s", why);
    return tls;
}

/* ---- between them ---- */

struct got {
    char bytes[1 << 18];
    size_t len;
    bool ended;
};

static struct got got;

/* All that the client has to say, to the server. */
static void pump_up(struct rlk_tls_session *c, struct server *s)
{
    size_t len;
    const char *bytes = rlk_tls_wire(c, &len);

    if (len > 0) {
        BIO_write(s->in, bytes, (int)len);
        rlk_tls_sent(c, len);
    }
}

/* One piece of what the server says, to the client. False: it says nothing. */
static bool pump_down(struct rlk_tls_session *c, struct server *s, size_t piece)
{
    static char bytes[1 << 16], plain[RLK_TLS_READ];
    int n = BIO_read(s->out, bytes, (int)piece), more;

    if (n <= 0) {
        return false;
    }
    ck_assert(rlk_tls_receive(c, bytes, (size_t)n));
    while ((more = rlk_tls_read(c, plain)) > 0) {
        memcpy(got.bytes + got.len, plain, (size_t)more);
        got.len += (size_t)more;
    }
    got.ended = more < 0;
    return !got.ended;
}

static void pump(struct rlk_tls_session *c, struct server *s, size_t piece)
{
    char nothing[1];
    bool moved;

    do {
        pump_up(c, s);
        ERR_clear_error();
        SSL_peek(s->ssl, nothing, 1); /* goes on with the handshake */
        moved = false;
        while (pump_down(c, s, piece)) {
            moved = true;
        }
    } while (moved && !got.ended);
}

static struct rlk_tls_session *meet(struct rlk_tls *tls, struct server *s, size_t piece)
{
    struct rlk_tls_session *c = rlk_tls_begin(tls);

    ck_assert_ptr_nonnull(c);
    got = (struct got){.len = 0};
    server_accept(s);
    pump(c, s, piece);
    return c;
}

static void set_up(void)
{
    authority_init(&ours, "ours");
    authority_sign(&ours, &server_paper);
}

static void tear_down(void)
{
    authority_end(&ours);
}

/* ---- bytes ---- */

static const size_t pieces[] = {1, 2, 5, 100, 16384, 65536};

FIXTURE(set_up, tear_down);

TEST_LOOP(bytes_go_both_ways_in_any_pieces, 0, N_ROWS(pieces))
{
    static char long_text[100000];
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct rlk_tls_session *c;
    struct server s;
    char back[8];

    memset(long_text, 'x', sizeof(long_text));
    server_init(&s, "server");
    c = meet(tls, &s, pieces[_i]);
    ck_assert(rlk_tls_is_ready(c));
    ck_assert_str_eq(rlk_tls_describe(c), "TLSv1.3, verified");
    ck_assert(rlk_tls_write(c, "PING", 4));
    pump_up(c, &s);
    ck_assert_int_eq(SSL_read(s.ssl, back, sizeof(back)), 4);
    ck_assert_int_eq(SSL_write(s.ssl, long_text, sizeof(long_text)), sizeof(long_text));
    pump(c, &s, pieces[_i]);
    ck_assert_uint_eq(got.len, sizeof(long_text));
    ck_assert_mem_eq(got.bytes, long_text, sizeof(long_text));
    rlk_tls_end(c);
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
}

TEST(each_side_says_goodbye)
{
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct rlk_tls_session *c;
    struct server s;
    char back[8];

    server_init(&s, "server");
    c = meet(tls, &s, 65536);
    rlk_tls_close(c);
    pump_up(c, &s);
    ck_assert_int_eq(SSL_get_error(s.ssl, SSL_read(s.ssl, back, sizeof(back))),
                     SSL_ERROR_ZERO_RETURN);
    rlk_tls_end(c);
    c = meet(tls, &s, 65536);
    SSL_write(s.ssl, "+OK", 3);
    SSL_shutdown(s.ssl);
    pump(c, &s, 65536);
    ck_assert_uint_eq(got.len, 3); /* what came before counts */
    ck_assert(got.ended);
    ck_assert_int_eq(rlk_tls_fault(c).kind, RLK_FAULT_CLOSED);
    ck_assert(!rlk_tls_write(c, "PING", 4));
    rlk_tls_end(c);
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
}

TEST_LOOP(the_next_connection_resumes_the_session, 0, 2)
{
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct server s;
    int i;

    server_init(&s, "server");
    SSL_CTX_set_max_proto_version(s.context, _i ? TLS1_3_VERSION : TLS1_2_VERSION);
    for (i = 0; i < 3; i++) {
        struct rlk_tls_session *c = meet(tls, &s, 65536);

        ck_assert(rlk_tls_is_ready(c));
        ck_assert_str_eq(rlk_tls_describe(c), _i ? "TLSv1.3, verified" : "TLSv1.2, verified");
        ck_assert_int_eq(SSL_session_reused(s.ssl), i > 0);
        rlk_tls_end(c);
    }
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
}

/* ---- what the server must prove ---- */

static const struct {
    const char *host, *more;
    struct authority_paper paper;
    const char *why; /* NULL: it is good */
} papers[] = {
    {"localhost", "", {"a", "DNS:localhost", NOW}, NULL},
    {"LOCALHOST", "", {"a", "DNS:localhost", NOW}, NULL},
    {"localhost.", "", {"a", "DNS:localhost", NOW}, NULL},
    {"localhost",
     "",
     {"localhost", NULL, NOW},
     "its CN 'localhost' does not count; make one with "
     "DNS:localhost there"},
    {"127.0.0.1", "", {"127.0.0.1", NULL, NOW}, "make one with IP:127.0.0.1 there"},
    {"localhost", "", {"localhost", "email:a@b.example", NOW}, "its CN 'localhost' does not count"},
    {"localhost", "", {"localhost", "DNS:b", NOW}, "a certificate for b, not for localhost; use"},
    {"127.0.0.1", "", {"a", "IP:127.0.0.1", NOW}, NULL},
    {"[::1]", "", {"a", "IP:::1", NOW}, NULL},
    {"[::2]", "", {"a", "IP:::1,DNS:b", NOW}, "a certificate for ::1, b, not for ::2"},
    {"127.0.0.1", "", {"a", "DNS:127.0.0.1", NOW}, "not for 127.0.0.1"},
    {"127.0.0.1", "&sni=b.example", {"a", "DNS:b.example", NOW}, NULL},
    {"b.example", "&sni=c.example", {"a", "DNS:b.example", NOW}, "not for c.example"},
    {"1.db.example", "", {"a", "DNS:*.db.example", NOW}, NULL},
    {"1.2.db.example", "", {"a", "DNS:*.db.example", NOW}, "not for 1.2.db.example"},
    {"foo.db.example", "", {"a", "DNS:f*.db.example", NOW}, "not for foo.db.example"},
    {"localhost", "", {"a", "DNS:localhost", -3600, -60}, "expired on 20"},
    {"localhost", "", {"a", "DNS:localhost", 3600, 7200}, "is valid only from 20"},
    {"localhost", "&verify=none", {"a", "DNS:b", -3600, -60}, NULL},
};

TEST_LOOP(a_certificate_is_valid_and_has_the_name, 0, N_ROWS(papers))
{
    struct rlk_uri u = trusting(papers[_i].host, papers[_i].more);
    struct rlk_tls *tls = context_of(&u);
    struct rlk_tls_session *c;
    struct server s;

    authority_sign(&ours, &papers[_i].paper);
    server_init(&s, papers[_i].paper.name);
    c = meet(tls, &s, 65536);
    if (papers[_i].why) {
        ck_assert(got.ended);
        ck_assert_int_eq(rlk_tls_fault(c).kind, RLK_FAULT_TLS);
        ck_assert_msg(strstr(rlk_tls_fault(c).text, papers[_i].why) != NULL, "%s",
                      rlk_tls_fault(c).text);
    } else {
        ck_assert_msg(rlk_tls_is_ready(c), "%s", rlk_tls_fault(c).text);
    }
    ck_assert_uint_eq(ERR_peek_error(), 0);
    rlk_tls_end(c);
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
}

/* One failed handshake, and its sentence. */
static void must_fail(struct server *s, const struct rlk_uri *u, const char *why)
{
    struct rlk_tls *tls = context_of(u);
    struct rlk_tls_session *c = meet(tls, s, 65536);
    struct rlk_fault closed = {RLK_FAULT_CLOSED, ""}, fault = rlk_tls_fault_of_end(c, &closed);

    ck_assert_int_eq(fault.kind, RLK_FAULT_TLS);
    ck_assert_msg(strstr(fault.text, why) != NULL, "%s", fault.text);
    rlk_tls_end(c);
    rlk_tls_free(tls);
}

TEST(another_ca_is_refused)
{
    struct authority other;
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_uri of_system = uri_of("rediss://localhost");
    struct server s;

    authority_init(&other, "other");
    authority_sign(&other, &(struct authority_paper){"a", "DNS:localhost", NOW});
    authority_sign(NULL, &(struct authority_paper){"self", "DNS:localhost", NOW});
    server_init(&s, "a");
    must_fail(&s, &u, "by 'other', and cacert=/");
    must_fail(&s, &of_system, "by 'other', a CA that this system does not know");
    server_load(&s, "self");
    must_fail(&s, &u, "by 'self', and cacert=/");
    server_end(&s);
    rlk_uri_end(&u);
    rlk_uri_end(&of_system);
    authority_end(&other);
}

TEST_LOOP(whoever_gives_a_certificate_trusts_it, 0, 2)
{
    struct authority_paper paper = {"self", "DNS:localhost", NOW};
    struct rlk_uri u;
    struct rlk_tls *tls;
    struct rlk_tls_session *c;
    struct server s;
    char text[600];

    authority_sign(_i ? &ours : NULL, &paper);
    snprintf(text, sizeof(text), "rediss://localhost?cacert=%s", authority_path("self.crt"));
    u = uri_of(text);
    tls = context_of(&u);
    server_init(&s, "self");
    c = meet(tls, &s, 65536);
    ck_assert_msg(rlk_tls_is_ready(c), "%s", rlk_tls_fault(c).text);
    rlk_tls_end(c);
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
}

TEST(an_old_version_is_refused)
{
    struct rlk_uri u = trusting("localhost", "");
    struct server s;

    server_init(&s, "server");
    SSL_CTX_set_min_proto_version(s.context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(s.context, TLS1_1_VERSION);
    SSL_CTX_set_security_level(s.context, 0);
    must_fail(&s, &u, "speaks no TLS of version 1.2 or newer");
    server_end(&s);
    rlk_uri_end(&u);
}

/* ---- our own certificate ---- */

/* _i: TLS 1.3, where the server refuses us after our part of the handshake has ended. */
TEST_LOOP(a_server_that_wants_a_certificate_gets_it, 0, 2)
{
    struct authority other;
    struct rlk_uri without = trusting("localhost", ""), with;
    struct rlk_tls *tls;
    struct rlk_tls_session *c;
    struct server s;
    char more[1100];

    authority_sign(&ours, &(struct authority_paper){"client", NULL, NOW});
    snprintf(more, sizeof(more), "&cert=%s&key=%s", authority_path("client.crt"),
             authority_path("client.key"));
    with = trusting("localhost", more);
    server_init(&s, "server");
    SSL_CTX_set_max_proto_version(s.context, _i ? TLS1_3_VERSION : TLS1_2_VERSION);
    server_want_clients(&s);
    must_fail(&s, &without, "accepts only clients with a certificate");
    tls = context_of(&with);
    c = meet(tls, &s, 65536);
    ck_assert(rlk_tls_is_ready(c) && SSL_is_init_finished(s.ssl));
    rlk_tls_end(c);
    rlk_tls_free(tls);
    authority_init(&other, "other");
    authority_sign(&other, &(struct authority_paper){"client", NULL, NOW});
    must_fail(&s, &with, "refused our certificate");
    authority_end(&other);
    authority_sign(&ours, &(struct authority_paper){"client", NULL, -3600, -60});
    must_fail(&s, &with, "renew the file of cert=");
    rlk_uri_end(&with);
    rlk_uri_end(&without);
    server_end(&s);
}

TEST(files_that_change_are_read_again)
{
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct rlk_tls_session *c;
    struct authority renewed;
    struct server s;

    server_init(&s, "server");
    authority_write("ours.crt", "not a certificate, and longer than nothing");
    c = meet(tls, &s, 65536);
    ck_assert_msg(rlk_tls_is_ready(c), "the former one is kept");
    ck_assert_msg(strstr(rlk_tls_complaint(tls), "has no certificate of a CA") != NULL, "%s",
                  rlk_tls_complaint(tls));
    rlk_tls_end(c);
    authority_init(&renewed, "ours");
    authority_sign(&renewed, &server_paper);
    server_load(&s, "server");
    c = meet(tls, &s, 65536);
    ck_assert_msg(rlk_tls_is_ready(c), "the new one is used");
    ck_assert_int_eq(SSL_session_reused(s.ssl), 0);
    ck_assert_str_eq(rlk_tls_complaint(tls), "");
    rlk_tls_end(c);
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
    authority_end(&renewed);
}

static const struct {
    const char *cacert, *cert, *key, *why;
} bad_files[] = {
    {"none.crt", NULL, NULL, "cannot be read: No such file"},
    {".", NULL, NULL, "it is not a regular file"},
    {"server.key", NULL, NULL, "has no certificate of a CA"},
    {"ours.crt", "server.crt", NULL, "cert= is set without key="},
    {"ours.crt", NULL, "server.key", "key= is set without cert="},
    {"ours.crt", "server.key", "server.key", "has no certificate that can be used"},
    {"ours.crt", "server.crt", "server.crt", "has no private key"},
    {"ours.crt", "ours.crt", "server.key", "is not the key of the certificate"},
    {"ours.crt", "server.crt", "text", "has no private key"},
};

static void append_file(char *text, const char *name, const char *file)
{
    if (file) {
        sprintf(text + strlen(text), "%c%s=%s", strchr(text, '?') ? '&' : '?', name,
                authority_path(file));
    }
}

TEST_LOOP(files_that_cannot_be_used_are_refused, 0, N_ROWS(bad_files))
{
    char text[2048] = "rediss://localhost", why[RLK_TLS_WHY] = "";
    struct rlk_tls *tls = NULL;
    struct rlk_uri u;

    authority_write("text", "no key");
    append_file(text, "cacert", bad_files[_i].cacert);
    append_file(text, "cert", bad_files[_i].cert);
    append_file(text, "key", bad_files[_i].key);
    u = uri_of(text);
    ck_assert_int_eq(rlk_tls_new(&u, NULL, &tls, why, sizeof(why)), REDLOCK_EINVAL);
    ck_assert_ptr_null(tls);
    ck_assert_msg(strstr(why, bad_files[_i].why) != NULL, "%s", why);
    ck_assert_uint_eq(ERR_peek_error(), 0);
    rlk_uri_end(&u);
}

/* ---- what outlives a session ---- */

/* Whether a handshake ends well. */
static bool can_meet(struct rlk_tls *tls, struct server *s)
{
    struct rlk_tls_session *c = meet(tls, s, 65536);
    bool ready = rlk_tls_is_ready(c);

    rlk_tls_end(c);
    return ready;
}

/* A server of the former CA still has a session, and could go on with it forever. */
TEST(a_ticket_of_a_former_ca_is_not_used)
{
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct rlk_tls_session *former;
    struct authority renewed;
    struct server s;

    server_init(&s, "server");
    former = meet(tls, &s, 65536);
    authority_init(&renewed, "ours");
    rlk_tls_end(rlk_tls_begin(tls)); /* reads the new CA */
    ck_assert_int_eq(SSL_new_session_ticket(s.ssl), 1);
    ck_assert_int_eq(SSL_do_handshake(s.ssl), 1);
    ck_assert(pump_down(former, &s, 65536));
    ck_assert(!can_meet(tls, &s));
    rlk_tls_end(former);
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
    authority_end(&renewed);
}

static void server_init_brief(struct server *s, int life_s)
{
    authority_sign(&ours, &(struct authority_paper){"brief", "DNS:localhost", -60, life_s});
    server_init(s, "brief");
}

TEST(a_certificate_that_expired_is_not_resumed)
{
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct server s;
    int life_s = 1;

    server_init_brief(&s, life_s);
    while (!can_meet(tls, &s)) { /* a machine under load may need longer */
        ck_assert_int_lt(life_s, 30);
        server_end(&s);
        life_s *= 3;
        server_init_brief(&s, life_s);
    }
    sleep((unsigned)life_s + 1);
    ck_assert(!can_meet(tls, &s));
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
}

/* It may have been closed, or not have been answered in time. */
TEST(a_ticket_that_leads_to_no_session_is_not_used_again)
{
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct rlk_tls_session *c;
    struct server s;

    server_init(&s, "server");
    ck_assert(can_meet(tls, &s));
    rlk_tls_end(rlk_tls_begin(tls));
    c = meet(tls, &s, 65536);
    ck_assert(rlk_tls_is_ready(c));
    ck_assert_int_eq(SSL_session_reused(s.ssl), 0);
    rlk_tls_end(c);
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
}

/* That a file could not be read may have a cause that does not change the file. */
TEST(files_that_could_not_be_read_are_read_later)
{
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct authority renewed;
    struct rlimit all, none;
    struct server s;

    authority_init(&renewed, "ours");
    authority_sign(&renewed, &server_paper);
    server_init(&s, "server");
    getrlimit(RLIMIT_NOFILE, &all);
    none = (struct rlimit){0, all.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    ck_assert(!can_meet(tls, &s));
    setrlimit(RLIMIT_NOFILE, &all);
    ck_assert_msg(strstr(rlk_tls_complaint(tls), "Too many open files") != NULL, "%s",
                  rlk_tls_complaint(tls));
    ck_assert(can_meet(tls, &s));
    ck_assert_str_eq(rlk_tls_complaint(tls), "");
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
    authority_end(&renewed);
}

/* A large ticket, for the next test. */
static int fill_ticket(SSL *ssl, void *arg)
{
    static const char data[3000];

    (void)arg;
    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), data, sizeof(data));
}

/* The server sends a ticket in several records. Between them nothing can be written, and nothing is
 * wrong. */
TEST(half_a_ticket_is_waited_for)
{
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct rlk_tls_session *c;
    struct server s;

    server_init(&s, "server");
    SSL_CTX_set_max_send_fragment(s.context, 512);
    SSL_CTX_set_session_ticket_cb(s.context, fill_ticket, NULL, NULL);
    c = meet(tls, &s, 65536);
    ck_assert(rlk_tls_is_ready(c));
    ck_assert_int_eq(SSL_new_session_ticket(s.ssl), 1);
    ck_assert_int_eq(SSL_do_handshake(s.ssl), 1);
    ck_assert(pump_down(c, &s, 600));
    ck_assert(!rlk_tls_is_ready(c));
    ck_assert(pump_down(c, &s, 65536));
    ck_assert(rlk_tls_is_ready(c));
    ck_assert(rlk_tls_write(c, "PING", 4));
    rlk_tls_end(c);
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
}

/* ---- memory ---- */

/* A handshake, a command and its end. False: it failed, and says so. */
static bool live(struct rlk_tls *tls, struct server *s)
{
    static char bytes[1 << 16], plain[RLK_TLS_READ];
    struct rlk_tls_session *c;
    bool good;
    int n, turn;

    server_accept(s);
    memory.is_client = true;
    c = rlk_tls_begin(tls);
    good = c != NULL;
    for (turn = 0; good && turn < 3; turn++) {
        memory.is_client = false;
        pump_up(c, s);
        SSL_peek(s->ssl, bytes, 1);
        n = BIO_read(s->out, bytes, sizeof(bytes));
        memory.is_client = true;
        good = n <= 0 || (rlk_tls_receive(c, bytes, (size_t)n) && rlk_tls_read(c, plain) == 0);
    }
    good = good && rlk_tls_write(c, "PING", 4);
    if (good) {
        rlk_tls_close(c);
    }
    ck_assert(good || c == NULL || memory.has_failed);
    rlk_tls_end(c);
    memory.is_client = false;
    ck_assert_uint_eq(ERR_peek_error(), 0);
    return good;
}

/* The master is tried again later, so it must work then. */
TEST(openssl_without_memory_harms_nothing)
{
    struct rlk_uri u = trusting("localhost", "");
    char why[RLK_TLS_WHY] = "";
    struct rlk_tls *tls;
    struct server s;
    unsigned long k;

    server_init(&s, "server");
    tls = context_of(&u);
    ck_assert(live(tls, &s)); /* what OpenSSL makes only once is there from now on */
    rlk_tls_free(tls);
    for (k = 1; k == 1 || memory.has_failed; k += k / 16 + 1) {
        memory.n = 0;
        memory.failing = k;
        memory.has_failed = false;
        tls = NULL;
        memory.is_client = true;
        rlk_tls_new(&u, NULL, &tls, why, sizeof(why));
        memory.is_client = false;
        ck_assert_uint_eq(ERR_peek_error(), 0);
        if (tls) {
            live(tls, &s);
            memory.failing = 0;
            ck_assert(live(tls, &s));
            rlk_tls_free(tls);
        }
    }
    ck_assert_uint_gt(k, 100);
    rlk_uri_end(&u);
    server_end(&s);
}

/* ---- bytes that are no TLS ---- */

TEST(plain_bytes_are_recognised)
{
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct rlk_tls_session *c = rlk_tls_begin(tls);
    char plain[RLK_TLS_READ];

    ck_assert(rlk_tls_receive(c, "-ERR unknown command\r\n", 22));
    ck_assert_int_eq(rlk_tls_read(c, plain), -1);
    ck_assert_int_eq(rlk_tls_fault(c).kind, RLK_FAULT_NOT_TLS);
    rlk_tls_end(c);
    rlk_tls_free(tls);
    rlk_uri_end(&u);
}

/* The version in the head of a record that is not encrypted yet: nobody relies on it. */
static bool is_version(const char *bytes, int len, int at)
{
    int head = 0;

    while (head + 5 <= len && head + 5 <= at) {
        int size = (unsigned char)bytes[head + 3] * 256 + (unsigned char)bytes[head + 4];

        if (at < head + 5 + size) {
            return false;
        }
        head += 5 + size;
    }
    return bytes[head] != SSL3_RT_APPLICATION_DATA && (at == head + 1 || at == head + 2);
}

/* Change one byte of what the server says, from the first to the last: the session ends, or the
 * handshake does not, but nothing that was changed is taken for a reply. */
TEST(a_byte_that_was_changed_is_noticed)
{
    static char bytes[1 << 16];
    struct rlk_uri u = trusting("localhost", "");
    struct rlk_tls *tls = context_of(&u);
    struct server s;
    char plain[RLK_TLS_READ], nothing[1];
    int at, n;

    server_init(&s, "server");
    for (at = 0, n = 1; at < n; at++) {
        struct rlk_tls_session *c = rlk_tls_begin(tls);
        bool harmless;
        int more;

        server_accept(&s);
        pump_up(c, &s);
        SSL_peek(s.ssl, nothing, 1);
        n = BIO_read(s.out, bytes, sizeof(bytes));
        if (at == n) { /* signatures differ in length */
            rlk_tls_end(c);
            break;
        }
        harmless = is_version(bytes, n, at);
        bytes[at] ^= 0x41;
        ck_assert(rlk_tls_receive(c, bytes, (size_t)n));
        while ((more = rlk_tls_read(c, plain)) > 0) {
        }
        ck_assert_msg(harmless || !rlk_tls_is_ready(c), "byte %d of %d", at, n);
        ck_assert(more == 0 || rlk_tls_fault(c).kind != RLK_FAULT_NONE);
        rlk_tls_end(c);
    }
    rlk_tls_free(tls);
    rlk_uri_end(&u);
    server_end(&s);
}

int main(int argc, char **argv)
{
    CRYPTO_set_mem_functions(get_memory, change_memory, give_back_memory);
    return rlk_test_main(argc, argv);
}
