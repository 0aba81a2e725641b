/* escape.c - escapes what must not reach a terminal. */
#include "cli/say/escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

size_t cli_escape_text(const char *text, char *buf, size_t size)
{
    size_t used = 0;

    while (*text) {
        size_t length = rlk_utf8_length(text);
        bool shown = length > 0 && !rlk_utf8_is_control(text, length);
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
