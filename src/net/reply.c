/* reply.c - takes replies from the bytes that were lent, or by hiredis' reader, which calls the
 * functions below for each element. */
#include "net/reply.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <string.h>

#include <redlock/error.h>

#include "base/rare.h"
#include "net/quick.h"

/* hiredis 1.0 made the length of an array a size_t. */
#if HIREDIS_MAJOR >= 1
#define ARRAY_LENGTH size_t
#else
#define ARRAY_LENGTH int
#endif

/* When one of the functions below returns NULL, the reader reports an error. They return NULL for
 * the types of RESP3: a later hiredis parses these, but we never ask for RESP3, and which replies
 * are valid must not depend on the version of hiredis. */

/* The parser that a task of the reader belongs to. */
static struct rlk_reply_parser *parser(const redisReadTask *task)
{
    return task->privdata;
}

static struct rlk_reply *add_reply(const redisReadTask *task, enum rlk_reply_type type)
{
    struct rlk_reply_parser *p = parser(task);
    struct rlk_reply *item;

    if (p->items == RLK_REPLY_ITEMS) {
        return NULL;
    }
    item = &p->item[p->items++];
    item->type = type;
    item->integer = 0;
    item->str = "";
    item->len = 0;
    return item;
}

static void keep_text(struct rlk_reply_parser *p, struct rlk_reply *item, const char *str,
                      size_t len)
{
    size_t room = sizeof(p->text) - p->used;
    char *to = p->text + p->used;

    item->integer = (int64_t)len;
    if (room == 0) {
        item->str = "";
        item->len = 0;
        return;
    }
    item->len = len < room ? len : room - 1;
    memcpy(to, str, item->len);
    to[item->len] = '\0';
    item->str = to;
    p->used += item->len + 1;
}

/* Whether the bytes of a string are really there. Where size_t has 32 bits, an announced length of
 * 4294967295 overflows inside hiredis, which then takes the string for complete. */
static bool is_received(const struct rlk_reply_parser *p, size_t len)
{
    return len <= p->reader->len;
}

static void *create_string(const redisReadTask *task, char *str, size_t len)
{
    enum rlk_reply_type type = RLK_REPLY_STRING;
    struct rlk_reply *item;

    if (task->type == REDIS_REPLY_STATUS) {
        type = RLK_REPLY_STATUS;
    } else if (task->type == REDIS_REPLY_ERROR) {
        type = RLK_REPLY_ERROR;
    } else if (task->type != REDIS_REPLY_STRING || !is_received(parser(task), len)) {
        return NULL;
    }
    item = add_reply(task, type);
    if (item) {
        keep_text(parser(task), item, str, len);
    }
    return item;
}

static void *create_array(const redisReadTask *task, ARRAY_LENGTH elements)
{
    struct rlk_reply *item;

    if (task->type != REDIS_REPLY_ARRAY || (size_t)elements > RLK_REPLY_ITEMS) {
        return NULL;
    }
    item = add_reply(task, RLK_REPLY_ARRAY);
    if (item) {
        item->integer = (int64_t)elements;
    }
    return item;
}

static void *create_integer(const redisReadTask *task, long long value)
{
    struct rlk_reply *item = add_reply(task, RLK_REPLY_INTEGER);

    if (item) {
        item->integer = value;
    }
    return item;
}

static void *create_nil(const redisReadTask *task)
{
    /* "$-1" and "*-1" are RESP2's nil, as a string and as an array; "_" is RESP3's. */
    return task->type == REDIS_REPLY_NIL ? NULL : add_reply(task, RLK_REPLY_NIL);
}

static void free_object(void *object)
{
    (void)object; /* it is an entry of the parser's array */
}

static redisReplyObjectFunctions functions = {
    .createString = create_string,
    .createArray = create_array,
    .createInteger = create_integer,
    .createNil = create_nil,
    .freeObject = free_object,
};

