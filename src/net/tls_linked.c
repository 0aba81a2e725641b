/* tls_linked.c - tls_calls.h of the static library: OpenSSL is linked. */
#include "net/tls_calls.h"

const struct rlk_tls_calls *rlk_tls_find(char *why, size_t size)
{
    (void)why;
    (void)size;
    return &rlk_tls_openssl;
}
