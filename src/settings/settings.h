/* settings.h - how to reach the masters, and the settings that all their clients must share: from
 * options, else the environment, else the file that names the masters.
 *
 * The library reads them for programs (redlock_settings_read()). The command redlock compiles this
 * folder for itself, because its options come first and its messages name them.
 */
#ifndef RLK_SETTINGS_SETTINGS_H
#define RLK_SETTINGS_SETTINGS_H

#include "settings/password.h"

/* What the options point into. */
struct rlk_settings {
    struct rlk_sources sources;
    struct rlk_password password;
};

/* Find the settings, and store them in *options; its other fields keep their values. Masters or a
 * password that are set already are not looked up. There may be no masters afterwards.
 *
 * given   the options of a command line, in the order of enum rlk_setting; borrowed. NULL: there is
 *         none.
 *
 * Returns 0, and the caller calls rlk_settings_end() when it no longer needs *options; or
 * REDLOCK_EINVAL or REDLOCK_ENOMEM, with what is wrong in options->error_text. */
int rlk_settings_find(const char *const *given, struct rlk_settings *ret_settings,
                      struct redlock_options *options);

/* Free the settings, and wipe the secrets. */
void rlk_settings_end(struct rlk_settings *settings);

#endif
