/* eventfd.c - see eventfd.h. syscall(2) is no cancellation point. */
#include "sync/eventfd.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

int rlk_sync_eventfd_make(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void rlk_sync_eventfd_add(int fd, uint64_t number)
{
    syscall(SYS_write, fd, &number, sizeof(number)); /* EAGAIN: it is readable already */
}

void rlk_sync_eventfd_clear(int fd)
{
    uint64_t number;

    syscall(SYS_read, fd, &number, sizeof(number));
}

void rlk_sync_eventfd_close(int fd)
{
    if (fd >= 0) {
        syscall(SYS_close, fd);
    }
}
