/* masters.c - the table of the options about the masters. */
#include "cli/args/masters.h"

const struct cli_master_option cli_master_options[] = {
    [RLK_SETTING_NODES] = {.value = " URI,...",
                           .help = "the masters: redis://[user[:password]@]host[:port][/db],\n"
                                   "rediss://... (TLS) or unix:///path ($). Use an odd\n"
                                   "number: of three one may fail, of five two"},
    [RLK_SETTING_USERNAME] = {.value = " NAME",
                              .help = "the user of masters whose URI names none ($)"},
    [RLK_SETTING_PASSWORD_FILE] = {.value = " F",
                                   .help = "a file whose first line is the password ($)"},
    [RLK_SETTING_PASSWORD_COMMAND] = {.value = " C",
                                      .help = "a command that prints it ($); or set\n"
                                              "$REDLOCK_PASSWORD"},
    [RLK_SETTING_KEY_PREFIX] = {.value = " TEXT", .help = "a text in front of every KEY ($)"},
    [RLK_SETTING_NODE_TIMEOUT] =
        {.value = " TIME",
         .help = "leave out a master that has not replied for this time, until it\n"
                 "replies (default 500ms, $)"},
    [RLK_SETTING_MAX_TTL] = {.value = " TIME", .help = "the longest --ttl allowed (default 5m, $)"},
    [RLK_SETTING_QUARANTINE] = {.value = "=WHICH",
                                .help =
                                    "do not count the votes of a master for --max-ttl after it "
                                    "restarted\n"
                                    "or lost its data: strict (default), lenient (only what this "
                                    "command\n"
                                    "sees happen), or off (masters that keep their data over "
                                    "restarts;\n"
                                    "$)"},
    [RLK_SETTING_AUDIT] =
        {.usual = "10000",
         .value = "[=N]",
         .help = "write to the audit stream, and keep its last N entries (default 0:\n"
                 "write none; N: 10000; $)"},
    [RLK_SETTING_RECORD] = {.has_no_value = true,
                            .usual = "no",
                            .value = "",
                            .help =
                                "neither write nor compare the record of the masters ($=0; see\n"
                                "redlock masters)"},
    [RLK_SETTING_CACERT] =
        {.value = " FILE",
         .help = "the CAs that sign the certificates of rediss:// masters (default:\n"
                 "those of the system)"},
    [RLK_SETTING_CERT] = {.value = " FILE", .help = "our certificate, and"},
    [RLK_SETTING_KEY] = {.value = " FILE", .help = "its key, for masters that ask for one"},
    [RLK_SETTING_SNI] = {.value = " NAME",
                         .help = "the name in the masters' certificates, if not that in the URI"},
    [RLK_SETTING_TLS_VERIFY] =
        {.value = "=none",
         .help = "accept any certificate (default: full). The variables of these "
                 "are\n"
                 "$REDLOCK_TLS_CACERT, _CERT, _KEY, _SNI and _VERIFY"},
    [RLK_SETTING_TRACE] = {.has_no_value = true,
                           .value = "",
                           .help = "print each event on a line of stderr ($=1)"},
};
