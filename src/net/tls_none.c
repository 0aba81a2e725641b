/* tls_none.c - tls_calls.h of a build without OpenSSL: there is no TLS, and the user is told so. */
#include <stdio.h>

#include "net/tls_calls.h"

const struct rlk_tls_calls *rlk_tls_find(char *why, size_t size)
{
    snprintf(why, size,
             "this library was built without TLS; use one that was built with OpenSSL (meson setup "
             "-Dtls=enabled), or unix:// or redis:// through a tunnel");
    return NULL;
}
