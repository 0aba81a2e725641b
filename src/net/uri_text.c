/* uri_text.c - copies and unescapes texts, and reads numbers. */
#include "net/uri_text.h"

#include <string.h>

#include "base/alloc.h"
#include "net/uri.h"

const char rlk_uri_no_memory[] = "out of memory";

char *rlk_uri_copy(const char *text, size_t len)
{
    char *copy = rlk_alloc(len + 1);

    if (copy) {
        memcpy(copy, text, len);
    }
    return copy;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* Undo %XX in place. False for a broken escape or an escaped NUL. */
static bool unescape(char *text)
{
    char *from = text, *to = text;

    for (; *from; from++, to++) {
        *to = *from;
        if (*from == '%') {
            int high = hex_value(from[1]);
            int low = high < 0 ? -1 : hex_value(from[2]);

            if (low < 0 || (high == 0 && low == 0)) {
                return false;
            }
            *to = (char)(high * 16 + low);
            from += 2;
        }
    }
    *to = '\0';
    return true;
}

bool rlk_uri_number(const char *text, size_t len, unsigned min, unsigned max, unsigned *ret)
{
    unsigned value = 0;
    size_t i;

    if (len == 0 || len > 5) {
        return false;
    }
    for (i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    *ret = value;
    return value >= min && value <= max;
}

const char *rlk_uri_read_part(char *copy, const char *broken)
{
    if (copy == NULL) {
        return rlk_uri_no_memory;
    }
    return unescape(copy) ? NULL : broken;
}
