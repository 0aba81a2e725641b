/* escape.c - escapes what must not reach a terminal, or what a shell would change. */
#include "cli/say/escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* The length of the first character in bytes; 0: it must not reach a terminal. */
static size_t shown_length(const char *text)
{
    size_t length = rlk_utf8_length(text);

    return length > 0 && !rlk_utf8_is_control(text, length) ? length : 0;
}

size_t cli_escape_text(const char *text, char *buf, size_t size)
{
    size_t used = 0;

    while (*text) {
        size_t length = shown_length(text);
        bool shown = length > 0;
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

static bool is_shown(const char *text)
{
    size_t length = 1;

    while (*text && length > 0) {
        length = shown_length(text);
        text += length;
    }
    return *text == '\0';
}

/* In '...' nothing is special, so a quote has to be outside. */
static char *quote_shown(const char *text, char *to)
{
    *to++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            memcpy(to, "'\\'", 3);
            to += 3;
        }
        *to++ = *text;
    }
    *to++ = '\'';
    return to;
}

static char *quote_bytes(const char *text, char *to)
{
    *to++ = '$';
    *to++ = '\'';
    while (*text) {
        size_t length = shown_length(text);

        if (length == 0) {
            to += sprintf(to, "\\%03o", (unsigned)(unsigned char)*text);
        } else {
            *to = '\\';
            to += *text == '\'' || *text == '\\';
            memcpy(to, text, length);
            to += length;
        }
        text += length ? length : 1;
    }
    *to++ = '\'';
    return to;
}

const char *cli_escape_shell(const char *text, char *buf)
{
    *(is_shown(text) ? quote_shown : quote_bytes)(text, buf) = '\0';
    return buf;
}
