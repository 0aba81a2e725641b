/* shared.h - memory that another process can map, because it inherits its descriptor.
 *
 * It has no name, is on no disk, and is gone with the last descriptor. Core files leave it out. A
 * forked child does not have it: nothing that the child does can change it. */
#ifndef RLK_NET_SHARED_H
#define RLK_NET_SHARED_H

#include <stdbool.h>
#include <stddef.h>

struct rlk_shared {
    int fd;
    char *memory;
    size_t size;
};

/* No memory. */
static inline void rlk_shared_init(struct rlk_shared *s)
{
    *s = (struct rlk_shared){.fd = -1};
}

/* Zeroed memory; `name` is what /proc shows. 0, REDLOCK_ENOMEM or REDLOCK_ESYSTEM. */
int rlk_shared_open(struct rlk_shared *s, const char *name, size_t size);

/* Get more of it, zeroed, perhaps at another place. False: out of memory; nothing has changed. */
bool rlk_shared_grow(struct rlk_shared *s, size_t size);

/* Unmap it and close the descriptor. Others that have the descriptor keep the memory. */
void rlk_shared_end(struct rlk_shared *s);

#endif
