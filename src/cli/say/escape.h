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

/* Enough for the text of cli_escape_shell(), with its NUL. */
#define CLI_ESCAPE_SHELL_SIZE(length) (4 * (length) + 4)

/* Write text to buf as one word of a shell, in quotes. A text that cli_escape_text() would change
 * becomes $'...', which bash, zsh and ksh know. Returns buf. */
const char *cli_escape_shell(const char *text, char *buf);

/* The same in a buffer of its own, which lasts until the end of the block. The text has at most
 * `length` bytes. */
#define cli_shell_word(text, length)                                                               \
    cli_escape_shell((text), (char[CLI_ESCAPE_SHELL_SIZE(length)]){0})

#endif
