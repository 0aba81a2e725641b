/* table.h - the settings about the masters, one row each. The table says how to read the variables
 * and the file of masters, and how the command redlock reads its options and sets the variables of
 * CMD.
 */
#ifndef RLK_SETTINGS_TABLE_H
#define RLK_SETTINGS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the help of the command, which is that of the checks. */
enum rlk_setting {
    RLK_SETTING_NODES,
    RLK_SETTING_USERNAME,
    RLK_SETTING_PASSWORD_FILE,
    RLK_SETTING_PASSWORD_COMMAND,
    RLK_SETTING_KEY_PREFIX,
    RLK_SETTING_NODE_TIMEOUT,
    RLK_SETTING_MAX_TTL,
    RLK_SETTING_QUARANTINE,
    RLK_SETTING_AUDIT,
    RLK_SETTING_RECORD,
    RLK_SETTING_CACERT,
    RLK_SETTING_CERT,
    RLK_SETTING_KEY,
    RLK_SETTING_SNI,
    RLK_SETTING_TLS_VERIFY,
    RLK_SETTING_TRACE,
    RLK_SETTINGS
};

enum rlk_setting_kind {
    RLK_KIND_OWN,    /* it has code of its own: the masters, the login, the trace of the command */
    RLK_KIND_TEXT,   /* a const char * */
    RLK_KIND_NAME,   /* the same, but empty means not set */
    RLK_KIND_FILE,   /* the same, but CMD gets an absolute path */
    RLK_KIND_TIME,   /* a uint32_t, in milliseconds */
    RLK_KIND_NUMBER, /* a uint32_t */
    RLK_KIND_WORD,   /* an enum or int: the number of the word */
    RLK_KIND_SWITCH  /* an int: 1 for yes or 1, 0 for no or 0 */
};

struct rlk_setting_row {
    const char *name; /* of the option of the command; also the name in the file, if `in_file` */
    const char *variable;
    enum rlk_setting_kind kind;
    bool in_file;
    const char *in_file_as;   /* its name there; NULL: that of the option */
    bool of_these;            /* belongs to these masters (login, TLS): not used for others */
    size_t field;             /* where the value is in struct redlock_options */
    uint32_t min, max;        /* of a time or number; max of a text: its length; 0: any */
    const char *const *words; /* by their numbers; the last is followed by NULL */
    const char *expected;     /* the words, for a message */
};

extern const struct rlk_setting_row rlk_setting_rows[RLK_SETTINGS];

/* Its name in the file of masters; NULL: it is not allowed there. */
static inline const char *rlk_setting_in_file(enum rlk_setting setting)
{
    const struct rlk_setting_row *row = &rlk_setting_rows[setting];

    return !row->in_file ? NULL : row->in_file_as ? row->in_file_as : row->name;
}

#endif
