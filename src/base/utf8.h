/* utf8.h - UTF-8 characters in text from others: which bytes form one, and which must not be shown.
 *
 * The library and the command each compile this file for themselves. */
#ifndef RLK_BASE_UTF8_H
#define RLK_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character at s; 0 for a byte that does not begin one. *s is not NUL. */
size_t rlk_utf8_length(const char *s);

/* The code point of the character at s, which has this length. */
uint32_t rlk_utf8_number(const char *s, size_t length);

/* Whether that character is a control character, changes the direction of the text after it, or
 * cannot be seen at all. */
bool rlk_utf8_is_control(const char *s, size_t length);

#endif
