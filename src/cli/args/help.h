/* help.h - the parts that --help of several commands have in common. */
#ifndef CLI_ARGS_HELP_H
#define CLI_ARGS_HELP_H

#define CLI_HELP_ALWAYS                                                                            \
    "  -v, --verbose       report on stderr what happens\n"                                        \
    "  -h, --help          print this text\n"

#define CLI_HELP_CONNECT                                                                           \
    CLI_HELP_ALWAYS                                                                                \
    "\n"                                                                                           \
    "the masters (default: REDLOCK_NODES, ~/.config/redlock/nodes, /etc/redlock/nodes):\n"         \
    "  --nodes URI,...     redis[s]://[user[:password]@]host[:port][/db] or unix:///path\n"        \
    "  --username NAME     the user ($REDLOCK_USERNAME)\n"                                         \
    "  --password-file F   a file whose first line is the password ($REDLOCK_PASSWORD_FILE)\n"     \
    "  --password-command C  prints it ($REDLOCK_PASSWORD_COMMAND); or set $REDLOCK_PASSWORD\n"    \
    "  --key-prefix TEXT   a text in front of every KEY ($REDLOCK_KEY_PREFIX)\n"                   \
    "  --node-timeout TIME leave out a master that has not answered for this time, until it\n"     \
    "                      answers (default 500ms)\n"                                              \
    "  --max-ttl TIME      the longest --ttl allowed, the same for all clients of\n"               \
    "                      these masters (default 5m, $REDLOCK_MAX_TTL)\n"                         \
    "  --quarantine=WHICH  do not count the votes of a master for --max-ttl after it restarted\n"  \
    "                      or lost its data: strict (default), observed (only what this\n"         \
    "                      command sees happen), or off (masters that keep their data over\n"      \
    "                      restarts; $REDLOCK_QUARANTINE)\n"                                       \
    "  --cacert FILE       the CAs that sign the certificates of masters whose URI begins with\n"  \
    "                      rediss:// (default: those of the system); --cert and --key FILE are\n"  \
    "                      ours; --sni NAME is theirs; --tls-verify=none accepts all of them\n"    \
    "                      ($REDLOCK_TLS_CACERT, _CERT, _KEY, _SNI, _VERIFY)\n"                    \
    "  --trace             print each thing that happens, a line each, on stderr\n"                \
    "                      ($REDLOCK_TRACE=1)\n"                                                   \
    "TIME is a number with a unit, such as 500ms, 10s, 1.5s, 2m, 1h, 1d or 1h30m; without a\n"     \
    "unit it means seconds.\n"

#endif
