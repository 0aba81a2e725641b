/* entropy.h - random bytes for tokens, from getrandom(2) and nothing else [S4].
 *
 * The bytes are fetched some kilobytes at a time, because the system call costs more than all the
 * rest of a round. A forked child would have the same bytes, but never gets here: its manager
 * refuses every call [S13]. */
#ifndef RLK_NET_ENTROPY_H
#define RLK_NET_ENTROPY_H

#include <stddef.h>

struct rlk_entropy {
    size_t left;
    unsigned char pool[4000];
};

void rlk_entropy_init(struct rlk_entropy *e);

/* Fill `out`; len is at most sizeof pool. 0, or REDLOCK_ESYSTEM: the kernel gave no bytes. */
int rlk_entropy_take(struct rlk_entropy *e, void *out, size_t len);

#endif
