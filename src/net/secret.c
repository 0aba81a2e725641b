/* secret.c - maps pages, and notes at their beginning how many they are. */
#include "net/secret.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

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

char *rlk_secret_copy(const char *text, size_t len)
{
    char *copy = rlk_secret_alloc(len + 1);

    if (copy) {
        mlock(pages_of(copy), pages_of(copy)->size);
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
