/* test_writer.c - lines reach stderr and stdout, and nobody waits for a file that accepts none. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say/writer.h"
#include "lib/test.h"

SUITE("writer");

/* More than the queue and the pipe take. */
#define MANY 5000

static void put(const char *line)
{
    cli_writer_put(&cli_writer_messages, line, strlen(line));
}

static void become_stderr(int fd)
{
    ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    close(fd);
}

static void open_as_stderr(const char *path)
{
    int fd = open(path, O_WRONLY);

    ck_assert_int_ge(fd, 0);
    become_stderr(fd);
}

/* A stderr that shows each write() by itself. Returns the end to read from. */
static int packets(void)
{
    int fds[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    become_stderr(fds[1]);
    return fds[0];
}

/* A pipe as stderr, of one page. Returns the end to read from. */
static int small_pipe(void)
{
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(fcntl(fds[1], F_SETPIPE_SZ, 4096), 4096);
    become_stderr(fds[1]);
    return fds[0];
}

static void expect(int fd, const char *line)
{
    char text[CLI_WRITER_LINE + 1];
    ssize_t n = read(fd, text, CLI_WRITER_LINE);

    ck_assert_int_gt(n, 0);
    text[n] = '\0';
    ck_assert_str_eq(text, line);
}

/* Without a queue and with one. */
static void maybe_start(int queued)
{
    if (queued) {
        ck_assert_int_eq(cli_writer_start(&cli_writer_messages), 0);
    }
}

static int n_threads(void)
{
    DIR *threads = opendir("/proc/self/task");
    int n = 0;

    ck_assert_ptr_nonnull(threads);
    while (readdir(threads)) {
        n++;
    }
    closedir(threads);
    return n;
}

TEST(there_is_no_thread_before_the_first_line)
{
    int before = n_threads();

    maybe_start(1);
    ck_assert_int_eq(n_threads(), before);
    put("x\n");
    ck_assert_int_eq(n_threads(), before + 1);
    cli_writer_end(&cli_writer_messages);
    cli_writer_end(&cli_writer_messages);
}

TEST_LOOP(each_line_is_one_write_in_order, 0, 2)
{
    int fd = packets();

    maybe_start(_i);
    put("one\n");
    put("two\n");
    put("three\n");
    expect(fd, "one\n");
    expect(fd, "two\n");
    expect(fd, "three\n");
}

TEST_LOOP(the_longest_line_is_one_write, 0, 2)
{
    char line[CLI_WRITER_LINE + 1];
    int fd = packets();

    memset(line, 'x', sizeof(line));
    strcpy(line + CLI_WRITER_LINE - 1, "\n");
    maybe_start(_i);
    put(line);
    expect(fd, line);
}

TEST(lines_that_cannot_be_written_are_counted)
{
    int fd;

    open_as_stderr("/dev/full");
    put("one\n");
    put("two\n");
    fd = packets();
    put("three\n");
    expect(fd, "redlock: 2 messages were dropped: No space left on device\n");
    expect(fd, "three\n");
    put("four\n");
    expect(fd, "four\n");
}

TEST(a_stderr_that_was_made_not_blocking_loses_no_line)
{
    char text[4096];
    int fd = small_pipe(), n = 0;
    pid_t writer;

    ck_assert_int_eq(fcntl(STDERR_FILENO, F_SETFL, O_WRONLY | O_NONBLOCK), 0);
    writer = fork();
    if (writer == 0) {
        for (int i = 0; i < 1000; i++) {
            put("a line\n");
        }
        _exit(0);
    }
    open_as_stderr("/dev/null");
    for (ssize_t got; (got = read(fd, text, sizeof(text))) > 0;) {
        n += (int)got;
    }
    ck_assert_int_eq(n, 1000 * 7);
    ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
}

/* ---- a reader that comes late ---- */

static atomic_ulong read_lines, noted;

static void take(const char *line)
{
    unsigned long n;

    if (sscanf(line, "redlock: %lu messages were dropped: standard error was blocked", &n) == 1 ||
        sscanf(line, "redlock: %lu message was dropped: standard error was blocked", &n) == 1) {
        atomic_fetch_add(&noted, n);
    } else {
        ck_assert_str_eq(line, "a line\n");
        atomic_fetch_add(&read_lines, 1);
    }
}

static void *read_all(void *arg)
{
    FILE *file = fdopen(*(int *)arg, "r");
    char line[CLI_WRITER_LINE + 1];

    while (fgets(line, sizeof(line), file)) {
        take(line);
    }
    fclose(file);
    return NULL;
}

/* Whether all n lines are accounted for, perhaps after a while. */
static bool is_balanced(unsigned long n)
{
    for (int i = 0; i < 1000 && atomic_load(&read_lines) + atomic_load(&noted) < n; i++) {
        usleep(1000);
    }
    return atomic_load(&read_lines) + atomic_load(&noted) == n;
}

TEST(a_blocked_stderr_drops_lines_and_the_next_one_says_how_many)
{
    int fd = small_pipe();
    unsigned long n = 0;
    pthread_t reader;

    maybe_start(1);
    for (; n < MANY; n++) {
        put("a line\n");
    }
    ck_assert_int_eq(pthread_create(&reader, NULL, read_all, &fd), 0);
    do {
        put("a line\n"); /* this, or a later one, brings the note */
        n++;
    } while (!is_balanced(n));
    ck_assert_uint_gt(atomic_load(&noted), 0);
    ck_assert_uint_gt(atomic_load(&read_lines), 0);
}

/* These return although nobody reads. */
static const int lines[] = {700, MANY}; /* the queue has room for the first */

TEST_LOOP(the_end_does_not_wait_for_a_stderr_that_stays_blocked, 0, 2)
{
    small_pipe();
    maybe_start(1);
    for (int i = 0; i < lines[_i]; i++) {
        put("a line\n");
    }
    cli_writer_end(&cli_writer_messages);
}

TEST(at_the_end_all_lines_are_written)
{
    int fd = packets();

    maybe_start(1);
    for (int i = 0; i < 50; i++) {
        put("a line\n");
    }
    cli_writer_end(&cli_writer_messages);
    for (int i = 0; i < 50; i++) {
        char text[64];

        ck_assert_int_eq(recv(fd, text, sizeof(text), MSG_DONTWAIT), 7);
    }
}

TEST(a_forked_process_writes_by_itself)
{
    int fd = packets();
    pid_t child;

    maybe_start(1);
    child = fork();
    if (child == 0) {
        put("of the child\n");
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    expect(fd, "of the child\n");
    put("of the parent\n");
    expect(fd, "of the parent\n");
}

/* ---- events ---- */

static bool put_event(const char *line)
{
    return cli_writer_put(&cli_writer_events, line, strlen(line));
}

static void become_stdout(int fd)
{
    ck_assert_int_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    close(fd);
}

static bool hangs_up(int fd)
{
    struct pollfd queue = {.fd = fd};

    return poll(&queue, 1, 10000) == 1;
}

TEST(events_go_to_stdout)
{
    int fds[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    become_stdout(fds[1]);
    ck_assert_int_eq(cli_writer_start(&cli_writer_events), 0);
    ck_assert(put_event("one\n"));
    ck_assert(put_event("two\n"));
    expect(fds[0], "one\n");
    expect(fds[0], "two\n");
    ck_assert_int_eq(cli_writer_error(&cli_writer_events), 0);
}

TEST(after_an_event_that_cannot_be_written_the_queue_hangs_up)
{
    int fd = open("/dev/full", O_WRONLY), packets_fd;

    ck_assert_int_ge(fd, 0);
    become_stdout(fd);
    ck_assert_int_eq(cli_writer_start(&cli_writer_events), 0);
    ck_assert(put_event("one\n"));
    ck_assert(hangs_up(cli_writer_queue(&cli_writer_events)));
    ck_assert_int_eq(cli_writer_error(&cli_writer_events), ENOSPC);
    signal(SIGPIPE, SIG_IGN);
    ck_assert(!put_event("two\n"));
    packets_fd = packets();
    put("a message\n");
    expect(packets_fd, "a message\n");
    cli_writer_end(&cli_writer_events);
}

TEST(an_event_that_does_not_fit_is_refused)
{
    int fds[2];
    bool all = true;

    ck_assert_int_eq(pipe(fds), 0);
    become_stdout(fds[1]);
    ck_assert_int_eq(cli_writer_start(&cli_writer_events), 0);
    for (int i = 0; i < 100 * MANY && all; i++) {
        all = put_event("an event\n");
    }
    ck_assert(!all);
    ck_assert_int_eq(cli_writer_error(&cli_writer_events), 0);
    cli_writer_end(&cli_writer_events);
}
