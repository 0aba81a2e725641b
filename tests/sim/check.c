#include "sim/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/trace.h"

void check_violated(struct world *w, const char *checker, const char *format, ...)
{
    va_list args;
    int len;

    if (w->violated) {
        return;
    }
    w->violated = true;
    w->violation_us = w->now_us;
    len = snprintf(w->violation, sizeof(w->violation), "%s: ", checker);
    va_start(args, format);
    vsnprintf(w->violation + len, sizeof(w->violation) - (size_t)len, format, args);
    va_end(args);
    trace(w, "VIOLATION %s", w->violation);
}
