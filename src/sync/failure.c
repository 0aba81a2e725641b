/* failure.c - a text for each thread, and the calls that read it. */
#include "sync/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

static _Thread_local struct rlk_sync_failure failure;

struct rlk_sync_failure *rlk_sync_failure_begin(void)
{
    failure.reason = 0;
    failure.len = 0;
    failure.text[0] = '\0';
    return &failure;
}

void rlk_sync_failure_add(struct rlk_sync_failure *f, const char *format, ...)
{
    size_t room = sizeof(f->text) - f->len;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(f->text + f->len, room, format, args);
    va_end(args);
    if (n < 0) {
        f->text[f->len] = '\0';
    } else if ((size_t)n < room) {
        f->len += (size_t)n;
    } else {
        f->len = sizeof(f->text) - 1;
        memcpy(f->text + f->len - 3, "...", 3);
    }
}

REDLOCK_EXPORT const char *redlock_sync_error_text(void)
{
    return failure.text;
}

REDLOCK_EXPORT int redlock_sync_refuse(const char *text)
{
    rlk_sync_failure_add(rlk_sync_failure_begin(), "%s", text ? text : "");
    return REDLOCK_EINVAL;
}

REDLOCK_EXPORT int redlock_sync_error_reason(void)
{
    return failure.reason;
}
