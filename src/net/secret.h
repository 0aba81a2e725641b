/* secret.h - memory for passwords, and for the bytes that carry them.
 *
 * Each piece has pages of its own, which are left out of core files (MADV_DONTDUMP) and are wiped
 * before they are given back. A text is also kept out of swap, as far as the user's limit of locked
 * memory allows that (RLIMIT_MEMLOCK). */
#ifndef RLK_NET_SECRET_H
#define RLK_NET_SECRET_H

#include <stddef.h>

/* Zeroed memory, at least a page; NULL: out of memory. */
void *rlk_secret_alloc(size_t size);

/* A copy of `len` bytes, NUL terminated; NULL: out of memory. */
char *rlk_secret_copy(const char *text, size_t len);

/* Wipe and free; accepts NULL. */
void rlk_secret_free(void *memory);

#endif
