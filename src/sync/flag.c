/* flag.c - an eventfd that is written once and never read.
 *
 * One thread raises the flag and then looks for the file descriptor; another one makes it and then
 * looks at the flag. At least one of them sees the other, and both may write. */
#include "sync/flag.h"

#include <redlock/error.h>

#include "sync/eventfd.h"

void rlk_sync_flag_init(struct rlk_sync_flag *f)
{
    atomic_init(&f->raised, false);
    atomic_init(&f->fd, -1);
}

void rlk_sync_flag_end(struct rlk_sync_flag *f)
{
    rlk_sync_eventfd_close(atomic_load(&f->fd));
}

void rlk_sync_flag_raise(struct rlk_sync_flag *f)
{
    int fd;

    atomic_store(&f->raised, true);
    fd = atomic_load(&f->fd);
    if (fd >= 0) {
        rlk_sync_eventfd_add(fd, 1);
    }
}

int rlk_sync_flag_fd(struct rlk_sync_flag *f)
{
    int fd = atomic_load(&f->fd), made;

    if (fd >= 0) {
        return fd;
    }
    made = rlk_sync_eventfd_make();
    if (made < 0) {
        return REDLOCK_ESYSTEM;
    }
    if (!atomic_compare_exchange_strong(&f->fd, &fd, made)) {
        rlk_sync_eventfd_close(made); /* another thread was faster */
        return fd;
    }
    if (atomic_load(&f->raised)) {
        rlk_sync_eventfd_add(made, 1);
    }
    return made;
}
