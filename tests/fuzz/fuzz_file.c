/* fuzz_file.c - any bytes as a file that the command reads whole: masters, a password, a token.
 *
 * By a regular file and by a pipe: both are read alike. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include "settings/file.h"
#include "fuzz.h"
#include "net/secret.h"

#define SHORT 64  /* so that a file can be too long for it */
#define LINE 4096 /* the longest file of a password */

static const char mark[] = "\xef\xbb\xbf";

/* What the file is by the rules: its text, or why not. */
struct wanted {
    int error;
    const char *text; /* without the byte order mark */
    size_t line;      /* how much of it is the first line */
};

static struct wanted read_again(const char *bytes, size_t size, size_t max)
{
    struct wanted w = {.text = bytes};

    if (size > max || memchr(bytes, '\0', size)) {
        w.error = size > max ? EFBIG : EINVAL;
        return w;
    }
    if (size >= 3 && memcmp(bytes, mark, 3) == 0) {
        w.text += 3;
    }
    while (w.text[w.line] && w.text[w.line] != '\n' && w.text[w.line] != '\r') {
        w.line++;
    }
    return w;
}

static void check_text(const char *path, const char *bytes, size_t size)
{
    struct wanted w = read_again(bytes, size, SHORT);
    char *text = NULL;

    errno = 0;
    if (rlk_file_read(path, SHORT, &text) != 0) {
        FUZZ_CHECK(w.error != 0 && errno == w.error && text == NULL,
                   "only a file with a NUL, or one that is too long, is refused");
        return;
    }
    FUZZ_CHECK(w.error == 0 && strcmp(text, w.text) == 0,
               "a file is its bytes, without a byte order mark");
    rlk_secret_free(text);
}

static void check_line(const char *path, const char *bytes, size_t size)
{
    struct wanted w = read_again(bytes, size, LINE);
    size_t i, whole = strlen(w.text);
    char *line = NULL;

    errno = 0;
    if (rlk_file_line(path, &line) != 0) {
        FUZZ_CHECK((w.error ? errno == w.error : w.line == 0 && errno == EINVAL) && line == NULL,
                   "an empty first line is refused, too");
        return;
    }
    FUZZ_CHECK(w.error == 0 && w.line > 0 && strlen(line) == w.line &&
                   memcmp(line, w.text, w.line) == 0,
               "a password is the first line");
    for (i = w.line; i < whole; i++) {
        FUZZ_CHECK(line[i] == '\0' || w.text[i - 1] == '\0', "nothing of the file stays behind it");
    }
    rlk_secret_free(line);
}

/* A name by which this process can open the file. */
static void name(int fd, char *room, size_t size)
{
    snprintf(room, size, "/proc/self/fd/%d", fd);
}

static void try_file(const char *bytes, size_t size)
{
    char path[32];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, "a file can be written");
    name(fd, path, sizeof(path));
    FUZZ_CHECK(rlk_file_is_regular(path), "it is a file");
    check_text(path, bytes, size);
    check_line(path, bytes, size);
    close(fd);
}

static void try_pipe(const char *bytes, size_t size,
                     void check(const char *path, const char *bytes, size_t size))
{
    char path[32];
    int ends[2];

    FUZZ_CHECK(pipe(ends) == 0 && write(ends[1], bytes, size) == (ssize_t)size,
               "a pipe can be written");
    close(ends[1]);
    name(ends[0], path, sizeof(path));
    FUZZ_CHECK(!rlk_file_is_regular(path), "a pipe is no file");
    check(path, bytes, size);
    close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = fuzz_text(data, size);

    try_file(bytes, size);
    if (size > 0) { /* an empty pipe is waited for */
        try_pipe(bytes, size, check_text);
        try_pipe(bytes, size, check_line);
    }
    free(bytes);
    return 0;
}
