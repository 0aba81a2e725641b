/* tls_master.c - the context of a master, which changes when its files do. */
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "net/tls_inside.h"
#include "net/uri.h"

/* A file that cannot be found has a stamp, too: of zeros. */
static void take_stamps(const struct rlk_uri *uri, struct rlk_tls_stamp stamps[RLK_TLS_FILES])
{
    unsigned file;
    struct stat info;

    memset(stamps, 0, RLK_TLS_FILES * sizeof(stamps[0])); /* the padding is compared, too */
    for (file = 0; file < RLK_TLS_FILES; file++) {
        const char *path = rlk_tls_path(uri, file);

        if (path && stat(path, &info) == 0) {
            stamps[file].device = info.st_dev;
            stamps[file].inode = info.st_ino;
            stamps[file].size = info.st_size;
            stamps[file].changed = info.st_mtim;
        }
    }
}

static X509_STORE *system_roots(const struct rlk_tls *t)
{
    bool has = t && t->uri->cacert == NULL && t->uri->verify != 0;

    return has ? SSL_CTX_get_cert_store(t->context) : NULL;
}

void rlk_tls_drop_ticket(struct rlk_tls *t)
{
    SSL_SESSION_free(t->ticket);
    t->ticket = NULL;
}

void rlk_tls_refresh(struct rlk_tls *t)
{
    struct rlk_tls_stamp stamps[RLK_TLS_FILES];
    SSL_CTX *context;
    int status;

    take_stamps(t->uri, stamps);
    if (memcmp(stamps, t->stamps, sizeof(stamps)) == 0 && t->complaint[0] == '\0') {
        return;
    }
    status =
        rlk_tls_make_context(t->uri, system_roots(t), &context, t->complaint, sizeof(t->complaint));
    if (status == REDLOCK_ENOMEM) {
        return; /* the next connection tries again */
    }
    memcpy(t->stamps, stamps, sizeof(stamps));
    if (status == 0) {
        rlk_tls_drop_ticket(t);
        SSL_CTX_free(t->context);
        t->context = context;
        t->complaint[0] = '\0';
    }
}

int rlk_tls_master_new(const struct rlk_uri *uri, const struct rlk_tls *other, struct rlk_tls **ret,
                       char *why, size_t size)
{
    struct rlk_tls *t = rlk_alloc(sizeof(*t));
    int status;

    if (t == NULL) {
        return REDLOCK_ENOMEM;
    }
    t->uri = uri;
    take_stamps(uri, t->stamps);
    status = rlk_tls_make_context(uri, system_roots(other), &t->context, why, size);
    if (status) {
        rlk_free(t);
        return status;
    }
    *ret = t;
    return 0;
}

void rlk_tls_master_free(struct rlk_tls *t)
{
    if (t) {
        rlk_tls_drop_ticket(t);
        SSL_CTX_free(t->context);
        rlk_free(t);
    }
}

const char *rlk_tls_master_complaint(const struct rlk_tls *t)
{
    return t->complaint;
}
