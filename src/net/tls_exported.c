/* tls_exported.c - of the module: what net/tls_module.c looks up in it. */
#include <redlock/export.h>

#include "net/tls_calls.h"

REDLOCK_EXPORT extern const struct rlk_tls_calls *const rlk_tls_module;

const struct rlk_tls_calls *const rlk_tls_module = &rlk_tls_openssl;
