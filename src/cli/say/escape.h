/* escape.h - makes text from others safe to show: keys, values, URIs, and error messages of
 * servers.
 *
 * Such text may have any bytes, and some bytes make a terminal do things.
 */
#ifndef CLI_SAY_ESCAPE_H
#define CLI_SAY_ESCAPE_H

#include <stddef.h>

/* Write text to buf, with "\xHH" for each byte of a control character and each byte that is not
 * UTF-8. What does not fit is left out. Returns the length of buf; size is at least 1. */
size_t cli_escape_text(const char *text, char *buf, size_t size);

#endif
