/* escape.h - text that others have written: keys, values, URIs, what servers say.
 *
 * It may be any bytes, and what a terminal does with some of them is not for them to choose.
 */
#ifndef CLI_SAY_ESCAPE_H
#define CLI_SAY_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the UTF-8 character at s, which is not at its end; 0 for a byte that begins none.
 */
size_t cli_escape_character(const char *s);

/* Whether a character of this length does something, and shows nothing: a control character, or one
 * that changes the direction of what follows. */
bool cli_escape_is_control(const char *s, size_t length);

/* Write text to buf as it can be shown: controls and what is not UTF-8 as "\xHH", byte by byte.
 * What does not fit is left out. Returns buf's length; size is at least 1. */
size_t cli_escape_text(const char *text, char *buf, size_t size);

#endif
