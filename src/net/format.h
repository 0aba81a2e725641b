/* format.h - words into the bytes of a command; hiredis does it. */
#ifndef RLK_NET_FORMAT_H
#define RLK_NET_FORMAT_H

#include <stddef.h>

#define RLK_FORMAT_WORDS 10

/* From words that end with NULL, RLK_FORMAT_WORDS at most. 0 and *ret_bytes, to be given back to
 * rlk_format_free(); or REDLOCK_ENOMEM. */
int rlk_format_words(const char *const *words, const char **ret_bytes, size_t *ret_len);
void rlk_format_free(const char *bytes);

#endif
