/* uri_text.c - copies and unescapes texts, and reads numbers. */
#include "net/uri_text.h"

#include <string.h>

#include "base/alloc.h"
#include "base/digits.h"
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

static unsigned hex_value(char c)
{
    return rlk_digit_value(c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c);
}

/* Undo %XX in place. False for a broken escape or an escaped NUL. */
static bool unescape(char *text)
{
    char *from = text, *to = text;

    for (; *from; from++, to++) {
        *to = *from;
        if (*from == '%') {
            unsigned high = hex_value(from[1]);
            unsigned low = high == RLK_NO_DIGIT ? RLK_NO_DIGIT : hex_value(from[2]);

            if (low == RLK_NO_DIGIT || (high == 0 && low == 0)) {
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
