/* subcommands.h - the commands of redlock(1), each in a file of its own. */
#ifndef CLI_ARGS_SUBCOMMANDS_H
#define CLI_ARGS_SUBCOMMANDS_H

#include "cli/args/args.h"

extern const struct cli_subcommand cli_lock, cli_acquire, cli_extend, cli_release, cli_status,
    cli_nodes, cli_doctor, cli_sandbox, cli_elect, cli_exporter, cli_web;

#endif
