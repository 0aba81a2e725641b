/* escape.h - makes text from others safe to show: keys, values, URIs, and error messages of
 * servers.
 *
 * Such text may have any bytes, and some bytes make a terminal do things.
 */
#ifndef CLI_SAY_ESCAPE_H
#define CLI_SAY_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character at s; 0 for a byte that does not begin one. *s is not NUL.
 */
size_t cli_escape_character(const char *s);

/* The number of the character at s, which has this length. */
uint32_t cli_escape_number(const char *s, size_t length);

/* Whether that character is a control character, changes the direction of the text after it, or
 * cannot be seen at all. */
bool cli_escape_is_control(const char *s, size_t length);

/* Write text to buf, with "\xHH" for each byte of a control character and each byte that is not
 * UTF-8. What does not fit is left out. Returns the length of buf; size is at least 1. */
size_t cli_escape_text(const char *text, char *buf, size_t size);

#endif
