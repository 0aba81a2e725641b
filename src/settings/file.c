/* file.c - reads small files, and pipes such as /dev/stdin and <(...). */
#include "settings/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/secret.h"

/* A file with a longer text is not one that holds a password or a token. */
#define MAX_LINE 4096

/* How long to wait until a process opens a FIFO for writing. */
#define WRITER_MS 2000

/* Wait until fd can be read or is at its end. Returns 0; -1 with errno set. */
static int wait_for_input(int fd, int patience_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int n = poll(&wait, 1, patience_ms);

    if (n == 0) {
        errno = ETIMEDOUT;
    }
    return n > 0 || (n < 0 && errno == EINTR) ? 0 : -1;
}

static bool is_fifo(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* Read up to size bytes. Returns the number of bytes; -1 with errno set.
 *
 * A FIFO that no process has opened for writing looks as if it were at its end: wait WRITER_MS for
 * a writer. A FIFO with a writer is waited for without a limit, as any pipe: somebody may be typing
 * a password. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
    bool lacks_writer = is_fifo(fd);
    size_t used = 0;

    while (used < size) {
        ssize_t n = read(fd, buf + used, size - used);

        if (n > 0) {
            used += (size_t)n;
        } else if (n == 0 && (used > 0 || !lacks_writer)) {
            break;
        } else if (n < 0 && errno != EINTR && errno != EAGAIN) {
            return -1;
        } else if (wait_for_input(fd, n == 0 ? WRITER_MS : -1) != 0) {
            return -1;
        }
        lacks_writer = lacks_writer && n != 0;
    }
    return (ssize_t)used;
}

/* Some editors put a byte order mark before UTF-8. */
static void skip_mark(char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t length = strlen(mark);

    if (strncmp(text, mark, length) == 0) {
        memmove(text, text + length, strlen(text + length) + 1);
    }
}

/* Read fd into a text. Returns 0; -1 with errno set. */
static int read_text(int fd, size_t max, char **ret_text)
{
    char *text = rlk_secret_alloc_text(max + 2);
    ssize_t n;

    if (text == NULL) {
        errno = ENOMEM;
        return -1;
    }
    n = read_all(fd, text, max + 1);
    if (n >= 0) {
        text[n] = '\0';
        errno = (size_t)n > max ? EFBIG : strlen(text) != (size_t)n ? EINVAL : 0;
    }
    if (n < 0 || errno != 0) {
        int error = errno;

        rlk_secret_free(text);
        errno = error;
        return -1;
    }
    skip_mark(text);
    *ret_text = text;
    return 0;
}

int rlk_file_read(const char *path, size_t max, char **ret_text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int result;
    int error;

    if (fd < 0) {
        return -1;
    }
    result = read_text(fd, max, ret_text);
    error = errno;
    close(fd);
    errno = error;
    return result;
}

int rlk_file_line(const char *path, char **ret_line)
{
    char *text;
    size_t end;

    if (rlk_file_read(path, MAX_LINE, &text) != 0) {
        return -1;
    }
    for (end = strcspn(text, "\r\n"); text[end]; end++) {
        text[end] = '\0';
    }
    if (!text[0]) {
        rlk_secret_free(text);
        errno = EINVAL;
        return -1;
    }
    *ret_line = text;
    return 0;
}

bool rlk_file_is_regular(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool rlk_file_is_safe(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid()) &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

const char *rlk_file_why(int error)
{
    switch (error) {
    case EINVAL:
        return "it is empty, or not text";
    case EFBIG:
        return "it is too long";
    case ETIMEDOUT:
        return "it is a FIFO, and nobody writes to it";
    default:
        return strerror(error);
    }
}
