/* format.h - makes the bytes of a command from its words, by hiredis. */
#ifndef RLK_NET_FORMAT_H
#define RLK_NET_FORMAT_H

#include <stddef.h>

/* The most words of a command. */
#define RLK_FORMAT_WORDS 10

/* words: ends with NULL. Returns 0 and *ret_bytes, to be freed by rlk_format_free(), which wipes
 * them: they may be a login; or REDLOCK_ENOMEM. */
int rlk_format_words(const char *const *words, const char **ret_bytes, size_t *ret_len);
void rlk_format_free(const char *bytes, size_t len);

#endif
