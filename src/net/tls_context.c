/* tls_context.c - reads CAs, certificate and key, and decides what a server must prove. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <redlock/error.h>

#include "net/tls_inside.h"
#include "net/uri.h"

static const char *const names[RLK_TLS_FILES] = {
    [RLK_TLS_CACERT] = "cacert", [RLK_TLS_CERT] = "cert", [RLK_TLS_KEY] = "key"};

const char *rlk_tls_path(const struct rlk_uri *uri, enum rlk_tls_file file)
{
    const char *const paths[RLK_TLS_FILES] = {
        [RLK_TLS_CACERT] = uri->cacert, [RLK_TLS_CERT] = uri->cert, [RLK_TLS_KEY] = uri->key};

    return paths[file];
}

const char *rlk_tls_server_name(const struct rlk_uri *uri)
{
    return uri->sni ? uri->sni : uri->host;
}

bool rlk_tls_is_address(const char *name)
{
    struct in6_addr address;

    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

struct reading {
    const struct rlk_uri *uri;
    SSL_CTX *context;
    char *why;
    size_t size;
    bool wants_passphrase;
    bool mismatch; /* the key belongs to another certificate */
    bool no_memory;
};

/* OpenSSL has failed: take the reasons from its queue. Each of its parts numbers its own. */
static void note_errors(struct reading *r)
{
    unsigned long error;

    while ((error = ERR_get_error())) {
        int reason = ERR_GET_REASON(error);
        bool of_x509 = ERR_GET_LIB(error) == ERR_LIB_X509;

        r->no_memory |= reason == ERR_R_MALLOC_FAILURE;
        r->mismatch |=
            of_x509 && (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH);
        r->mismatch |= !of_x509 && reason == SSL_R_NO_CERTIFICATE_ASSIGNED;
    }
}

static int refuse_tls_file(struct reading *r, enum rlk_tls_file file, const char *after)
{
    note_errors(r);
    if (r->no_memory) {
        return REDLOCK_ENOMEM;
    }
    snprintf(r->why, r->size, "%s=%s %s", names[file], rlk_tls_path(r->uri, file), after);
    return REDLOCK_EINVAL;
}

/* OpenSSL does not say clearly why it cannot open a file. A pipe could be read only once. */
static int check_readable(struct reading *r, enum rlk_tls_file file)
{
    const char *path = rlk_tls_path(r->uri, file), *why = NULL;
    struct stat info;
    char after[128];
    int fd;

    if (path == NULL) {
        return 0;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info)) {
        why = strerror(errno);
    } else if (!S_ISREG(info.st_mode)) {
        why = "it is not a regular file";
    }
    if (fd >= 0) {
        close(fd);
    }
    snprintf(after, sizeof(after), "cannot be read: %s; give a file that this user may read",
             why ? why : "");
    return why ? refuse_tls_file(r, file, after) : 0;
}

/* ---- what the server must prove ---- */

static int set_roots(struct reading *r, X509_STORE *roots)
{
    if (r->uri->cacert == NULL) {
        return roots ? (SSL_CTX_set1_cert_store(r->context, roots), 0)
               : SSL_CTX_set_default_verify_paths(r->context) ? 0
                                                              : REDLOCK_ENOMEM;
    }
    if (!SSL_CTX_load_verify_locations(r->context, r->uri->cacert, NULL)) {
        return refuse_tls_file(
            r, RLK_TLS_CACERT,
            "has no certificate of a CA; give a file in PEM form (-----BEGIN CERTIFICATE)");
    }
    /* A certificate that the user names is trusted, whether its issuer is in the file or not. */
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(r->context), X509_V_FLAG_PARTIAL_CHAIN);
    return 0;
}

static int set_name(struct reading *r)
{
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(r->context);
    const char *name = rlk_tls_server_name(r->uri);
    size_t len = strlen(name);

    len -= len > 1 && name[len - 1] == '.'; /* the same name, from the root on */
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                               X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (rlk_tls_is_address(name) ? X509_VERIFY_PARAM_set1_ip_asc(param, name)
                                 : X509_VERIFY_PARAM_set1_host(param, name, len)) {
        return 0;
    }
    return REDLOCK_ENOMEM;
}

static int set_verification(struct reading *r, X509_STORE *roots)
{
    int status;

    if (r->uri->verify == 0) {
        SSL_CTX_set_verify(r->context, SSL_VERIFY_NONE, NULL);
        return 0;
    }
    SSL_CTX_set_verify(r->context, SSL_VERIFY_PEER, rlk_tls_on_verify);
    status = set_roots(r, roots);
    return status ? status : set_name(r);
}

