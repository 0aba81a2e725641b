/* counts/assertion.c - an assertion of Check that fails in the servers ends the program: this is no
 * test program of Check. The linker makes their calls come here. */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* `used`: the optimizer of the whole program does not see that the linker needs them. */
__typeof__(_mark_point) __wrap__mark_point __attribute__((used));
__attribute__((used, noreturn, format(printf, 4, 5))) void
__wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...);

void __wrap__mark_point(const char *file, int line)
{
    (void)file;
    (void)line;
}

void __wrap__ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...)
{
    va_list args;

    fprintf(stderr, "%s:%d: %s ", file, line, expr);
    va_start(args, msg);
    if (msg) {
        vfprintf(stderr, msg, args);
    }
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}
