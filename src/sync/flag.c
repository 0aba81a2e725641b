/* flag.c - an eventfd that is written once and never read.
 *
 * One thread raises the flag and then looks for the file descriptor; another one makes it and then
 * looks at the flag. At least one of them sees the other, and both may write. */
#include "sync/flag.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <redlock/error.h>

void rlk_sync_flag_init(struct rlk_sync_flag *f)
{
    atomic_init(&f->raised, false);
    atomic_init(&f->fd, -1);
}

void rlk_sync_flag_end(struct rlk_sync_flag *f)
{
    int fd = atomic_load(&f->fd);

    if (fd >= 0) {
        close(fd);
    }
}

static void make_readable(int fd)
{
    const uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof(one));

    (void)n;
}

void rlk_sync_flag_raise(struct rlk_sync_flag *f)
{
    int fd;

    atomic_store(&f->raised, true);
    fd = atomic_load(&f->fd);
    if (fd >= 0) {
        make_readable(fd);
    }
}

int rlk_sync_flag_fd(struct rlk_sync_flag *f)
{
    int fd = atomic_load(&f->fd), made;

    if (fd >= 0) {
        return fd;
    }
    made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made < 0) {
        return REDLOCK_ESYSTEM;
    }
    if (!atomic_compare_exchange_strong(&f->fd, &fd, made)) {
        close(made); /* another thread was faster */
        return fd;
    }
    if (atomic_load(&f->raised)) {
        make_readable(made);
    }
    return made;
}