int rlk_reply_parser_init(struct rlk_reply_parser *p)
{
    p->items = 0;
    p->used = 0;
    p->lent = NULL;
    p->lent_len = 0;
    p->starved = false;
    p->reader = redisReaderCreateWithFunctions(&functions);
    if (p->reader == NULL) {
        return REDLOCK_ENOMEM;
    }
    p->reader->privdata = p;
    return 0;
}

void rlk_reply_parser_end(struct rlk_reply_parser *p)
{
    if (p->reader) {
        redisReaderFree(p->reader);
        p->reader = NULL;
    }
}

int rlk_reply_feed(struct rlk_reply_parser *p, const char *bytes, size_t len)
{
    if (p->reader->len - p->reader->pos + len > RLK_REPLY_BYTES) {
        return -1;
    }
    return redisReaderFeed(p->reader, bytes, len) == REDIS_OK ? 0 : REDLOCK_ENOMEM;
}

static bool has_begun(const struct rlk_reply_parser *p)
{
    return p->reader->ridx != -1;
}

static bool is_reader_empty(const struct rlk_reply_parser *p)
{
    return p->reader->pos == p->reader->len && !has_begun(p);
}

int rlk_reply_lend(struct rlk_reply_parser *p, const char *bytes, size_t len)
{
    if (!is_reader_empty(p)) {
        return rlk_reply_feed(p, bytes, len);
    }
    p->lent = bytes;
    p->lent_len = len;
    return 0;
}

static int ask_reader(struct rlk_reply_parser *p)
{
    void *object = NULL;

    if (!has_begun(p)) {
        p->items = 0; /* the last reply is no longer needed */
        p->used = 0;
    }
    if (redisReaderGetReply(p->reader, &object) != REDIS_OK) {
        return -1;
    }
    if (object == NULL) {
        return 0;
    }
    return p->items > 0 ? 1 : -1; /* none: a type that RESP2 does not have */
}

/* What was lent is the reader's from here on. */
static int pass_on(struct rlk_reply_parser *p)
{
    p->starved = rlk_reply_feed(p, p->lent, p->lent_len) != 0;
    p->lent_len = 0;
    return p->starved ? -1 : ask_reader(p);
}

RLK_RARE static int read_slowly(struct rlk_reply_parser *p, const struct rlk_reply **ret_reply)
{
    int got = p->lent_len > 0 ? pass_on(p) : ask_reader(p);

    if (got == 1) {
        *ret_reply = p->item;
    }
    return got;
}

/* The texts of what was recognised are still among the bytes. */
RLK_RARE static void keep_texts(struct rlk_reply_parser *p)
{
    size_t i;

    p->used = 0;
    for (i = 0; i < p->items; i++) {
        if (p->item[i].type == RLK_REPLY_STRING) {
            keep_text(p, &p->item[i], p->item[i].str, p->item[i].len);
        }
    }
}

int rlk_reply_next(struct rlk_reply_parser *p, const struct rlk_reply **ret_reply)
{
    size_t taken = p->lent_len > 0 ? rlk_quick_read(p->lent, p->lent_len, p->item, &p->items) : 0;

    if (taken == 0) {
        return p->lent_len == 0 && is_reader_empty(p) ? 0 : read_slowly(p, ret_reply);
    }
    if (p->items > 1 || p->item[0].type == RLK_REPLY_STRING) {
        keep_texts(p);
    }
    p->lent += taken;
    p->lent_len -= taken;
    *ret_reply = p->item;
    return 1;
}

enum rlk_fault_kind rlk_reply_fault(const struct rlk_reply_parser *p)
{
    if (p->starved) {
        return RLK_FAULT_MEMORY;
    }
    if (p->items == RLK_REPLY_ITEMS) {
        return RLK_FAULT_TOO_MANY;
    }
    return p->reader->err == REDIS_ERR_OOM ? RLK_FAULT_TOO_LARGE : RLK_FAULT_GARBLED;
}
