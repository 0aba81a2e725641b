/* writer.c - a thread that writes lines to a file, and the queue of lines for it.
 *
 * Only a thread can keep a slow file from blocking us:
 *   - O_NONBLOCK would also affect everybody else who has the file open, such as the shell and CMD.
 *   - After poll() has reported room, CMD may use that room first. And poll() always reports room
 *     in a file on a disk that hangs.
 *   - Opening the file again may be forbidden, and would give it a second offset.
 *
 * The thread starts with the first line. The queue is a pipe in packet mode: one read() returns one
 * line, so each line is written by one write(). A line that is a single NUL ends the thread, which
 * then closes its end of the pipe.
 */
#include "cli/say/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include <sys/stat.h>

/* A line takes a page of the queue. A user who has many pipes gets less: 16 lines. */
#define QUEUE_BYTES (256 * 4096)

/* How long cli_writer_end() waits for room in the queue, and then for its end. */
#define END_MS 1000

struct cli_writer {
    int fd;                /* where the lines go */
    bool stops;            /* after a line that could not be written */
    int in, out;           /* both ends of the queue; -1: not made yet */
    bool has_thread;       /* which owns `out` */
    unsigned long dropped; /* messages that the queue had no room for */
    atomic_int error;      /* why a line could not be written */
    /* Only the thread uses these, if there is one. */
    unsigned long failed; /* messages that could not be written */
    bool broken;          /* a part of the last line was written */
};

struct cli_writer cli_writer_messages = {.fd = STDERR_FILENO, .in = -1, .out = -1};
struct cli_writer cli_writer_events = {.fd = STDOUT_FILENO, .stops = true, .in = -1, .out = -1};

/* ---- the journal ---- */

/* systemd says which file it has set up as our stderr, which may have been redirected since. */
static bool is_journal(void)
{
    const char *name = getenv("JOURNAL_STREAM");
    char ours[64];
    struct stat file;

    if (name == NULL || fstat(STDERR_FILENO, &file) != 0) {
        return false;
    }
    snprintf(ours, sizeof(ours), "%ju:%ju", (uintmax_t)file.st_dev, (uintmax_t)file.st_ino);
    return strcmp(name, ours) == 0;
}

size_t cli_writer_mark(char *line, int priority)
{
    static atomic_int known; /* 0: not known yet; 1: it is the journal; -1: it is not */

    if (known == 0) {
        known = is_journal() ? 1 : -1;
    }
    return known > 0 ? (size_t)snprintf(line, CLI_WRITER_MARK + 1, "<%d>", priority) : 0;
}

/* ---- to the file ---- */

/* Another process may have set O_NONBLOCK. */
static void await_room(int file)
{
    struct pollfd fd = {.fd = file, .events = POLLOUT};

    poll(&fd, 1, -1);
}

static bool write_all(struct cli_writer *writer, const char *line, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t n = write(writer->fd, line + done, length - done);

        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            await_room(writer->fd);
        } else if (errno != EINTR) {
            atomic_store(&writer->error, errno);
            writer->broken |= done > 0;
            return false;
        }
    }
    return true;
}

/* "redlock: 3 messages were dropped: WHY". Returns its length. */
static size_t format_note(char *note, unsigned long lines, const char *why)
{
    size_t used = cli_writer_mark(note, LOG_WARNING);

    return used + (size_t)snprintf(note + used, CLI_WRITER_LINE - used,
                                   "redlock: %lu message%s dropped: %s\n", lines,
                                   lines == 1 ? " was" : "s were", why);
}

static bool write_note(struct cli_writer *writer)
{
    char note[CLI_WRITER_LINE];
    size_t length = format_note(note, writer->failed, strerror(atomic_load(&writer->error)));

    return (!writer->broken || write_all(writer, "\n", 1)) && write_all(writer, note, length);
}

