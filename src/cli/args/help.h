/* help.h - the part of every --help that is the same. */
#ifndef CLI_ARGS_HELP_H
#define CLI_ARGS_HELP_H

#define CLI_HELP_ALWAYS                                                                            \
    "  -v, --verbose       say on stderr what happens\n"                                           \
    "  -h, --help          this text\n"

#define CLI_HELP_CONNECT                                                                           \
    CLI_HELP_ALWAYS                                                                                \
    "\n"                                                                                           \
    "the masters (else from REDLOCK_NODES, ~/.config/redlock/nodes, /etc/redlock/nodes):\n"        \
    "  --nodes URI,...     redis://[user[:password]@]host[:port][/db] or unix:///path\n"           \
    "  --username NAME     ($REDLOCK_USERNAME)\n"                                                  \
    "  --password-file F   its first line is the password ($REDLOCK_PASSWORD_FILE, or the\n"       \
    "                      password itself in $REDLOCK_PASSWORD)\n"                                \
    "  --key-prefix TEXT   put before every KEY ($REDLOCK_KEY_PREFIX)\n"                           \
    "  --node-timeout TIME a master silent for so long is left out (default 500ms)\n"              \
    "  --max-ttl TIME      the longest --ttl, the same for all users of these masters\n"           \
    "                      (default 5m, $REDLOCK_MAX_TTL)\n"                                       \
    "  --quarantine=WHICH  masters that restarted, or lost their data, do not vote for that\n"     \
    "                      long: strict (default), observed (only what this command sees)\n"       \
    "                      or off: they keep their data ($REDLOCK_QUARANTINE)\n"                   \
    "  --trace             each thing that happens, a line on stderr ($REDLOCK_TRACE=1)\n"         \
    "TIME is 500ms, 10s, 1.5s, 2m, 1h, 1d or 1h30m; a bare number means seconds.\n"

#endif
