/* cli/file.c - reading small files. Pipes such as /dev/stdin and <(...) are read, too. */
#include "cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A password longer than this is some other file. */
#define MAX_PASSWORD 4096

/* Read until the end or size bytes. Returns how much, -1 with errno set. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
    size_t used = 0;

    while (used < size) {
        ssize_t n = read(fd, buf + used, size - used);

        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return -1;
        }
        used += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)used;
}

/* Read what fd has into a text. Returns 0, -1 with errno set. */
static int read_text(int fd, size_t max, char **ret_text)
{
    char *text = malloc(max + 2);
    ssize_t n;

    if (!text) {
        return -1;
    }
    n = read_all(fd, text, max + 1);
    if (n >= 0) {
        text[n] = '\0';
        errno = (size_t)n > max ? EFBIG : strlen(text) != (size_t)n ? EINVAL : 0;
    }
    if (n < 0 || errno != 0) {
        int error = errno;

        explicit_bzero(text, max + 2);
        free(text);
        errno = error;
        return -1;
    }
    *ret_text = text;
    return 0;
}

int cli_file_read(const char *path, size_t max, char **ret_text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
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

int cli_file_password(const char *path, char **ret_password)
{
    char *text;

    if (cli_file_read(path, MAX_PASSWORD, &text) != 0) {
        return -1;
    }
    for (size_t end = strcspn(text, "\r\n"); text[end]; end++) {
        text[end] = '\0';
    }
    if (!text[0]) {
        cli_file_wipe(text);
        errno = EINVAL;
        return -1;
    }
    *ret_password = text;
    return 0;
}

void cli_file_wipe(char *text)
{
    if (text) {
        explicit_bzero(text, strlen(text));
        free(text);
    }
}
