/* sync/flag.h - something that happens once, to be polled: a file descriptor that is readable from
 * then on. It is made only when somebody asks for it. */
#ifndef RLK_SYNC_FLAG_H
#define RLK_SYNC_FLAG_H

#include <stdatomic.h>
#include <stdbool.h>

struct rlk_sync_flag {
    atomic_bool raised;
    atomic_int fd; /* -1: nobody has asked for it */
};

void rlk_sync_flag_init(struct rlk_sync_flag *f);
void rlk_sync_flag_end(struct rlk_sync_flag *f);

/* It has happened. A second time does no harm. */
void rlk_sync_flag_raise(struct rlk_sync_flag *f);

/* The file descriptor, or REDLOCK_ESYSTEM. From any thread. */
int rlk_sync_flag_fd(struct rlk_sync_flag *f);

#endif
