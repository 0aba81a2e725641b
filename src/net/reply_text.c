/* reply_text.c - escapes what a terminal must not get, and what is not text. */
#include "net/reply_text.h"

#include <stdint.h>
#include <string.h>

void rlk_reply_make_printable(char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text > '~') {
            *text = '?';
        }
    }
}

size_t rlk_reply_full_len(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_STRING && reply->integer > (int64_t)reply->len
               ? (size_t)reply->integer
               : reply->len;
}

void rlk_reply_show(const struct rlk_reply *reply, char *to, size_t size)
{
    static const char digits[] = "0123456789abcdef", more[] = "...";
    size_t i, used = 0, room = size - sizeof(more);

    for (i = 0; i < reply->len && used + 4 <= room; i++) {
        unsigned char c = (unsigned char)reply->str[i];

        if (c >= ' ' && c <= '~') {
            to[used++] = (char)c;
        } else {
            to[used++] = '\\';
            to[used++] = 'x';
            to[used++] = digits[c >> 4];
            to[used++] = digits[c & 15];
        }
    }
    strcpy(to + used, i < rlk_reply_full_len(reply) ? more : "");
}
