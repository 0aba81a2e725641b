/* tls.h - the settings of TLS, which masters whose URI begins with rediss:// use. */
#ifndef CLI_SESSION_TLS_H
#define CLI_SESSION_TLS_H

#include <redlock/manager.h>

#include "cli/args/args.h"
#include "cli/session/node_list.h"

/* Find the settings, which point into `connect`, the environment and `nodes`. Returns CLI_GO_ON; or
 * says what is wrong, and returns CLI_USAGE. */
int cli_tls_find(const char *command, const struct cli_connect *connect,
                 const struct cli_node_list *nodes, struct redlock_options *options);

/* How many masters have TLS, and certificates that nobody verifies. The URIs are valid. */
unsigned cli_tls_count_unverified(const struct redlock_options *options);

/* Set the variables of CMD. Names of files become absolute, because CMD may be elsewhere. Returns 0
 * or -1. */
int cli_tls_export(const struct redlock_options *options);
#endif
