/* tls_session.c - a session: OpenSSL between two buffers in memory. */
#include <openssl/err.h>
#include <string.h>

#include "base/alloc.h"
#include "net/tls_inside.h"
#include "net/uri.h"

/* More unsent bytes than this come of a server that makes us answer and does not read. */
#define WIRE_MAX (8 * 1024 * 1024)

/* ---- the life of a session ---- */

/* The ends of the session. SSL_set_bio() takes them over. */
static bool make_ends(struct rlk_tls_session *s)
{
    s->received = BIO_new(BIO_s_mem());
    s->wire = BIO_new(BIO_s_mem());
    if (s->received == NULL || s->wire == NULL) {
        BIO_free(s->received);
        BIO_free(s->wire);
        return false;
    }
    SSL_set_bio(s->ssl, s->received, s->wire);
    return true;
}

/* An address is no name to ask for (RFC 6066). */
static bool set_sni(struct rlk_tls_session *s)
{
    const char *name = rlk_tls_server_name(s->tls->uri);
    char bare[256];
    size_t len = strlen(name);

    if (rlk_tls_is_address(name) || len >= sizeof(bare)) {
        return true;
    }
    memcpy(bare, name, len + 1);
    bare[len - (len > 1 && name[len - 1] == '.')] = '\0';
    return SSL_set_tlsext_host_name(s->ssl, bare) == 1;
}

/* A session that is resumed is not verified again, but its certificate may have expired. */
static bool has_expired(SSL_SESSION *ticket)
{
    const X509 *certificate = SSL_SESSION_get0_peer(ticket);

    return certificate && X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0;
}

static void resume(struct rlk_tls_session *s)
{
    SSL_SESSION *ticket = s->tls->ticket;

    if (ticket && has_expired(ticket)) {
        rlk_tls_drop_ticket(s->tls);
    } else if (ticket) {
        SSL_set_session(s->ssl, ticket); /* without it the handshake is a full one */
    }
}

static bool start_tls(struct rlk_tls_session *s)
{
    s->ssl = SSL_new(s->tls->context);
    if (s->ssl == NULL || !make_ends(s) || !SSL_set_app_data(s->ssl, s) || !set_sni(s)) {
        return false;
    }
    resume(s);
    SSL_set_connect_state(s->ssl);
    return SSL_get_error(s->ssl, SSL_do_handshake(s->ssl)) == SSL_ERROR_WANT_READ;
}

/* OpenSSL drops the ticket of a session that was not closed. But the ticket is still good: replies
 * say themselves where they end. When there was no session, the ticket may be why: a server that
 * cannot use it may end the connection, or say nothing. */
