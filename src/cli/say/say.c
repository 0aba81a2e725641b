/* say.c - messages. Each is one line in one write() (say/writer.h), so that the lines of several
 * commands that share a terminal or a log do not mix. Many contain text from others, so each
 * message is escaped as a whole.
 */
#include "cli/say/say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "cli/say/escape.h"
#include "cli/say/exit.h"
#include "cli/say/writer.h"

static int verbose;

/* A continuation line has the priority of the line before it. */
static int last_priority = LOG_WARNING;

void cli_say_verbose(void)
{
    verbose++;
}

bool cli_say_is_verbose(void)
{
    return verbose > 0;
}

static void end_messages(void)
{
    cli_writer_end(&cli_writer_messages);
}

int cli_say_never_wait(void)
{
    if (cli_writer_start(&cli_writer_messages) != 0) {
        cli_say("cannot make a queue for messages: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    atexit(end_messages);
    return CLI_OK;
}

static void emit(int priority, const char *prefix, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void emit(int priority, const char *prefix, const char *format, va_list args)
{
    char text[CLI_WRITER_LINE];
    char line[CLI_WRITER_LINE];
    size_t used = cli_writer_mark(line, priority);

    used += (size_t)snprintf(line + used, sizeof(line) - used, "%s", prefix);
    last_priority = priority;

    if (vsnprintf(text, sizeof(text), format, args) < 0) {
        return;
    }
    used += cli_escape_text(text, line + used, sizeof(line) - used - 1);
    line[used++] = '\n';
    cli_writer_put(&cli_writer_messages, line, used);
}

void cli_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit(LOG_WARNING, "redlock: ", format, args);
    va_end(args);
}

void cli_say_relief(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit(LOG_NOTICE, "redlock: ", format, args);
    va_end(args);
}

void cli_say_bare(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit(LOG_DEBUG, "", format, args);
    va_end(args);
}

void cli_say_more(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit(last_priority, "    ", format, args);
    va_end(args);
}

void cli_say_detail(const char *format, ...)
{
    va_list args;

    if (verbose < 1) {
        return;
    }
    va_start(args, format);
    emit(LOG_INFO, "redlock: ", format, args);
    va_end(args);
}

void cli_say_routine(const char *format, ...)
{
    va_list args;

    if (verbose < 2) {
        return;
    }
    va_start(args, format);
    emit(LOG_DEBUG, "redlock: ", format, args);
    va_end(args);
}

/* As cli_say(), for a caller that exits then. */
static void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit(LOG_ERR, "redlock: ", format, args);
    va_end(args);
}

int cli_say_usage(const char *command, const char *format, ...)
{
    char text[3072];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    say_error("%s; see redlock %s%s--help", text, command ? command : "", command ? " " : "");
    return CLI_USAGE;
}

int cli_say_setting(const char *format, ...)
{
    char text[3072];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    say_error("%s; see redlock help masters", text);
    return CLI_USAGE;
}

int cli_say_no_memory(void)
{
    say_error("out of memory");
    return CLI_INTERNAL;
}

void cli_say_lines(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");

        cli_say_more("%.*s", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

void cli_say_out(const char *format, ...)
{
    char text[8192];
    char shown[4 * sizeof(text)];
    size_t length = strlen(format);
    bool ended = length > 0 && format[length - 1] == '\n';
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (ended && n > 0 && (size_t)n < sizeof(text)) {
        text[n - 1] = '\0';
    }
    cli_escape_text(text, shown, sizeof(shown));
    printf("%s%s", shown, ended ? "\n" : "");
}

int cli_say_print(const char *text)
{
    fputs(text, stdout);
    return cli_say_flush();
}

/* A pipe or a socket whose other end is closed, as by `| head`. */
static bool nobody_reads(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};

    return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP));
}

int cli_say_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return CLI_OK;
    }
    if (nobody_reads()) {
        return CLI_UNREAD;
    }
    cli_say("cannot write to stdout: %s", errno ? strerror(errno) : "an earlier write failed");
    return CLI_INTERNAL;
}