/* Returns whether another line may be written. */
static bool write_line(struct cli_writer *writer, const char *line, size_t length)
{
    bool written;

    if (writer->failed && write_note(writer)) {
        writer->failed = 0;
        writer->broken = false;
    }
    written = write_all(writer, line, length);
    writer->failed += !written;
    return written || !writer->stops;
}

/* ---- the thread ---- */

static void *write_queued(void *arg)
{
    struct cli_writer *writer = arg;
    int fd = writer->out;
    char line[CLI_WRITER_LINE];
    ssize_t n;

    while ((n = read(fd, line, sizeof(line))) > 0 && line[0] &&
           write_line(writer, line, (size_t)n)) {
    }
    close(fd);
    return NULL;
}

/* No signal is for this thread. */
static int start_thread(struct cli_writer *writer)
{
    pthread_t thread;
    sigset_t all, before;
    int status;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(&thread, NULL, write_queued, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0) {
        pthread_detach(thread);
    }
    return status;
}

/* ---- the queue ---- */

static void forget_queue(struct cli_writer *writer)
{
    if (writer->in >= 0) {
        close(writer->in);
        close(writer->out);
        writer->in = writer->out = -1;
        writer->has_thread = false;
    }
}

/* In a forked child, which does not have these threads. */
static void forget_queues(void)
{
    forget_queue(&cli_writer_messages);
    forget_queue(&cli_writer_events);
}

static int make_queue(struct cli_writer *writer)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC | O_DIRECT) != 0) {
        return -1;
    }
    fcntl(fds[1], F_SETPIPE_SZ, QUEUE_BYTES);
    fcntl(fds[1], F_SETFL, O_DIRECT | O_NONBLOCK);
    writer->out = fds[0];
    writer->in = fds[1];
    return 0;
}

int cli_writer_start(struct cli_writer *writer)
{
    int status;

    if (make_queue(writer) != 0) {
        return -1;
    }
    status = pthread_atfork(NULL, NULL, forget_queues);
    if (status != 0) {
        forget_queue(writer);
        errno = status;
        return -1;
    }
    return 0;
}

/* Most commands say nothing: then there is no thread. If none can be started now, the next line
 * tries again. */
static bool has_thread(struct cli_writer *writer)
{
    int status = writer->has_thread ? 0 : start_thread(writer);

    if (status != 0 && writer->stops) {
        atomic_store(&writer->error, status);
    }
    writer->has_thread = status == 0;
    return writer->has_thread;
}

static bool enqueue(struct cli_writer *writer, const char *line, size_t length)
{
    return has_thread(writer) && write(writer->in, line, length) == (ssize_t)length;
}

static void enqueue_note(struct cli_writer *writer)
{
    char note[CLI_WRITER_LINE];

    if (enqueue(writer, note, format_note(note, writer->dropped, "standard error was blocked"))) {
        writer->dropped = 0;
    }
}

bool cli_writer_put(struct cli_writer *writer, const char *line, size_t length)
{
    bool queued;

    if (writer->in < 0) {
        return write_line(writer, line, length);
    }
    if (writer->dropped) {
        enqueue_note(writer);
    }
    queued = enqueue(writer, line, length);
    writer->dropped += !queued && !writer->stops;
    return queued;
}

int cli_writer_queue(const struct cli_writer *writer)
{
    return writer->in;
}

int cli_writer_error(const struct cli_writer *writer)
{
    return atomic_load(&writer->error);
}

/* The thread may be waiting for the file: then it ends with the process. */
void cli_writer_end(struct cli_writer *writer)
{
    struct pollfd fd = {.fd = writer->in, .events = POLLOUT};

    if (!writer->has_thread && writer->dropped == 0) {
        forget_queue(writer);
    } else if (writer->in >= 0 && poll(&fd, 1, END_MS) > 0) {
        if (writer->dropped) {
            enqueue_note(writer);
        }
        fd.events = 0;
        if (enqueue(writer, "", 1)) {
            poll(&fd, 1, END_MS);
        }
    }
    writer->in = -1;
}
