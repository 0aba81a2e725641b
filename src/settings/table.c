/* table.c - the table of the settings about the masters. */
#include "settings/table.h"

#include <redlock/redlock.h>

static const char *const quarantines[] = {[REDLOCK_QUARANTINE_STRICT] = "strict",
                                          [REDLOCK_QUARANTINE_LENIENT] = "lenient",
                                          [REDLOCK_QUARANTINE_OFF] = "off",
                                          NULL};
static const char *const verifications[] = {"none", "full", NULL};

#define FIELD(name) .field = offsetof(struct redlock_options, name)

const struct rlk_setting_row rlk_setting_rows[] = {
    [RLK_SETTING_NODES] = {"nodes", "REDLOCK_NODES", RLK_KIND_OWN, .in_file = false},
    [RLK_SETTING_USERNAME] = {"username", "REDLOCK_USERNAME", RLK_KIND_OWN, .in_file = true,
                              .of_these = true},
    [RLK_SETTING_PASSWORD_FILE] = {"password-file", "REDLOCK_PASSWORD_FILE", RLK_KIND_OWN,
                                   .in_file = true, .of_these = true},
    [RLK_SETTING_PASSWORD_COMMAND] = {"password-command", "REDLOCK_PASSWORD_COMMAND", RLK_KIND_OWN,
                                      .in_file = true, .of_these = true},
    [RLK_SETTING_KEY_PREFIX] = {"key-prefix", "REDLOCK_KEY_PREFIX", RLK_KIND_TEXT, .in_file = true,
                                FIELD(key_prefix), .max = REDLOCK_MAX_KEY - 1},
    [RLK_SETTING_NODE_TIMEOUT] = {"node-timeout", "REDLOCK_NODE_TIMEOUT", RLK_KIND_TIME,
                                  .in_file = true, FIELD(node_timeout_ms), .min = 1, .max = 60000},
    [RLK_SETTING_MAX_TTL] = {"max-ttl", "REDLOCK_MAX_TTL", RLK_KIND_TIME, .in_file = true,
                             FIELD(max_ttl_ms), .min = REDLOCK_MIN_TTL_MS,
                             .max = REDLOCK_MAX_TTL_MS},
    [RLK_SETTING_QUARANTINE] = {"quarantine", "REDLOCK_QUARANTINE", RLK_KIND_WORD, .in_file = true,
                                FIELD(quarantine), .words = quarantines,
                                .expected = "strict, lenient or off"},
    [RLK_SETTING_AUDIT] = {"audit", "REDLOCK_AUDIT", RLK_KIND_NUMBER, .in_file = true,
                           FIELD(audit_entries), .min = 0, .max = 10000000},
    [RLK_SETTING_RECORD] = {"no-record", "REDLOCK_RECORD", RLK_KIND_SWITCH, .in_file = true,
                            .in_file_as = "record", FIELD(record)},
    [RLK_SETTING_CACERT] = {"cacert", "REDLOCK_TLS_CACERT", RLK_KIND_FILE, .in_file = true,
                            .of_these = true, FIELD(tls_cacert)},
    [RLK_SETTING_CERT] = {"cert", "REDLOCK_TLS_CERT", RLK_KIND_FILE, .in_file = true,
                          .of_these = true, FIELD(tls_cert)},
    [RLK_SETTING_KEY] = {"key", "REDLOCK_TLS_KEY", RLK_KIND_FILE, .in_file = true, .of_these = true,
                         FIELD(tls_key)},
    [RLK_SETTING_SNI] = {"sni", "REDLOCK_TLS_SNI", RLK_KIND_NAME, .in_file = true, .of_these = true,
                         FIELD(tls_sni)},
    [RLK_SETTING_TLS_VERIFY] = {"tls-verify", "REDLOCK_TLS_VERIFY", RLK_KIND_WORD, .in_file = true,
                                .of_these = true, FIELD(tls_verify), .words = verifications,
                                .expected = "full or none"},
    [RLK_SETTING_TRACE] = {"trace", "REDLOCK_TRACE", RLK_KIND_OWN, .in_file = false},
};
