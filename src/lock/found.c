/* found.c - reads the replies of one master to a query. */
#include "lock/found.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/classify.h"
#include "core/reply.h"
#include "net/reply_text.h"
#include "node/trouble.h"

void rlk_found_clear(struct rlk_found *f)
{
    rlk_free(f->value);
    f->value = NULL;
    f->token[0] = '\0';
}

void rlk_found_lose(struct rlk_found *f)
{
    rlk_found_clear(f);
    f->public.reply = REDLOCK_REPLY_NONE;
}

static void note(struct rlk_found *f, enum rlk_trouble_kind kind, const char *words)
{
    rlk_trouble_write(&(struct rlk_trouble){.kind = kind, .words = words}, f->error,
                      sizeof(f->error));
}

static void keep_value(struct rlk_found *f, const struct rlk_reply *reply)
{
    f->value = rlk_alloc(reply->len + 1);
    if (f->value == NULL) {
        note(f, RLK_TROUBLE_ANSWER_LOST, NULL);
        return;
    }
    f->public.reply = REDLOCK_REPLY_HELD;
    memcpy(f->value, reply->str, reply->len);
    f->len = reply->len;
    f->full_len = rlk_reply_full_len(reply);
    rlk_reply_show(reply, f->token, sizeof(f->token));
}

static void refuse_reply(struct rlk_found *f, const struct rlk_reply *reply)
{
    rlk_found_lose(f);
    note(f, RLK_TROUBLE_QUERY_REFUSED, reply->str);
}

void rlk_found_take_value(struct rlk_found *f, const struct rlk_reply *reply)
{
    static const struct rlk_reply not_text = {RLK_REPLY_STRING, 0, "(not a string)", 14};

    rlk_found_lose(f); /* what an earlier reply said, too */
    if (reply->type == RLK_REPLY_NIL) {
        f->public.reply = REDLOCK_REPLY_FREE;
    } else if (reply->type == RLK_REPLY_STRING) {
        keep_value(f, reply);
    } else if (rlk_classify_is_error(reply, "WRONGTYPE")) {
        keep_value(f, &not_text);
    } else {
        refuse_reply(f, reply);
    }
}

/* The reply to PTTL is -1 for a key that does not expire, and -2 for no key: it ended after the
 * GET. */
void rlk_found_take_ttl(struct rlk_found *f, const struct rlk_reply *reply)
{
    if (f->public.reply != REDLOCK_REPLY_HELD) {
        return;
    }
    if (reply->type != RLK_REPLY_INTEGER) {
        refuse_reply(f, reply);
    } else if (reply->integer == -2) {
        f->public.reply = REDLOCK_REPLY_FREE;
        rlk_found_clear(f);
    } else {
        f->public.ttl_ms = reply->integer < 0 ? UINT64_MAX : (uint64_t)reply->integer;
    }
}

void rlk_found_take_counter(struct rlk_found *f, const struct rlk_reply *reply)
{
    if (reply->type == RLK_REPLY_STRING) {
        f->public.counter = strtoull(reply->str, NULL, 10);
    }
}

void rlk_found_take_waiters(struct rlk_found *f, const struct rlk_reply *reply)
{
    if (reply->type == RLK_REPLY_INTEGER && reply->integer > 0) {
        f->public.waiters = (uint64_t)reply->integer;
    }
}
