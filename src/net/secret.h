/* secret.h - memory for passwords, and for the bytes that carry them.
 *
 * Each piece has pages of its own, which are left out of core files (MADV_DONTDUMP) and are wiped
 * before they are given back. A text is also kept out of swap, as far as the user's limit of locked
 * memory allows that (RLIMIT_MEMLOCK).
 *
 * The command compiles this file for itself: the library does not export it. */
#ifndef RLK_NET_SECRET_H
#define RLK_NET_SECRET_H

#include <stddef.h>

/* Zeroed memory, at least a page; NULL: out of memory. */
void *rlk_secret_alloc(size_t size);

/* The same for a text, which is kept out of swap, too. */
char *rlk_secret_alloc_text(size_t size);

/* A copy of `len` bytes, NUL terminated; NULL: out of memory. */
char *rlk_secret_copy(const char *text, size_t len);

/* Read the first line of a file: a regular one of at most 4096 bytes, so that the read does not
 * block for long. NULL: *ret_text is to be freed; otherwise why not, valid until the next call. */
const char *rlk_secret_read(const char *path, char **ret_text);

/* Wipe and free; accepts NULL. */
void rlk_secret_free(void *memory);

#endif
