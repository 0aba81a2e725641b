/* masters.h - the settings about the masters, a row each: from this table the options are read, the
 * variables, the file of masters and the help, and by it CMD gets its variables.
 */
#ifndef CLI_ARGS_MASTERS_H
#define CLI_ARGS_MASTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the help, which is that of the checks. */
enum cli_setting {
    CLI_NODES,
    CLI_USERNAME,
    CLI_PASSWORD_FILE,
    CLI_PASSWORD_COMMAND,
    CLI_KEY_PREFIX,
    CLI_NODE_TIMEOUT,
    CLI_MAX_TTL,
    CLI_QUARANTINE,
    CLI_AUDIT,
    CLI_RECORD,
    CLI_CACERT,
    CLI_CERT,
    CLI_KEY,
    CLI_SNI,
    CLI_TLS_VERIFY,
    CLI_TRACE,
    CLI_SETTINGS
};

enum cli_setting_kind {
    CLI_SETTING_OWN,    /* a file of cli/session finds it: the masters, the login, the trace */
    CLI_SETTING_TEXT,   /* a const char * */
    CLI_SETTING_NAME,   /* the same, and empty is as none */
    CLI_SETTING_FILE,   /* the same, and CMD gets an absolute path */
    CLI_SETTING_TIME,   /* a uint32_t, in milliseconds */
    CLI_SETTING_NUMBER, /* a uint32_t */
    CLI_SETTING_WORD,   /* an enum or int: the number of the word */
    CLI_SETTING_SWITCH  /* an int: 1 for yes or 1, 0 for no or 0 */
};

struct cli_setting_row {
    const char *name;     /* of the option; also the name in the file, if `in_file` */
    const char *variable; /* NULL: none */
    enum cli_setting_kind kind;
    bool in_file;
    const char *in_file_as;   /* its name there; NULL: that of the option */
    bool has_no_value;        /* the option is a flag */
    bool of_these;            /* says how to log in, so it must not go to other masters */
    size_t field;             /* where the value is in struct redlock_options */
    uint32_t min, max;        /* of a time or number; max of a text: its length; 0: any */
    const char *usual;        /* the value of the option without one; NULL: it needs one, unless it
                                 is a flag */
    const char *const *words; /* by their numbers; the last is followed by NULL */
    const char *expected;     /* the words, for a message */
    const char *value;        /* for the help: what follows the name */
    const char *help;         /* its lines; a $ before no name stands for the variable */
};

extern const struct cli_setting_row cli_settings[CLI_SETTINGS];

/* Its name in the file of masters; NULL: it is not allowed there. */
static inline const char *cli_setting_in_file(enum cli_setting setting)
{
    const struct cli_setting_row *row = &cli_settings[setting];

    return !row->in_file ? NULL : row->in_file_as ? row->in_file_as : row->name;
}

#endif
