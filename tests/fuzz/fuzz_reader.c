/* fuzz_reader.c - bytes of a server into the reader of replies.
 *
 * Whatever the bytes, in whatever pieces they come, and whether hiredis reads all of them or only
 * what is not recognised before: the same replies are read, they say what the bytes say, and no
 * limit is passed. A "~{N}" in the input stands for N more of the
 * byte before it, so that a small file can hold what is too large. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/read.h>

#include "fuzz.h"
#include "net/loop.h"
#include "net/reply.h"

#define MOST_BYTES (RLK_REPLY_BYTES + 4096)

/* Up to here a reply is far from the limit, wherever a piece ends. */
#define SMALL_BYTES (RLK_REPLY_BYTES - RLK_LOOP_READ)

/* One byte after the other only for so many. */
#define SINGLE_BYTES 4096

struct text {
    char *bytes;
    size_t len, room;
};

static void make_room(struct text *t, size_t len)
{
    while (t->room - t->len < len) {
        t->room = t->room ? t->room * 2 : 4096;
        t->bytes = realloc(t->bytes, t->room);
        if (t->bytes == NULL) {
            abort();
        }
    }
}

static void append(struct text *t, const void *bytes, size_t len)
{
    make_room(t, len + 1);
    memcpy(t->bytes + t->len, bytes, len);
    t->len += len;
}

static void fill(struct text *t, char byte, size_t n)
{
    make_room(t, n + 1);
    memset(t->bytes + t->len, byte, n);
    t->len += n;
}

/* Write "~{N}" out. */
static struct text expand(const uint8_t *data, size_t size)
{
    struct fuzz_script s = {data, data + size};
    struct text t = {NULL, 0, 0};
    int c;

    while ((c = fuzz_byte(&s)) >= 0) {
        char byte = (char)c;
        uint64_t n = 1;

        if (c == '~' && s.at < s.end && *s.at == '{' && t.len > 0) {
            s.at++;
            n = fuzz_number(&s);
            fuzz_byte(&s);
            byte = t.bytes[t.len - 1];
        }
        n = n < MOST_BYTES - t.len ? n : MOST_BYTES - t.len;
        fill(&t, byte, (size_t)n);
    }
    append(&t, "", 1); /* for strtoull */
    t.len--;
    return t;
}

/* ---- what was read ---- */

/* How many elements one reply has, itself included. */
static size_t extent(const struct rlk_reply_parser *p, size_t at)
{
    size_t n = 1;
    int64_t i;

    FUZZ_CHECK(at < p->items, "an array has all its elements");
    if (p->item[at].type == RLK_REPLY_ARRAY) {
        for (i = 0; i < p->item[at].integer; i++) {
            n += extent(p, at + n);
        }
    }
    return n;
}

/* "" and "OK" may be constants. */
static bool is_kept(const struct rlk_reply_parser *p, const struct rlk_reply *item)
{
    return (item->str >= p->text && item->str + item->len < p->text + p->used) ||
           item->str[0] == '\0' || (item->type == RLK_REPLY_STATUS && strcmp(item->str, "OK") == 0);
}

static void check_limits(const struct rlk_reply_parser *p)
{
    size_t i;

    FUZZ_CHECK(p->items <= RLK_REPLY_ITEMS, "[S13] so many elements and no more");
    FUZZ_CHECK(p->used <= RLK_REPLY_TEXT, "[S13] so much text and no more");
    FUZZ_CHECK(p->reader->len - p->reader->pos <= RLK_REPLY_BYTES, "[S13] so many bytes wait");
    for (i = 0; i < p->items; i++) {
        const struct rlk_reply *item = &p->item[i];

        FUZZ_CHECK(item->type != RLK_REPLY_ARRAY || item->integer <= RLK_REPLY_ITEMS,
                   "[S13] an array that says that it is too large is refused at once");
        FUZZ_CHECK(item->str[item->len] == '\0', "a text ends with a NUL");
        FUZZ_CHECK(is_kept(p, item), "a text is in the parser");
    }
}

/* Write down all that a reply says, to compare it. */
static void record(struct text *t, const struct rlk_reply_parser *p)
{
    size_t i;

    FUZZ_CHECK(extent(p, 0) == p->items, "a reply has its elements and no others");
    append(t, &p->items, sizeof(p->items));
    for (i = 0; i < p->items; i++) {
        append(t, &p->item[i].type, sizeof(p->item[i].type));
        append(t, &p->item[i].integer, sizeof(p->item[i].integer));
        append(t, &p->item[i].len, sizeof(p->item[i].len));
        append(t, p->item[i].str, p->item[i].len);
    }
}

/* ---- what the bytes say, by a reader of its own ---- */

struct bytes {
    const char *at, *end;
};

static bool line(struct bytes *b, char head, const char *text, size_t len)
{
    if ((size_t)(b->end - b->at) < len + 3 || b->at[0] != head ||
        memcmp(b->at + 1, text, len) != 0 || memcmp(b->at + 1 + len, "\r\n", 2) != 0) {
        return false;
    }
    b->at += len + 3;
    return true;
}

static bool number(struct bytes *b, char head, int64_t value)
{
    char text[24];

    return line(b, head, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)value));
}

/* The text behind its length. Only its beginning is kept where there is no room, and what
 * stands in place of the line's end behind it is not looked at by every hiredis. */
static bool bulk(struct bytes *b, const struct rlk_reply *item)
{
    struct bytes head = *b;
    size_t len = 0;

    while (head.at < head.end && *head.at != '\r') {
        head.at++;
    }
    len = (size_t)strtoull(b->at + 1, NULL, 10);
    if (len < item->len || !number(b, '$', (int64_t)len) || (size_t)(b->end - b->at) < len + 2 ||
        memcmp(b->at, item->str, item->len) != 0) {
        return false;
    }
    b->at += len + 2;
    return true;
}

