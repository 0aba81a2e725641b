/* test_quick.c - the replies that are recognised without hiredis' reader. Whatever the reply, and
 * wherever the pieces of it end, both ways read the same. */
#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "net/quick.h"
#include "net/reply.h"

SUITE("quick");

#define TOKEN "0123456789abcdef0123456789abcdef01234567"

static const char *const usual[] = {
    "+OK\r\n",
    "$-1\r\n",
    ":0\r\n",
    ":1\r\n",
    ":-1\r\n",
    ":-20\r\n",
    ":123456789012345678\r\n",
    ":-999999999999999999\r\n",
    "$0\r\n\r\n",
    "$1\r\nx\r\n",
    "$2\r\n\r\n\r\n",
    "$40\r\n" TOKEN "\r\n",
    "*0\r\n",
    "*1\r\n+OK\r\n",
    "*2\r\n:1234567890123456\r\n:1\r\n",
    "*4\r\n:2\r\n$-1\r\n$5\r\nhello\r\n$0\r\n\r\n",
};

/* Good or bad, hiredis says what they are. */
static const char *const other[] = {
    "+QUEUED\r\n",
    "+\r\n",
    "+OK\r\r\n",
    "-ERR no\r\n",
    "-NOSCRIPT No matching script\r\n",
    ":9223372036854775807\r\n",
    ":-9223372036854775808\r\n",
    ":9223372036854775808\r\n",
    ":+1\r\n",
    ":01\r\n",
    ":-0\r\n",
    ":-01\r\n",
    ":\r\n",
    ":-\r\n",
    ":1\n\r",
    ":1x\r\n",
    "$-2\r\n",
    "$+1\r\nx\r\n",
    "$01\r\nx\r\n",
    "$1\r\nxyz",
    "$1\r\nx\r\r",
    "$1000000\r\n",
    "*-1\r\n",
    "*-2\r\n",
    "*129\r\n",
    "*1\r\n*1\r\n:1\r\n",
    "*2\r\n:1\r\n-ERR no\r\n",
    "*2\r\n:1\r\n*0\r\n",
    "*1\r\n:x\r\n",
    "_\r\n",
    "%1\r\n:1\r\n:1\r\n",
    "\r\n",
    "OK\r\n",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct rlk_reply items[RLK_QUICK_ELEMENTS + 1];

TEST_LOOP(the_usual_replies_need_no_hiredis, 0, COUNT(usual))
{
    size_t len = strlen(usual[_i]), n, shorter;
    char more[200];

    ck_assert_uint_eq(rlk_quick_read(usual[_i], len, items, &n), len);
    ck_assert_uint_eq(n, items[0].type == RLK_REPLY_ARRAY ? (size_t)items[0].integer + 1 : 1);
    snprintf(more, sizeof(more), "%s-junk", usual[_i]);
    ck_assert_uint_eq(rlk_quick_read(more, strlen(more), items, &n), len);
    for (shorter = 0; shorter < len; shorter++) {
        ck_assert_uint_eq(rlk_quick_read(usual[_i], shorter, items, &n), 0);
    }
}

TEST_LOOP(every_other_reply_is_left_to_hiredis, 0, COUNT(other))
{
    size_t n;

    ck_assert_uint_eq(rlk_quick_read(other[_i], strlen(other[_i]), items, &n), 0);
}

/* The head of an array says how much room there must be. */
TEST_LOOP(an_array_has_so_many_elements_and_no_more, 0, 2)
{
    static const unsigned counts[] = {RLK_QUICK_ELEMENTS, RLK_QUICK_ELEMENTS + 1};
    char bytes[1000];
    size_t len = (size_t)snprintf(bytes, sizeof(bytes), "*%u\r\n", counts[_i]), n;
    unsigned i;

    for (i = 0; i < counts[_i]; i++) {
        len += (size_t)snprintf(bytes + len, sizeof(bytes) - len, ":%u\r\n", i);
    }
    ck_assert_uint_eq(rlk_quick_read(bytes, len, items, &n), _i ? 0 : len);
}

TEST_LOOP(a_string_has_so_many_bytes_and_no_more, 0, 2)
{
    static char bytes[RLK_QUICK_STRING + 20];
    unsigned size = RLK_QUICK_STRING + (unsigned)_i;
    size_t head = (size_t)snprintf(bytes, sizeof(bytes), "$%u\r\n", size), n;

    memset(bytes + head, 'x', size);
    memcpy(bytes + head + size, "\r\n", 2);
    ck_assert_uint_eq(rlk_quick_read(bytes, head + size + 2, items, &n), _i ? 0 : head + size + 2);
}

/* ---- the two ways ---- */

/* All that was read, as a text. */
struct record {
    char text[2000];
    size_t len;
};

static struct rlk_reply_parser parser;

static void write_down(struct record *r)
{
    size_t i;

    for (i = 0; i < parser.items; i++) {
        const struct rlk_reply *item = &parser.item[i];

        r->len += (size_t)snprintf(r->text + r->len, sizeof(r->text) - r->len, "%d %lld %zu %s%c",
                                   item->type, (long long)item->integer, item->len, item->str,
                                   i + 1 < parser.items ? ',' : ';');
        ck_assert_uint_eq(strlen(item->str), item->len);
    }
}

/* What came of a piece; false: the bytes are no protocol. */
static bool take(struct record *r, char *piece, size_t len, bool lent)
{
    const struct rlk_reply *reply;
    int got;

    if (len == 0) {
        return true;
    }
    ck_assert_int_eq(
        lent ? rlk_reply_lend(&parser, piece, len) : rlk_reply_feed(&parser, piece, len), 0);
    while ((got = rlk_reply_next(&parser, &reply)) == 1) {
        ck_assert_ptr_eq(reply, parser.item);
        write_down(r);
    }
    memset(piece, '?', len);
    if (got < 0) {
        r->len += (size_t)snprintf(r->text + r->len, sizeof(r->text) - r->len, "fault %d",
                                   rlk_reply_fault(&parser));
    }
    return got == 0;
}

/* Read the bytes in three pieces, of which two may be empty. */
static void read_all(struct record *r, const char *bytes, size_t first, size_t second, bool lent)
{
    size_t len = strlen(bytes);
    char copy[200];

    *r = (struct record){.len = 0};
    memcpy(copy, bytes, len);
    ck_assert_int_eq(rlk_reply_parser_init(&parser), 0);
    if (take(r, copy, first, lent) && take(r, copy + first, second - first, lent)) {
        take(r, copy + second, len - second, lent);
    }
    rlk_reply_parser_end(&parser);
}

static void compare_ways(const char *bytes, size_t first, size_t second)
{
    static struct record by_hiredis, by_us;

    read_all(&by_hiredis, bytes, first, second, false);
    read_all(&by_us, bytes, first, second, true);
    ck_assert_str_eq(by_us.text, by_hiredis.text);
}

static const char *reply_at(size_t i)
{
    return i < COUNT(usual) ? usual[i] : other[i - COUNT(usual)];
}

#define REPLIES (COUNT(usual) + COUNT(other))

TEST_LOOP(both_ways_read_the_same_in_any_three_pieces, 0, REPLIES)
{
    const char *bytes = reply_at((size_t)_i);
    size_t len = strlen(bytes), first, second;

    for (first = 0; first <= len; first++) {
        for (second = first; second <= len; second++) {
            compare_ways(bytes, first, second);
        }
    }
}

TEST_LOOP(both_ways_read_the_same_one_reply_after_the_other, 0, REPLIES)
{
    char bytes[200];
    size_t next, split, len;

    for (next = 0; next < REPLIES; next++) {
        len = (size_t)snprintf(bytes, sizeof(bytes), "%s%s+OK\r\n", reply_at((size_t)_i),
                               reply_at(next));
        for (split = 0; split <= len; split++) {
            compare_ways(bytes, split, len);
        }
    }
}

/* So many that there is no room for all of them. */
#define LONG_TEXTS (RLK_REPLY_TEXT / RLK_QUICK_STRING + 4)

static const struct rlk_reply *read_long_texts(struct rlk_reply_parser *p, char *bytes, size_t len,
                                               bool lent)
{
    const struct rlk_reply *reply;

    ck_assert_int_eq(rlk_reply_parser_init(p), 0);
    ck_assert_int_eq(lent ? rlk_reply_lend(p, bytes, len) : rlk_reply_feed(p, bytes, len), 0);
    ck_assert_int_eq(rlk_reply_next(p, &reply), 1);
    return reply;
}

/* [S13] What has no room is "", and not among the bytes that were lent. */
TEST(both_ways_cut_texts_that_are_too_long_together)
{
    static char bytes[LONG_TEXTS * (RLK_QUICK_STRING + 20)];
    static struct rlk_reply_parser by_us, by_hiredis;
    const struct rlk_reply *ours, *theirs;
    size_t len = (size_t)snprintf(bytes, sizeof(bytes), "*%d\r\n", LONG_TEXTS);
    unsigned i;

    for (i = 0; i < LONG_TEXTS; i++) {
        len += (size_t)snprintf(bytes + len, sizeof(bytes) - len, "$%d\r\n%0*u\r\n",
                                RLK_QUICK_STRING, RLK_QUICK_STRING, i);
    }
    theirs = read_long_texts(&by_hiredis, bytes, len, false);
    ours = read_long_texts(&by_us, bytes, len, true);
    memset(bytes, '?', sizeof(bytes));
    for (i = 1; i <= LONG_TEXTS; i++) {
        ck_assert_int_eq(ours[i].integer, RLK_QUICK_STRING);
        ck_assert_uint_eq(ours[i].len, theirs[i].len);
        ck_assert_str_eq(ours[i].str, theirs[i].str);
    }
    ck_assert_uint_eq(ours[LONG_TEXTS].len, 0);
    rlk_reply_parser_end(&by_us);
    rlk_reply_parser_end(&by_hiredis);
}
