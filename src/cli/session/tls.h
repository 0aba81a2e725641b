/* tls.h - which masters have TLS, and certificates that nobody verifies. */
#ifndef CLI_SESSION_TLS_H
#define CLI_SESSION_TLS_H

#include <redlock/manager.h>

/* How many masters have TLS, and certificates that nobody verifies. The URIs are valid. */
unsigned cli_tls_count_unverified(const struct redlock_options *options);

#endif
