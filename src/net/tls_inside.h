/* tls_inside.h - what the files that include OpenSSL share. */
#ifndef RLK_NET_TLS_INSIDE_H
#define RLK_NET_TLS_INSIDE_H

#include <openssl/ssl.h>
#include <sys/stat.h>

#include "net/tls.h"
#include "net/tls_calls.h"

/* The files of a master. */
enum rlk_tls_file {
    RLK_TLS_CACERT,
    RLK_TLS_CERT,
    RLK_TLS_KEY,
    RLK_TLS_FILES
};

/* A file as it was when it was read; all 0: it could not be found. */
struct rlk_tls_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct rlk_tls {
    const struct rlk_uri *uri;
    SSL_CTX *context;
    SSL_SESSION *ticket; /* resumes the last session; NULL: the next handshake is a full one */
    struct rlk_tls_stamp stamps[RLK_TLS_FILES];
    char complaint[RLK_TLS_WHY];
};

struct rlk_tls_session {
    struct rlk_tls *tls;
    SSL *ssl;
    BIO *received, *wire; /* owned by ssl */
    bool begun;           /* the server has sent something */
    bool asked;           /* the server wants a certificate, and we have none */
    bool answered;        /* the server has sent bytes of a reply */
    bool no_memory;
    enum rlk_fault_kind fault;
    char why[RLK_TLS_WHY]; /* a sentence without its subject, which is the master */
};

/* As in net/tls.h, for the context of a master. */
int rlk_tls_master_new(const struct rlk_uri *uri, const struct rlk_tls *other, struct rlk_tls **ret,
                       char *why, size_t size);
void rlk_tls_master_free(struct rlk_tls *t);
const char *rlk_tls_master_complaint(const struct rlk_tls *t);

/* The file, or NULL. */
const char *rlk_tls_path(const struct rlk_uri *uri, enum rlk_tls_file file);

/* The name or address that the certificate of the server must have. */
const char *rlk_tls_server_name(const struct rlk_uri *uri);

/* Whether a name is an IPv4 or IPv6 address. */
bool rlk_tls_is_address(const char *name);

/* Make the context of OpenSSL from the files. roots: the CAs of the system, to share, or NULL. 0,
 * REDLOCK_ENOMEM, or REDLOCK_EINVAL and why. */
int rlk_tls_make_context(const struct rlk_uri *uri, X509_STORE *roots, SSL_CTX **ret, char *why,
                         size_t size);

/* Read replaced files again. While they cannot be used, keep what was read before, and try again at
 * each connection: the cause may be something else than their contents. */
void rlk_tls_refresh(struct rlk_tls *t);

/* The next handshake is a full one. */
void rlk_tls_drop_ticket(struct rlk_tls *t);

/* For SSL_CTX_set_verify(): explain in the session why a certificate is refused. */
int rlk_tls_on_verify(int good, X509_STORE_CTX *store);

/* The handshake or a record failed: explain it, from the errors of OpenSSL, which are cleared. */
void rlk_tls_explain(struct rlk_tls_session *s);

/* If the server ended the connection because it wants a certificate of ours, explain that. */
bool rlk_tls_explain_asked(struct rlk_tls_session *s);

#endif
