/* writer.c - the thread that writes to stderr, and its queue; see writer.h.
 *
 * Why a thread: O_NONBLOCK would be set for all who share the open file, such as the shell and CMD.
 * poll() promises room that CMD may use first, and knows nothing of a disk that hangs. A file
 * cannot be opened again by everybody, and then has another offset.
 *
 * The queue is a pipe in packet mode: one read() returns one line, so each line is still one
 * write(). An empty line, of one NUL, ends the thread; it closes its end of the pipe then.
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

/* Both ends of the queue; -1: not made yet. */
static int queue = -1;
static int queue_out = -1;

static unsigned long dropped; /* lines that the queue had no room for */

/* Lines that could not be written: only the thread uses these, if there is one. */
static unsigned long failed;
static int error;   /* why */
static bool broken; /* a part of the last line was written */

/* ---- the journal ---- */

/* systemd names the file that it has made our stderr, which may have been redirected since. */
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

/* ---- to stderr ---- */

/* Somebody else may have made stderr not blocking. */
static void await_room(void)
{
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};

    poll(&fd, 1, -1);
}

static bool write_all(const char *line, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t n = write(STDERR_FILENO, line + done, length - done);

        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            await_room();
        } else if (errno != EINTR) {
            error = errno;
            broken |= done > 0;
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

static bool write_note(void)
{
    char note[CLI_WRITER_LINE];
    size_t length = format_note(note, failed, strerror(error));

    return (!broken || write_all("\n", 1)) && write_all(note, length);
}

static void write_line(const char *line, size_t length)
{
    if (failed && write_note()) {
        failed = 0;
        broken = false;
    }
    failed += !write_all(line, length);
}

/* ---- the thread ---- */

static void *write_queued(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char line[CLI_WRITER_LINE];
    ssize_t n;

    while ((n = read(fd, line, sizeof(line))) > 0 && line[0]) {
        write_line(line, (size_t)n);
    }
    close(fd);
    return NULL;
}

/* No signal is for this thread. */
static int start_thread(int fd)
{
    pthread_t thread;
    sigset_t all, before;
    int status;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(&thread, NULL, write_queued, (void *)(intptr_t)fd);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0) {
        pthread_detach(thread);
    }
    return status;
}

/* ---- the queue ---- */

/* In a forked process, which has no such thread. */
static void forget_queue(void)
{
    if (queue >= 0) {
        close(queue);
        close(queue_out);
        queue = queue_out = -1;
    }
}

static int make_queue(void)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC | O_DIRECT) != 0) {
        return -1;
    }
    fcntl(fds[1], F_SETPIPE_SZ, QUEUE_BYTES);
    fcntl(fds[1], F_SETFL, O_DIRECT | O_NONBLOCK);
    queue_out = fds[0];
    queue = fds[1];
    return 0;
}

int cli_writer_start(void)
{
    int status;

    if (make_queue() != 0) {
        return -1;
    }
    status = pthread_atfork(NULL, NULL, forget_queue);
    status = status == 0 ? start_thread(queue_out) : status;
    if (status != 0) {
        forget_queue();
        errno = status;
        return -1;
    }
    return 0;
}

static bool enqueue(const char *line, size_t length)
{
    return write(queue, line, length) == (ssize_t)length;
}

static void enqueue_note(void)
{
    char note[CLI_WRITER_LINE];

    if (enqueue(note, format_note(note, dropped, "standard error was blocked"))) {
        dropped = 0;
    }
}

void cli_writer_put(const char *line, size_t length)
{
    if (queue < 0) {
        write_line(line, length);
        return;
    }
    if (dropped) {
        enqueue_note();
    }
    dropped += !enqueue(line, length);
}

/* The thread may be waiting for stderr: then it ends with the process. */
void cli_writer_end(void)
{
    struct pollfd fd = {.fd = queue, .events = POLLOUT};

    if (queue >= 0 && poll(&fd, 1, END_MS) > 0) {
        if (dropped) {
            enqueue_note();
        }
        fd.events = 0;
        if (enqueue("", 1)) {
            poll(&fd, 1, END_MS);
        }
    }
    queue = -1;
}
