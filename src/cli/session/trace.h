/* trace.h - --trace and REDLOCK_TRACE: everything that happens, a line each on stderr. */
#ifndef CLI_SESSION_TRACE_H
#define CLI_SESSION_TRACE_H

#include "cli/args/args.h"

struct redlock_options;

/* Set the callback in `options` if there shall be a trace. Returns CLI_GO_ON; or says what is wrong
 * with REDLOCK_TRACE and returns CLI_USAGE. */
int cli_trace_find(const char *command, const struct cli_connect *connect,
                   struct redlock_options *options);

#endif
