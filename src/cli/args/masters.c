/* masters.c - the table of the settings about the masters. */
#include "cli/args/masters.h"

#include <redlock/redlock.h>

static const char *const quarantines[] = {[REDLOCK_QUARANTINE_STRICT] = "strict",
                                          [REDLOCK_QUARANTINE_LENIENT] = "lenient",
                                          [REDLOCK_QUARANTINE_OFF] = "off",
                                          NULL};
static const char *const verifications[] = {"none", "full", NULL};

#define FIELD(name) .field = offsetof(struct redlock_options, name)

const struct cli_setting_row cli_settings[] = {
    [CLI_NODES] = {"nodes", "REDLOCK_NODES", .value = " URI,...",
                   .help = "the masters: redis://[user[:password]@]host[:port][/db],\n"
                           "rediss://... (TLS) or unix:///path ($). Use an odd\n"
                           "number: of three one may fail, of five two"},
    [CLI_USERNAME] = {"username", "REDLOCK_USERNAME", .in_file = true, .of_these = true,
                      .value = " NAME", .help = "the user of masters whose URI names none ($)"},
    [CLI_PASSWORD_FILE] = {"password-file", "REDLOCK_PASSWORD_FILE", .in_file = true,
                           .of_these = true, .value = " F",
                           .help = "a file whose first line is the password ($)"},
    [CLI_PASSWORD_COMMAND] = {"password-command", "REDLOCK_PASSWORD_COMMAND", .in_file = true,
                              .of_these = true, .value = " C",
                              .help = "a command that prints it ($); or set\n"
                                      "$REDLOCK_PASSWORD"},
    [CLI_KEY_PREFIX] = {"key-prefix", "REDLOCK_KEY_PREFIX", CLI_SETTING_TEXT, .in_file = true,
                        FIELD(key_prefix), .max = REDLOCK_MAX_KEY - 1, .value = " TEXT",
                        .help = "a text in front of every KEY ($)"},
    [CLI_NODE_TIMEOUT] = {"node-timeout", "REDLOCK_NODE_TIMEOUT", CLI_SETTING_TIME, .in_file = true,
                          FIELD(node_timeout_ms), .min = 1, .max = 60000, .value = " TIME",
                          .help =
                              "leave out a master that has not replied for this time, until it\n"
                              "replies (default 500ms, $)"},
    [CLI_MAX_TTL] = {"max-ttl", "REDLOCK_MAX_TTL", CLI_SETTING_TIME, .in_file = true,
                     FIELD(max_ttl_ms), .min = REDLOCK_MIN_TTL_MS, .max = REDLOCK_MAX_TTL_MS,
                     .value = " TIME", .help = "the longest --ttl allowed (default 5m, $)"},
    [CLI_QUARANTINE] = {"quarantine", "REDLOCK_QUARANTINE", CLI_SETTING_WORD, .in_file = true,
                        FIELD(quarantine), .words = quarantines,
                        .expected = "strict, lenient or off", .value = "=WHICH",
                        .help = "do not count the votes of a master for --max-ttl after it "
                                "restarted\n"
                                "or lost its data: strict (default), lenient (only what this "
                                "command\n"
                                "sees happen), or off (masters that keep their data over "
                                "restarts;\n"
                                "$)"},
    [CLI_AUDIT] = {"audit", "REDLOCK_AUDIT", CLI_SETTING_NUMBER, .in_file = true,
                   FIELD(audit_entries), .min = 0, .max = 10000000, .usual = "10000",
                   .value = "[=N]",
                   .help = "write to the audit stream, and keep its last N entries (default 0:\n"
                           "write none; N: 10000; $)"},
    [CLI_RECORD] = {"no-record", "REDLOCK_RECORD", CLI_SETTING_SWITCH, .in_file = true,
                    .in_file_as = "record", .has_no_value = true, FIELD(record), .usual = "no",
                    .value = "",
                    .help = "neither write nor compare the record of the masters ($=0; see\n"
                            "redlock masters)"},
    [CLI_CACERT] = {"cacert", "REDLOCK_TLS_CACERT", CLI_SETTING_FILE, .in_file = true,
                    .of_these = true, FIELD(tls_cacert), .value = " FILE",
                    .help = "the CAs that sign the certificates of rediss:// masters (default:\n"
                            "those of the system)"},
    [CLI_CERT] = {"cert", "REDLOCK_TLS_CERT", CLI_SETTING_FILE, .in_file = true, .of_these = true,
                  FIELD(tls_cert), .value = " FILE", .help = "our certificate, and"},
    [CLI_KEY] = {"key", "REDLOCK_TLS_KEY", CLI_SETTING_FILE, .in_file = true, .of_these = true,
                 FIELD(tls_key), .value = " FILE", .help = "its key, for masters that ask for one"},
    [CLI_SNI] = {"sni", "REDLOCK_TLS_SNI", CLI_SETTING_NAME, .in_file = true, .of_these = true,
                 FIELD(tls_sni), .value = " NAME",
                 .help = "the name in the masters' certificates, if not that in the URI"},
    [CLI_TLS_VERIFY] = {"tls-verify", "REDLOCK_TLS_VERIFY", CLI_SETTING_WORD, .in_file = true,
                        .of_these = true, FIELD(tls_verify), .words = verifications,
                        .expected = "full or none", .value = "=none",
                        .help = "accept any certificate (default: full). The variables of these "
                                "are\n"
                                "$REDLOCK_TLS_CACERT, _CERT, _KEY, _SNI and _VERIFY"},
    [CLI_TRACE] = {"trace", "REDLOCK_TRACE", .has_no_value = true, .value = "",
                   .help = "print each event on a line of stderr ($=1)"},
};
