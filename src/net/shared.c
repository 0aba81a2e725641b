/* shared.c - a memfd, all of whose pages are there before they are written to: a write to a page
 * that the kernel cannot find then would kill the program. */
#include "net/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <redlock/error.h>

#include "base/alloc.h"

/* Core files have it nevertheless if the kernel knows neither of these; it never fails for another
 * reason. */
static void keep_private(const struct rlk_shared *s)
{
    madvise(s->memory, s->size, MADV_DONTDUMP);
    madvise(s->memory, s->size, MADV_DONTFORK);
}

static int get_pages(int fd, size_t from, size_t size)
{
    int result;

    do {
        result = rlk_alloc_is_allowed(size) ? fallocate(fd, 0, (off_t)from, (off_t)size) : -1;
    } while (result != 0 && errno == EINTR);
    return result;
}

int rlk_shared_open(struct rlk_shared *s, const char *name, size_t size)
{
    rlk_shared_init(s);
    s->fd = memfd_create(name, MFD_CLOEXEC);
    if (s->fd < 0) {
        return REDLOCK_ESYSTEM;
    }
    s->memory = get_pages(s->fd, 0, size) == 0
                    ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0)
                    : MAP_FAILED;
    if (s->memory == MAP_FAILED) {
        s->memory = NULL;
        rlk_shared_end(s);
        return REDLOCK_ENOMEM;
    }
    s->size = size;
    keep_private(s);
    return 0;
}

bool rlk_shared_grow(struct rlk_shared *s, size_t size)
{
    void *memory = get_pages(s->fd, s->size, size - s->size) == 0
                       ? mremap(s->memory, s->size, size, MREMAP_MAYMOVE)
                       : MAP_FAILED;

    if (memory == MAP_FAILED) {
        return false;
    }
    s->memory = memory;
    s->size = size;
    keep_private(s);
    return true;
}

void rlk_shared_end(struct rlk_shared *s)
{
    if (s->memory) {
        munmap(s->memory, s->size);
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
    rlk_shared_init(s);
}