static bool status(struct bytes *b, const struct rlk_reply *item, char head)
{
    const char *end = memmem(b->at, (size_t)(b->end - b->at), "\r\n", 2);

    if (end == NULL || b->at[0] != head || (size_t)(end - b->at) - 1 < item->len ||
        memcmp(b->at + 1, item->str, item->len) != 0) {
        return false;
    }
    b->at = end + 2;
    return true;
}

static bool says(struct bytes *b, const struct rlk_reply *item)
{
    switch (item->type) {
    case RLK_REPLY_NIL:
        return line(b, '$', "-1", 2) || line(b, '*', "-1", 2);
    case RLK_REPLY_STATUS:
        return status(b, item, '+');
    case RLK_REPLY_ERROR:
        return status(b, item, '-');
    case RLK_REPLY_INTEGER:
        return number(b, ':', item->integer);
    case RLK_REPLY_STRING:
        return bulk(b, item);
    case RLK_REPLY_ARRAY:
        return number(b, '*', item->integer);
    }
    return false;
}

static void check_meaning(struct bytes *b, const struct rlk_reply_parser *p)
{
    size_t i;

    for (i = 0; i < p->items; i++) {
        FUZZ_CHECK(says(b, &p->item[i]), "a reply says what the bytes say");
    }
}

/* ---- in pieces ---- */

struct way {
    size_t same; /* so many bytes at once; 0: by the seed */
    bool lent;   /* what can be recognised does not go to hiredis */
};

/* The next piece, of at most RLK_LOOP_READ bytes. */
static size_t piece(uint64_t *seed, const struct way *way)
{
    if (way->same > 0) {
        return way->same;
    }
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return 1 + (size_t)(*seed >> 33) % (*seed >> 62 ? 16 : 4096);
}

/* 0 as long as replies may come, -1 when the parser has given up. */
static int take_all(struct rlk_reply_parser *p, struct bytes *left, struct text *ret_said)
{
    const struct rlk_reply *reply;
    int got;

    while ((got = rlk_reply_next(p, &reply)) == 1) {
        FUZZ_CHECK(reply == p->item, "a reply is its first element");
        check_limits(p);
        check_meaning(left, p);
        record(ret_said, p);
    }
    check_limits(p);
    return got;
}

/* Bytes that are lent end where their memory ends, and are gone afterwards. */
static int read_piece(struct rlk_reply_parser *p, const struct text *in, size_t at, size_t len,
                      bool lent, struct bytes *left, struct text *ret_said)
{
    char *copy = malloc(len);
    int got;

    if (copy == NULL) {
        abort();
    }
    memcpy(copy, in->bytes + at, len);
    got = lent ? rlk_reply_lend(p, copy, len) : rlk_reply_feed(p, copy, len);
    FUZZ_CHECK(got == 0 || in->len > SMALL_BYTES, "what is far from the limit is taken");
    if (got == 0) {
        got = take_all(p, left, ret_said);
    }
    free(copy);
    return got;
}

/* Read all of it in pieces; returns 0 when it was protocol to the end, or else what was wrong. */
static enum rlk_fault_kind read_in_pieces(const struct text *in, const struct way *way,
                                          struct text *ret_said)
{
    struct rlk_reply_parser *p = malloc(sizeof(*p));
    struct bytes left = {in->bytes, in->bytes + in->len};
    enum rlk_fault_kind fault = RLK_FAULT_NONE;
    uint64_t seed = in->len;
    size_t at, len;

    if (p == NULL || rlk_reply_parser_init(p)) {
        abort();
    }
    for (at = 0; fault == RLK_FAULT_NONE && at < in->len; at += len) {
        len = piece(&seed, way);
        len = len < in->len - at ? len : in->len - at;
        if (read_piece(p, in, at, len, way->lent, &left, ret_said)) {
            fault = rlk_reply_fault(p);
            FUZZ_CHECK(fault != RLK_FAULT_NONE, "who gives up says why");
        }
    }
    rlk_reply_parser_end(p);
    free(p);
    return fault;
}

static void compare(const struct text *in, const struct way *way, const struct text *said,
                    enum rlk_fault_kind fault)
{
    struct text again = {NULL, 0, 0};
    enum rlk_fault_kind fault_again;

    append(&again, "", 1);
    fault_again = read_in_pieces(in, way, &again);

    FUZZ_CHECK(again.len == said->len && memcmp(again.bytes, said->bytes, said->len) == 0,
               "another way, the same replies");
    FUZZ_CHECK(fault_again == fault, "another way, the same end");
    free(again.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct way whole = {RLK_LOOP_READ, false}, lent = {RLK_LOOP_READ, true};
    struct text in = expand(data, size), said = {NULL, 0, 0};
    enum rlk_fault_kind fault;

    append(&said, "", 1); /* so that there is memory to compare */
    fault = read_in_pieces(&in, &whole, &said);

    compare(&in, &lent, &said, fault);
    if (in.len <= SINGLE_BYTES) {
        compare(&in, &(struct way){1, false}, &said, fault);
        compare(&in, &(struct way){1, true}, &said, fault);
    }
    if (in.len <= SMALL_BYTES) {
        compare(&in, &(struct way){0, false}, &said, fault);
        compare(&in, &(struct way){0, true}, &said, fault);
    }
    free(in.bytes);
    free(said.bytes);
    return 0;
}
