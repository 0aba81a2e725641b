/* cli/json.c - JSON strings. Keys come from the command line and may be any bytes, and JSON
 * must be UTF-8.
 */
#include "cli/json.h"

#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 character at s, by its first byte; 0 for what cannot be one. */
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
static int is_out_of_range(unsigned char first, unsigned char second)
{
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
           (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

/* The length of the well-formed character at s, 0 when there is none. */
static size_t character(const unsigned char *s)
{
    size_t length = announced(s[0]);

    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length > 1 && is_out_of_range(s[0], s[1]) ? 0 : length;
}

void cli_json_string(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    putchar('"');
    while (*s) {
        size_t length = character(s);

        if (*s == '"' || *s == '\\') {
            printf("\\%c", *s);
        } else if (*s < 0x20 || *s == 0x7f) {
            printf("\\u%04x", *s);
        } else if (length == 0) {
            fputs("\\ufffd", stdout);
        } else {
            fwrite(s, 1, length, stdout);
        }
        s += length ? length : 1;
    }
    putchar('"');
}
