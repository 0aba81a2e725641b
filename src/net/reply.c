/* reply.c - the functions that hiredis' reader calls for each element of a reply. */
#include "net/reply.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <string.h>

#include <redlock/error.h>

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

static struct rlk_reply *add(const redisReadTask *task, enum rlk_reply_type type)
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
    item = add(task, type);
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
    item = add(task, RLK_REPLY_ARRAY);
    if (item) {
        item->integer = (int64_t)elements;
    }
    return item;
}

static void *create_integer(const redisReadTask *task, long long value)
{
    struct rlk_reply *item = add(task, RLK_REPLY_INTEGER);

    if (item) {
        item->integer = value;
    }
    return item;
}

static void *create_nil(const redisReadTask *task)
{
    /* "$-1" and "*-1" are RESP2's nil, as a string and as an array; "_" is RESP3's. */
    return task->type == REDIS_REPLY_NIL ? NULL : add(task, RLK_REPLY_NIL);
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

int rlk_reply_next(struct rlk_reply_parser *p, const struct rlk_reply **ret_reply)
{
    void *object = NULL;

    if (p->reader->ridx == -1) {
        p->items = 0; /* no reply is begun: the last one is no longer needed */
        p->used = 0;
    }
    if (redisReaderGetReply(p->reader, &object) != REDIS_OK) {
        return -1;
    }
    if (object == NULL) {
        return 0;
    }
    if (p->items == 0) {
        return -1; /* a type that RESP2 does not have */
    }
    *ret_reply = p->item;
    return 1;
}

enum rlk_fault_kind rlk_reply_fault(const struct rlk_reply_parser *p)
{
    if (p->items == RLK_REPLY_ITEMS) {
        return RLK_FAULT_TOO_MANY;
    }
    return p->reader->err == REDIS_ERR_OOM ? RLK_FAULT_TOO_LARGE : RLK_FAULT_GARBLED;
}
