/* refusal.c - formats texts into the buffer of a caller. */
#include "settings/refusal.h"

#include <stdarg.h>
#include <stdio.h>

#include <redlock/error.h>

int rlk_settings_refuse(const struct rlk_error_text *error, const char *format, ...)
{
    va_list args;

    if (error->text && error->size > 0) {
        va_start(args, format);
        vsnprintf(error->text, error->size, format, args);
        va_end(args);
    }
    return REDLOCK_EINVAL;
}

int rlk_settings_no_memory(const struct rlk_error_text *error)
{
    rlk_settings_refuse(error, "out of memory");
    return REDLOCK_ENOMEM;
}
