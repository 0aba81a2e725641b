/* uri_text.h - the parts of a URI: copied, unescaped, read as numbers. */
#ifndef RLK_NET_URI_TEXT_H
#define RLK_NET_URI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define RLK_URI_MAX_DB 65535

/* This reason for a refusal is recognised by its address. */
extern const char rlk_uri_no_memory[];

/* Undo %XX in a copy; NULL: it could not be made. Returns NULL; rlk_uri_no_memory; or `broken`, for
 * a broken escape or an escaped NUL. */
const char *rlk_uri_read_part(char *copy, const char *broken);

/* Read a decimal number from `min` to `max` that fills text[0..len). */
bool rlk_uri_number(const char *text, size_t len, unsigned min, unsigned max, unsigned *ret);

#endif
