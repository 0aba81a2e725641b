/* value.h - reads the value of a setting, or of an option of the command. `from` names it for a
 * message: "--ttl", "REDLOCK_MAX_TTL".
 *
 * Each returns 0, or REDLOCK_EINVAL with what is wrong in *error; then nothing is stored. */
#ifndef RLK_SETTINGS_VALUE_H
#define RLK_SETTINGS_VALUE_H

#include <stdint.h>

#include "settings/refusal.h"

struct redlock_options;
struct rlk_setting_row;
struct rlk_value;

/* A duration from min_ms to max_ms (settings/duration.h). */
int rlk_value_time(const char *from, const char *text, uint32_t min_ms, uint32_t max_ms,
                   const struct rlk_error_text *error, uint32_t *ret_ms);

/* A number from min to max; only digits are allowed. */
int rlk_value_number(const char *from, const char *text, int min, int max,
                     const struct rlk_error_text *error, int *ret_number);

/* Store the value of a setting in its field of the options. Not for settings with code of their
 * own. A text is borrowed. */
int rlk_value_store(const struct rlk_setting_row *row, const struct rlk_value *value,
                    const struct rlk_error_text *error, struct redlock_options *options);

#endif
