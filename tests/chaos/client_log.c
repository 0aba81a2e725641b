/* chaos/client_log.c - writes the history: each line with one write(2), so a process that is killed
 * loses no finished line. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "chaos/client_log.h"

#define LINE_MOST 8192

bool (*log_mutes)(void);

static int log_fd = -1;
static const char *log_name, *log_path;
static unsigned last_op, pending;

_Noreturn static void give_up(const char *why)
{
    fprintf(stderr, "%s: cannot write %s: %s\n", log_name, log_path, why);
    _exit(LOG_FAILED);
}

void log_open(const char *path, const char *name)
{
    log_name = name;
    log_path = path;
    log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_fd < 0) {
        give_up("it cannot be opened");
    }
}

uint64_t true_us(void)
{
    struct timespec now;

    if (syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now)) {
        abort();
    }
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static size_t put(size_t at, int printed)
{
    if (printed < 0 || (size_t)printed >= LINE_MOST - at) {
        give_up("a line is too long");
    }
    return at + (size_t)printed;
}

static void write_line(const char *line, size_t len)
{
    ssize_t n = write(log_fd, line, len);

    if (n < 0) {
        give_up(strerror(errno));
    } else if ((size_t)n < len) {
        give_up("a line was written in part only");
    }
}

__attribute__((format(printf, 3, 0))) static void write_event(const char *event, const char *first,
                                                              const char *format, va_list ap)
{
    /* True time first: a process that is stopped in between seems to rely on a lock for less long,
     * not for longer. */
    uint64_t t_us = true_us(), own_us = redlock_clock_us();
    char line[LINE_MOST];
    size_t at = 0, fields;

    at = put(at, snprintf(line, LINE_MOST,
                          "{\"t\":%" PRIu64 ",\"own\":%" PRIu64 ",\"p\":\"%s\",\"e\":\"%s\"%s",
                          t_us, own_us, log_name, event, first));
    fields = at + 1;
    at = put(fields, vsnprintf(line + fields, LINE_MOST - fields, format, ap));
    if (at > fields) {
        line[fields - 1] = ',';
    } else {
        at = fields - 1;
    }
    at = put(at, snprintf(line + at, LINE_MOST - at, "}\n"));
    write_line(line, at);
}

void log_line(const char *event, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    write_event(event, "", format, ap);
    va_end(ap);
}

unsigned op_begin(const char *what, const char *format, ...)
{
    char first[64];
    va_list ap;

    pending++;
    snprintf(first, sizeof(first), ",\"op\":%u,\"what\":\"%s\"", ++last_op, what);
    va_start(ap, format);
    write_event("begin", first, format, ap);
    va_end(ap);
    return last_op;
}

void op_end(unsigned op, const char *format, ...)
{
    char first[32];
    va_list ap;

    pending--;
    if (log_mutes && log_mutes()) {
        return;
    }
    snprintf(first, sizeof(first), ",\"op\":%u", op);
    va_start(ap, format);
    write_event("end", first, format, ap);
    va_end(ap);
}

unsigned op_pending(void)
{
    return pending;
}

static size_t put_char(char *out, size_t size, size_t at, char c)
{
    if (at + 1 < size) {
        out[at++] = c;
    }
    return at;
}

/* As JSON; the texts are names, so what has no place in a name becomes a question mark. */
static size_t put_text(char *out, size_t size, size_t at, const char *text)
{
    at = put_char(out, size, at, '"');
    for (; *text; text++) {
        bool plain = *text >= ' ' && *text <= '~' && *text != '"' && *text != '\\';

        at = put_char(out, size, at, plain ? *text : '?');
    }
    return put_char(out, size, at, '"');
}

void json_texts(char *out, size_t size, const char *const *texts, size_t n)
{
    size_t i, at = put_char(out, size, 0, '[');

    for (i = 0; i < n; i++) {
        at = i ? put_char(out, size, at, ',') : at;
        at = put_text(out, size, at, texts[i]);
    }
    out[put_char(out, size, at, ']')] = '\0';
}
