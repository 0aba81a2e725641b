/* tls_none.c - tls.h of a build without OpenSSL: there is no TLS, and the user is told so. */
#include "net/tls.h"

#include <stdio.h>

#include <redlock/error.h>

int rlk_tls_new(const struct rlk_uri *uri, const struct rlk_tls *other, struct rlk_tls **ret,
                char *why, size_t size)
{
    (void)uri;
    (void)other;
    *ret = NULL;
    snprintf(why, size,
             "this library was built without TLS; use one that was built with OpenSSL (meson setup "
             "-Dtls=enabled), or unix:// or redis:// through a tunnel");
    return REDLOCK_EINVAL;
}

void rlk_tls_free(struct rlk_tls *t)
{
    (void)t;
}

const char *rlk_tls_complaint(const struct rlk_tls *t)
{
    (void)t;
    return "";
}

struct rlk_tls_session *rlk_tls_begin(struct rlk_tls *t)
{
    (void)t;
    return NULL;
}

void rlk_tls_end(struct rlk_tls_session *s)
{
    (void)s;
}

bool rlk_tls_receive(struct rlk_tls_session *s, const char *bytes, size_t len)
{
    (void)s;
    (void)bytes;
    (void)len;
    return false;
}

int rlk_tls_read(struct rlk_tls_session *s, char *plain)
{
    (void)s;
    (void)plain;
    return -1;
}

bool rlk_tls_is_ready(const struct rlk_tls_session *s)
{
    (void)s;
    return false;
}

bool rlk_tls_write(struct rlk_tls_session *s, const char *bytes, size_t len)
{
    (void)s;
    (void)bytes;
    (void)len;
    return false;
}

void rlk_tls_close(struct rlk_tls_session *s)
{
    (void)s;
}

const char *rlk_tls_wire(const struct rlk_tls_session *s, size_t *ret_len)
{
    (void)s;
    *ret_len = 0;
    return "";
}

void rlk_tls_sent(struct rlk_tls_session *s, size_t len)
{
    (void)s;
    (void)len;
}

struct rlk_fault rlk_tls_fault(const struct rlk_tls_session *s)
{
    (void)s;
    return (struct rlk_fault){RLK_FAULT_NONE, ""};
}

struct rlk_fault rlk_tls_fault_of_end(struct rlk_tls_session *s, const struct rlk_fault *fault)
{
    (void)s;
    return *fault;
}

const char *rlk_tls_describe(const struct rlk_tls_session *s)
{
    (void)s;
    return "";
}
