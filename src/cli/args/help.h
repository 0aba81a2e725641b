/* help.h - the parts that --help of several commands have in common. */
#ifndef CLI_ARGS_HELP_H
#define CLI_ARGS_HELP_H

#define CLI_HELP_ALWAYS                                                                            \
    "  -v, --verbose       report on stderr what happens\n"                                        \
    "  -h, --help          print this text\n"

/* The names are listed for the completions, which read them here. */
#define CLI_HELP_CONNECT                                                                           \
    CLI_HELP_ALWAYS                                                                                \
    "\n"                                                                                           \
    "options about the masters (`redlock help masters` explains them):\n"                          \
    "  --nodes --username --password-file --password-command --key-prefix --node-timeout\n"        \
    "  --max-ttl --quarantine --cacert --cert --key --sni --tls-verify --trace\n"                  \
    "Without --nodes: $REDLOCK_NODES, ~/.config/redlock/nodes or /etc/redlock/nodes.\n"            \
    "TIME is a number with a unit, such as 500ms, 10s, 1.5s, 2m, 1h, 1d or 1h30m; without a\n"     \
    "unit it means seconds.\n"

/* What `redlock help masters` prints. */
extern const char cli_help_masters[];

#endif
