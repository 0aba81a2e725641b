/* password.h - where the password for the masters comes from. */
#ifndef RLK_SETTINGS_PASSWORD_H
#define RLK_SETTINGS_PASSWORD_H

#include "settings/lookup.h"

struct redlock_options;

/* At most one of these is not NULL. */
struct rlk_password {
    char *text;          /* from REDLOCK_PASSWORD or a pipe */
    const char *file;    /* a file that can be read again; borrowed from the sources */
    const char *command; /* prints it; borrowed; has not been run */
};

/* Find the login: in the options, else the variables, else the file that names the masters. Set it
 * in *options; but if it is a command, the caller who runs it sets the password. Returns 0; or
 * REDLOCK_EINVAL or REDLOCK_ENOMEM, with what is wrong in *error. The caller calls
 * rlk_password_end() in all cases.
 */
int rlk_password_find(const struct rlk_sources *sources, const struct rlk_error_text *error,
                      struct rlk_password *ret_password, struct redlock_options *options);

/* Wipe and free the text. */
void rlk_password_end(struct rlk_password *password);

#endif
