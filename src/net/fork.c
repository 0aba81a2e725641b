/* fork.c - the page of memory that the kernel clears in a child. */
#include "net/fork.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void rlk_fork_init(struct rlk_fork *f)
{
    void *page =
        mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    f->pid = getpid();
    f->page = NULL;
    if (page == MAP_FAILED) {
        return;
    }
    if (madvise(page, page_size(), MADV_WIPEONFORK)) {
        munmap(page, page_size());
        return;
    }
    f->page = page;
    f->page[0] = 1;
}

void rlk_fork_end(struct rlk_fork *f)
{
    if (f->page) {
        munmap(f->page, page_size());
    }
    f->page = NULL;
}

bool rlk_fork_is_child(const struct rlk_fork *f)
{
    return f->page ? f->page[0] == 0 : f->pid != getpid();
}
