/* refusal.h - says why a setting cannot be used, in a buffer of the caller. */
#ifndef RLK_SETTINGS_REFUSAL_H
#define RLK_SETTINGS_REFUSAL_H

#include <stddef.h>

struct rlk_error_text {
    char *text; /* NULL: not wanted */
    size_t size;
};

/* Write the text, cut to `size`. Returns REDLOCK_EINVAL. */
int rlk_settings_refuse(const struct rlk_error_text *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, for REDLOCK_ENOMEM. */
int rlk_settings_no_memory(const struct rlk_error_text *error);

#endif
