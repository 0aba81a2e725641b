/* escape.c - recognises UTF-8, and escapes what must not reach a terminal. */
#include "cli/say/escape.h"

#include <stdio.h>
#include <string.h>

/* The length of a UTF-8 character, by its first byte; 0 for a byte that begins none. */
static size_t announced(unsigned char first)
{
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
        return 2;
    }
    if (first >= 0xe0 && first <= 0xef) {
        return 3;
    }
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* Whether the second byte makes a character overlong, a surrogate or too large. */
static bool is_out_of_range(unsigned char first, unsigned char second)
{
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
           (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

size_t cli_escape_character(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t length = announced(s[0]), i;

    for (i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length > 1 && is_out_of_range(s[0], s[1]) ? 0 : length;
}

bool cli_escape_is_control(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;

    switch (length) {
    case 1:
        return s[0] < 0x20 || s[0] == 0x7f;
    case 2: /* U+0080 to U+009F */
        return s[0] == 0xc2 && s[1] < 0xa0;
    case 3: /* U+2028 to U+202E, U+2066 to U+2069 */
        return s[0] == 0xe2 && ((s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
                                (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
    default:
        return false;
    }
}

size_t cli_escape_text(const char *text, char *buf, size_t size)
{
    size_t used = 0;

    while (*text) {
        size_t length = cli_escape_character(text);
        bool shown = length > 0 && !cli_escape_is_control(text, length);
        char escaped[5];

        if (!shown) {
            snprintf(escaped, sizeof(escaped), "\\x%02x", (unsigned char)*text);
        }
        if (used + (shown ? length : 4) >= size) {
            break;
        }
        memcpy(buf + used, shown ? text : escaped, shown ? length : 4);
        used += shown ? length : 4;
        text += shown ? length : 1;
    }
    buf[used] = '\0';
    return used;
}