static void settle_ticket(struct rlk_tls_session *s)
{
    SSL_set_shutdown(s->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    if (!SSL_is_init_finished(s->ssl)) {
        rlk_tls_drop_ticket(s->tls);
    }
}

static void end_session(struct rlk_tls_session *s)
{
    if (s->ssl) {
        settle_ticket(s);
    }
    SSL_free(s->ssl);
    rlk_free(s);
}

static struct rlk_tls_session *begin_session(struct rlk_tls *t)
{
    struct rlk_tls_session *s = rlk_alloc(sizeof(*s));
    bool started;

    if (s == NULL) {
        return NULL;
    }
    rlk_tls_refresh(t);
    s->tls = t;
    ERR_clear_error();
    started = start_tls(s);
    ERR_clear_error();
    if (!started) {
        end_session(s);
        return NULL;
    }
    return s;
}

/* ---- bytes ---- */

static int end_tls(struct rlk_tls_session *s, enum rlk_fault_kind fault)
{
    s->fault = fault;
    return -1;
}

/* What does not begin like a record of a handshake, or an alert, is not TLS. */
static bool is_tls(const char *bytes)
{
    return bytes[0] == SSL3_RT_HANDSHAKE || rlk_tls_is_alert(bytes[0]);
}

static bool receive_records(struct rlk_tls_session *s, const char *bytes, size_t len)
{
    bool taken;

    if (!s->begun && !is_tls(bytes)) {
        end_tls(s, RLK_FAULT_NOT_TLS);
        return true;
    }
    s->begun = true;
    ERR_clear_error();
    taken = BIO_write(s->received, bytes, (int)len) == (int)len;
    ERR_clear_error();
    return taken;
}

/* The handshake failed, or a record is broken: the ticket may be why. The files are read
 * again, because OpenSSL may have been short of memory: from then on it treats a CA as invalid, and
 * does not say why. */
static int fail_tls(struct rlk_tls_session *s)
{
    rlk_tls_drop_ticket(s->tls);
    rlk_tls_explain(s);
    memset(s->tls->stamps, 0, sizeof(s->tls->stamps));
    return end_tls(s, s->no_memory ? RLK_FAULT_MEMORY : RLK_FAULT_TLS);
}

static int read_plain(struct rlk_tls_session *s, char *plain)
{
    int n;

    if (s->fault != RLK_FAULT_NONE) {
        return -1;
    }
    ERR_clear_error();
    n = SSL_read(s->ssl, plain, RLK_TLS_READ);
    if (n > 0) {
        s->answered = true;
        return n;
    }
    switch (SSL_get_error(s->ssl, n)) {
    case SSL_ERROR_WANT_READ:
        return BIO_ctrl_pending(s->wire) > WIRE_MAX ? end_tls(s, RLK_FAULT_TOO_LARGE) : 0;
    case SSL_ERROR_ZERO_RETURN:
        return end_tls(s, RLK_FAULT_CLOSED);
    default:
        return fail_tls(s);
    }
}

static bool is_ready(const struct rlk_tls_session *s)
{
    return s->fault == RLK_FAULT_NONE && SSL_is_init_finished(s->ssl);
}

static bool write_plain(struct rlk_tls_session *s, const char *bytes, size_t len)
{
    if (s->fault != RLK_FAULT_NONE) {
        return false;
    }
    ERR_clear_error();
    if (SSL_write(s->ssl, bytes, (int)len) == (int)len) {
        return true;
    }
    fail_tls(s);
    return false;
}

static void close_session(struct rlk_tls_session *s)
{
    if (is_ready(s)) {
        ERR_clear_error();
        SSL_shutdown(s->ssl);
        ERR_clear_error();
    }
}

static const char *wire_bytes(const struct rlk_tls_session *s, size_t *ret_len)
{
    char *bytes = NULL;
    long len = BIO_get_mem_data(s->wire, &bytes);

    *ret_len = len > 0 ? (size_t)len : 0;
    return bytes;
}

/* A BIO in memory forgets bytes only by giving them away. */
static void drop_sent(struct rlk_tls_session *s, size_t len)
{
    char away[4096];

    while (len > 0) {
        size_t n = len < sizeof(away) ? len : sizeof(away);

        BIO_read(s->wire, away, (int)n);
        len -= n;
    }
}

/* ---- how it is, and how it ended ---- */

static struct rlk_fault fault_of_session(const struct rlk_tls_session *s)
{
    return (struct rlk_fault){s->fault, s->fault == RLK_FAULT_TLS ? s->why : ""};
}

static struct rlk_fault fault_of_end(struct rlk_tls_session *s, const struct rlk_fault *fault)
{
    if (s->fault == RLK_FAULT_NONE && rlk_tls_explain_asked(s)) {
        end_tls(s, RLK_FAULT_TLS);
    }
    if (s->fault != RLK_FAULT_NONE) {
        return fault_of_session(s);
    }
    if (is_ready(s)) {
        return *fault;
    }
    return (struct rlk_fault){RLK_FAULT_HANDSHAKE,
                              fault->text[0] ? fault->text : "the server closed it"};
}

static const char *describe_session(const struct rlk_tls_session *s)
{
    bool verified = s->tls->uri->verify != 0;

    if (!is_ready(s)) {
        return "";
    }
    if (SSL_version(s->ssl) == TLS1_2_VERSION) {
        return verified ? "TLSv1.2, verified" : "TLSv1.2, not verified";
    }
    return verified ? "TLSv1.3, verified" : "TLSv1.3, not verified";
}

const struct rlk_tls_calls rlk_tls_openssl = {
    .make = rlk_tls_master_new,
    .free = rlk_tls_master_free,
    .complaint = rlk_tls_master_complaint,
    .begin = begin_session,
    .end = end_session,
    .receive = receive_records,
    .read = read_plain,
    .is_ready = is_ready,
    .write = write_plain,
    .close = close_session,
    .wire = wire_bytes,
    .sent = drop_sent,
    .fault = fault_of_session,
    .fault_of_end = fault_of_end,
    .describe = describe_session,
};
