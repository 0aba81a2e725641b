/* testing/failure.c - see failure.h. */
#include "testing/failure.h"

#include <stdarg.h>
#include <stdio.h>

#include <redlock/testing.h>

static _Thread_local char failure_text[256];

int rlk_testing_failure(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(failure_text, sizeof(failure_text), format, args);
    va_end(args);
    return status;
}

const char *redlock_testing_error_text(void)
{
    return failure_text;
}
