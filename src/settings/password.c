/* password.c - looks up the login as a setting, and reads files that can be read only once. */
#include "settings/password.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/manager.h>

#include "net/secret.h"
#include "settings/file.h"

/* A pipe can be read only once, so the library gets its text; for a file it gets the name. */
static int use_file(struct rlk_password *password, const char *path,
                    const struct rlk_error_text *error)
{
    if (rlk_file_line(path, &password->text) != 0) {
        if (errno == ENOMEM) {
            return rlk_settings_no_memory(error);
        }
        return rlk_settings_refuse(error, "cannot read the password from the first line of %s: %s",
                                   path, rlk_file_why(errno));
    }
    if (rlk_file_is_regular(path)) {
        rlk_secret_free(password->text);
        password->text = NULL;
        password->file = path;
    }
    return 0;
}

static int use_variable(struct rlk_password *password, const struct rlk_error_text *error)
{
    const char *text = getenv("REDLOCK_PASSWORD");

    if (text && text[0]) {
        password->text = rlk_secret_copy(text, strlen(text));
        if (password->text == NULL) {
            return rlk_settings_no_memory(error);
        }
    }
    return 0;
}

/* Two options, or two lines of a file, are a mistake. Of two variables the file takes precedence:
 * they may have been set in different places. */
static int refuse_both(const struct rlk_value *file, const struct rlk_value *other,
                       const struct rlk_error_text *error)
{
    return rlk_settings_refuse(error, "%s and %s are both given: give one of them", file->from,
                               other->from);
}

static int refuse_empty(const struct rlk_value *value, const struct rlk_error_text *error)
{
    return value->text && !value->text[0] ? rlk_settings_refuse(error, "%s is empty", value->from)
                                          : 0;
}

/* The source with the higher precedence; REDLOCK_PASSWORD is a variable, too. */
static int find_password(const struct rlk_sources *sources, const struct rlk_error_text *error,
                         struct rlk_password *password)
{
    const char *text = getenv("REDLOCK_PASSWORD");
    struct rlk_value file = rlk_lookup(sources, RLK_SETTING_PASSWORD_FILE);
    struct rlk_value printed = rlk_lookup(sources, RLK_SETTING_PASSWORD_COMMAND);
    enum rlk_source first = file.source < printed.source ? file.source : printed.source;

    if (file.text && file.source == printed.source && first != RLK_FROM_VARIABLE) {
        return refuse_both(&file, &printed, error);
    }
    if ((text && text[0] && first > RLK_FROM_VARIABLE) || first == RLK_FROM_NOTHING) {
        return use_variable(password, error);
    }
    if (file.source == first) {
        return refuse_empty(&file, error) ? REDLOCK_EINVAL : use_file(password, file.text, error);
    }
    password->command = printed.text;
    return refuse_empty(&printed, error);
}

static int find_username(const struct rlk_sources *sources, const struct rlk_error_text *error,
                         const struct rlk_password *password, struct redlock_options *options)
{
    struct rlk_value name = rlk_lookup(sources, RLK_SETTING_USERNAME);

    options->username = name.text && name.text[0] ? name.text : NULL;
    if (options->username && !password->text && !password->file && !password->command) {
        return rlk_settings_refuse(error,
                                   "%s needs a password; use %sREDLOCK_PASSWORD_FILE or "
                                   "REDLOCK_PASSWORD",
                                   name.from,
                                   sources->options ? "--password-file, --password-command, " : "");
    }
    return 0;
}

int rlk_password_find(const struct rlk_sources *sources, const struct rlk_error_text *error,
                      struct rlk_password *ret_password, struct redlock_options *options)
{
    int status;

    *ret_password = (struct rlk_password){0};
    status = find_password(sources, error, ret_password);
    options->password = ret_password->text;
    options->password_file = ret_password->file;
    return status == 0 ? find_username(sources, error, ret_password, options) : status;
}

void rlk_password_end(struct rlk_password *password)
{
    rlk_secret_free(password->text);
    *password = (struct rlk_password){0};
}