/* ---- our own certificate ---- */

/* Nobody can be asked. */
static int on_passphrase(char *out, int size, int writes, void *arg)
{
    struct reading *r = arg;

    (void)out;
    (void)size;
    (void)writes;
    r->wants_passphrase = true;
    return -1;
}

static int load_certificate(struct reading *r)
{
    if (SSL_CTX_use_certificate_chain_file(r->context, r->uri->cert)) {
        return 0;
    }
    return refuse_tls_file(
        r, RLK_TLS_CERT,
        "has no certificate that can be used; give a file in PEM form (-----BEGIN "
        "CERTIFICATE)");
}

static int load_key(struct reading *r)
{
    bool loaded;

    SSL_CTX_set_default_passwd_cb(r->context, on_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(r->context, r);
    loaded = SSL_CTX_use_PrivateKey_file(r->context, r->uri->key, SSL_FILETYPE_PEM) == 1 &&
             SSL_CTX_check_private_key(r->context) == 1;
    SSL_CTX_set_default_passwd_cb(r->context, NULL);
    SSL_CTX_set_default_passwd_cb_userdata(r->context, NULL);
    if (loaded) {
        return 0;
    }
    note_errors(r);
    if (r->wants_passphrase) {
        return refuse_tls_file(
            r, RLK_TLS_KEY,
            "is protected by a passphrase; remove it (openssl pkey -in FILE -out NEW)");
    }
    return refuse_tls_file(r, RLK_TLS_KEY,
                           r->mismatch
                               ? "is not the key of the certificate in cert=; give the two that "
                                 "belong together"
                               : "has no private key; give a file in PEM form (-----BEGIN PRIVATE "
                                 "KEY)");
}

static int load_own(struct reading *r)
{
    int status;

    if (r->uri->cert == NULL && r->uri->key == NULL) {
        return 0;
    }
    if (r->uri->cert == NULL || r->uri->key == NULL) {
        snprintf(r->why, r->size, "%s= is set without %s=; give both, or none of them",
                 r->uri->cert ? "cert" : "key", r->uri->cert ? "key" : "cert");
        return REDLOCK_EINVAL;
    }
    status = load_certificate(r);
    return status ? status : load_key(r);
}

/* ---- the context ---- */

/* The configuration of the system (openssl.cnf) may ask for more. */
static bool set_versions(SSL_CTX *context)
{
    return SSL_CTX_get_min_proto_version(context) >= TLS1_2_VERSION ||
           SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

/* Called when the server wants a certificate, and we have none. */
static int on_asked(SSL *ssl, X509 **certificate, EVP_PKEY **key)
{
    struct rlk_tls_session *s = SSL_get_app_data(ssl);

    (void)certificate;
    (void)key;
    s->asked = true;
    return 0;
}

/* A session that is resumed is not verified again. So what the former CAs have verified ends with
 * the sessions of that time. */
static int on_ticket(SSL *ssl, SSL_SESSION *ticket)
{
    struct rlk_tls_session *s = SSL_get_app_data(ssl);

    if (SSL_get_SSL_CTX(ssl) != s->tls->context) {
        return 0;
    }
    SSL_SESSION_free(s->tls->ticket);
    s->tls->ticket = ticket;
    return 1; /* it is ours now */
}

static void set_manners(SSL_CTX *context)
{
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, on_ticket);
    SSL_CTX_set_client_cert_cb(context, on_asked);
}

static int fill(struct reading *r, X509_STORE *roots)
{
    unsigned file;
    int status = 0;

    if (!set_versions(r->context)) {
        return REDLOCK_ENOMEM;
    }
    set_manners(r->context);
    for (file = 0; status == 0 && file < RLK_TLS_FILES; file++) {
        status = check_readable(r, file);
    }
    if (status == 0) {
        status = set_verification(r, roots);
    }
    return status ? status : load_own(r);
}

int rlk_tls_make_context(const struct rlk_uri *uri, X509_STORE *roots, SSL_CTX **ret, char *why,
                         size_t size)
{
    struct reading r = {.uri = uri, .why = why, .size = size};
    int status = REDLOCK_ENOMEM;

    /* Without this, OpenSSL would free its memory when main() returns, under threads that still use
     * it (redlock/sync.h). A program that has begun to use OpenSSL before has decided itself. */
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    ERR_clear_error();
    r.context = SSL_CTX_new(TLS_client_method());
    if (r.context) {
        status = fill(&r, roots);
    }
    if (status) {
        SSL_CTX_free(r.context);
        r.context = NULL;
    }
    ERR_clear_error(); /* SSL_CTX_free() allocates as well */
    *ret = r.context;
    return status;
}
