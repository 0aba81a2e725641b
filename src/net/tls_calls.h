/* tls_calls.h - what net/tls.h calls: OpenSSL, which most processes never load.
 *
 *   net/tls.c --rlk_tls_find()--> tls_module.c   shared library: opens the module on first use
 *                                 tls_linked.c   static library: OpenSSL is linked
 *                                 tls_none.c     a build without OpenSSL
 *
 * The module has tls_exported.c, and what includes OpenSSL: tls_context, tls_fault, tls_master and
 * tls_session. */
#ifndef RLK_NET_TLS_CALLS_H
#define RLK_NET_TLS_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "net/fault.h"

struct rlk_tls;
struct rlk_tls_session;
struct rlk_uri;

/* Each as the function of net/tls.h that has its name; `make` is rlk_tls_new(). */
struct rlk_tls_calls {
    int (*make)(const struct rlk_uri *uri, const struct rlk_tls *other, struct rlk_tls **ret,
                char *why, size_t size);
    void (*free)(struct rlk_tls *t);
    const char *(*complaint)(const struct rlk_tls *t);
    struct rlk_tls_session *(*begin)(struct rlk_tls *t);
    void (*end)(struct rlk_tls_session *s);
    bool (*receive)(struct rlk_tls_session *s, const char *bytes, size_t len);
    int (*read)(struct rlk_tls_session *s, char *plain);
    bool (*is_ready)(const struct rlk_tls_session *s);
    bool (*write)(struct rlk_tls_session *s, const char *bytes, size_t len);
    void (*close)(struct rlk_tls_session *s);
    const char *(*wire)(const struct rlk_tls_session *s, size_t *ret_len);
    void (*sent)(struct rlk_tls_session *s, size_t len);
    struct rlk_fault (*fault)(const struct rlk_tls_session *s);
    struct rlk_fault (*fault_of_end)(struct rlk_tls_session *s, const struct rlk_fault *fault);
    const char *(*describe)(const struct rlk_tls_session *s);
};

extern const struct rlk_tls_calls rlk_tls_openssl;

/* The calls, the same ones each time. NULL: there is no TLS, and `why` says what to do. */
const struct rlk_tls_calls *rlk_tls_find(char *why, size_t size);

#endif
