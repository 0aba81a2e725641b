/* cli/say.c - messages. Each is one line in one write, so that the lines of several
 * commands that share a terminal or a log do not mix.
 */
#include "cli/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit.h"

static int verbose;

void cli_say_verbose(void)
{
    verbose = 1;
}

int cli_say_is_verbose(void)
{
    return verbose;
}

static void emit(const char *prefix, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void emit(const char *prefix, const char *format, va_list args)
{
    char line[4096];
    size_t used = (size_t)snprintf(line, sizeof(line), "%s", prefix);
    int n = vsnprintf(line + used, sizeof(line) - used - 1, format, args);

    if (n < 0) {
        return;
    }
    used += (size_t)n < sizeof(line) - used - 1 ? (size_t)n : sizeof(line) - used - 2;
    line[used++] = '\n';
    while (write(STDERR_FILENO, line, used) < 0 && errno == EINTR) {
    }
}

void cli_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit("redlock: ", format, args);
    va_end(args);
}

void cli_say_more(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit("    ", format, args);
    va_end(args);
}

void cli_say_detail(const char *format, ...)
{
    va_list args;

    if (!verbose) {
        return;
    }
    va_start(args, format);
    emit("redlock: ", format, args);
    va_end(args);
}

int cli_say_usage(const char *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit("redlock: ", format, args);
    va_end(args);
    cli_say_more("Try: redlock %s%s--help", command ? command : "", command ? " " : "");
    return CLI_USAGE;
}

int cli_say_print(const char *text)
{
    fputs(text, stdout);
    return cli_say_flush();
}

int cli_say_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return CLI_OK;
    }
    cli_say("cannot write to stdout: %s", errno ? strerror(errno) : "an earlier write failed");
    return CLI_INTERNAL;
}
