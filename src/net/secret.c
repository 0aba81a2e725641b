/* secret.c - maps pages, and notes at their beginning how many they are. */
#include "net/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

/* A file with a longer text is not a password file. */
#define MAX_FILE 4096

struct pages {
    size_t size; /* in bytes, with this struct */
    alignas(max_align_t) char memory[];
};

static size_t whole_pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (size + page - 1) / page * page;
}

void *rlk_secret_alloc(size_t size)
{
    size_t all = whole_pages(sizeof(struct pages) + size);
    struct pages *p;

    if (size > SIZE_MAX / 2 || !rlk_alloc_is_allowed(all)) {
        return NULL;
    }
    p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    madvise(p, all, MADV_DONTDUMP);
    p->size = all;
    return p->memory;
}

static struct pages *pages_of(void *memory)
{
    return (struct pages *)(void *)((char *)memory - offsetof(struct pages, memory));
}

static void lock_in_memory(char *text)
{
    mlock(pages_of(text), pages_of(text)->size);
}

char *rlk_secret_alloc_text(size_t size)
{
    char *text = rlk_secret_alloc(size);

    if (text) {
        lock_in_memory(text);
    }
    return text;
}

char *rlk_secret_copy(const char *text, size_t len)
{
    char *copy = rlk_secret_alloc_text(len + 1);

    if (copy) {
        memcpy(copy, text, len);
    }
    return copy;
}

void rlk_secret_free(void *memory)
{
    struct pages *p = memory ? pages_of(memory) : NULL;
    size_t size = p ? p->size : 0;

    if (p) {
        explicit_bzero(p, size);
        munmap(p, size);
    }
}

/* ---- from a file ---- */

static bool is_regular(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* Keep the first line, without the byte order mark that some editors put before UTF-8. */
static void keep_first_line(char *text, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t skipped = strncmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
    size_t line = strcspn(text + skipped, "\r\n");

    memmove(text, text + skipped, line);
    explicit_bzero(text + line, len - line);
}

/* NULL, or why not. text: of MAX_FILE + 2 bytes, zeroed. */
static const char *read_line(int fd, char *text)
{
    ssize_t n = is_regular(fd) ? read(fd, text, MAX_FILE + 1) : 0;

    if (n < 0) {
        return strerror(errno);
    }
    if (!is_regular(fd)) {
        return "it is not a regular file";
    }
    if (n > MAX_FILE) {
        return "it is too long";
    }
    if (strlen(text) != (size_t)n) {
        return "it is not text";
    }
    keep_first_line(text, (size_t)n);
    return text[0] ? NULL : "its first line is empty";
}

static const char *read_open(int fd, char **ret_text)
{
    char *text = rlk_secret_alloc_text(MAX_FILE + 2);
    const char *why = text ? read_line(fd, text) : "out of memory";

    if (why) {
        rlk_secret_free(text);
        return why;
    }
    *ret_text = text;
    return NULL;
}

/* O_NONBLOCK: a FIFO must not be waited for. */
const char *rlk_secret_read(const char *path, char **ret_text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const char *why = fd < 0 ? strerror(errno) : read_open(fd, ret_text);

    if (fd >= 0) {
        close(fd);
    }
    return why;
}
