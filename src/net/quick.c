/* quick.c - reads a reply from its first byte on, and gives up at the first that is unexpected. */
#include "net/quick.h"

#include <stdbool.h>
#include <string.h>

#include "base/rare.h"

/* So many digits cannot overflow. */
#define DIGITS 18

struct cursor {
    const char *at, *end;
};

static void set(struct rlk_reply *item, enum rlk_reply_type type, int64_t integer)
{
    item->type = type;
    item->integer = integer;
    item->str = "";
    item->len = 0;
}

static bool begins_with(const char *bytes, const char text[static 5])
{
    return memcmp(bytes, text, 5) == 0;
}

/* Most replies are +OK, nil, or a number of one digit. Returns how many bytes it has, or 0. */
static size_t read_short(const char *bytes, size_t len, struct rlk_reply *item)
{
    if (len < 4) {
        return 0;
    }
    if (bytes[0] == ':' && bytes[1] >= '0' && bytes[1] <= '9' &&
        memcmp(bytes + 2, "\r\n", 2) == 0) {
        set(item, RLK_REPLY_INTEGER, bytes[1] - '0');
        return 4;
    }
    if (len > 4 && begins_with(bytes, "$-1\r\n")) {
        set(item, RLK_REPLY_NIL, 0);
        return 5;
    }
    if (len > 4 && begins_with(bytes, "+OK\r\n")) {
        set(item, RLK_REPLY_STATUS, 2);
        item->str = "OK";
        item->len = 2;
        return 5;
    }
    return 0;
}

static bool read_end(struct cursor *c)
{
    if (c->end - c->at < 2 || c->at[0] != '\r' || c->at[1] != '\n') {
        return false;
    }
    c->at += 2;
    return true;
}

/* The number behind the first byte of a line, and the end of the line. A number has one form only:
 * no plus, no leading zero, no minus zero. */
static bool read_number(struct cursor *c, int64_t *ret)
{
    bool negative = ++c->at < c->end && *c->at == '-';
    const char *first = c->at + negative, *at = first;
    const char *end = c->end - first > DIGITS ? first + DIGITS : c->end;
    int64_t n = 0;

    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        n = n * 10 + (*at - '0');
    }
    c->at = at;
    if (c->at == first || (*first == '0' && (negative || c->at - first > 1))) {
        return false;
    }
    *ret = negative ? -n : n;
    return read_end(c);
}

static bool read_integer(struct cursor *c, struct rlk_reply *item)
{
    int64_t n;

    if (!read_number(c, &n)) {
        return false;
    }
    set(item, RLK_REPLY_INTEGER, n);
    return true;
}

static bool read_string(struct cursor *c, struct rlk_reply *item)
{
    int64_t len;

    if (!read_number(c, &len) || len < 0 || len > RLK_QUICK_STRING || c->end - c->at < len) {
        return false;
    }
    set(item, RLK_REPLY_STRING, len);
    item->str = c->at;
    item->len = (size_t)len;
    c->at += len;
    return read_end(c);
}

static bool read_element(struct cursor *c, struct rlk_reply *item)
{
    size_t len = read_short(c->at, (size_t)(c->end - c->at), item);

    if (len > 0 || c->at == c->end) {
        c->at += len;
        return len > 0;
    }
    return *c->at == ':' ? read_integer(c, item) : *c->at == '$' && read_string(c, item);
}

/* Returns how many items there are with the head; 0: ask hiredis. */
static size_t read_array(struct cursor *c, struct rlk_reply *item)
{
    int64_t n, i;

    if (!read_number(c, &n) || n < 0 || n > RLK_QUICK_ELEMENTS) {
        return 0;
    }
    set(item, RLK_REPLY_ARRAY, n);
    for (i = 1; i <= n; i++) {
        if (!read_element(c, &item[i])) {
            return 0;
        }
    }
    return (size_t)n + 1;
}

RLK_RARE static size_t read_long(const char *bytes, size_t len, struct rlk_reply *item,
                                 size_t *ret_items)
{
    struct cursor c = {bytes, bytes + len};

    *ret_items = len > 0 && *bytes == '*' ? read_array(&c, item) : read_element(&c, item);
    return *ret_items ? (size_t)(c.at - bytes) : 0;
}

size_t rlk_quick_read(const char *bytes, size_t len, struct rlk_reply *item, size_t *ret_items)
{
    size_t taken = read_short(bytes, len, item);

    *ret_items = 1;
    return taken ? taken : read_long(bytes, len, item, ret_items);
}
