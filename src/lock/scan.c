/* scan.c - a conversation of one line, SCAN, which is begun again with the cursor of its reply. */
#include "lock/scan.h"

#include <stdlib.h>
#include <string.h>

#include "core/classify.h"
#include "net/reply_text.h"
#include "node/node.h"
#include "node/talk.h"
#include "node/trouble.h"

/* A number of 64 bits. */
#define CURSOR_DIGITS 20

static void note_error(struct rlk_scan *s, enum rlk_trouble_kind kind, const char *words)
{
    if (s->error[0] == '\0') {
        rlk_trouble_write(&(struct rlk_trouble){.kind = kind, .words = words}, s->error,
                          sizeof(s->error));
    }
}

/* ---- the reply ---- */

static bool is_cursor(const struct rlk_reply *r)
{
    return r->type == RLK_REPLY_STRING && r->len > 0 && r->len <= CURSOR_DIGITS &&
           strspn(r->str, "0123456789") == r->len;
}

static bool are_names(const struct rlk_reply *head)
{
    int64_t i;

    for (i = 1; i <= head->integer; i++) {
        if (head[i].type != RLK_REPLY_STRING) {
            return false;
        }
    }
    return true;
}

/* The cursor, and an array of names. */
static bool is_scan_reply(const struct rlk_reply *r)
{
    return r[0].type == RLK_REPLY_ARRAY && r[0].integer == 2 && is_cursor(&r[1]) &&
           r[2].type == RLK_REPLY_ARRAY && are_names(&r[2]);
}

/* A name that is cut, and could be that of a lock. */
static bool is_lost(const struct rlk_reply *name)
{
    return rlk_reply_full_len(name) != name->len && rlk_reply_full_len(name) <= REDLOCK_MAX_KEY;
}

static bool has_lost(const struct rlk_reply *head)
{
    int64_t i;

    for (i = 1; i <= head->integer; i++) {
        if (is_lost(&head[i])) {
            return true;
        }
    }
    return false;
}

static void pass_names(struct rlk_scan *s, const struct rlk_reply *head)
{
    int64_t i;

    for (i = 1; i <= head->integer; i++) {
        if (head[i].len == rlk_reply_full_len(&head[i])) {
            s->user->found(s, &(struct rlk_key){head[i].str, head[i].len});
        }
    }
    s->names += (uint64_t)head->integer;
}

/* Ask for less from the same cursor, until that was enough. */
static void halve(struct rlk_scan *s)
{
    s->count /= 2;
    if (s->count == 0) {
        note_error(s, RLK_TROUBLE_SCAN_TOO_LONG, NULL);
    }
}

static void take_scan(const struct rlk_heard *h)
{
    struct rlk_scan *s = h->context;
    const struct rlk_reply *r = h->reply;

    if (!is_scan_reply(r)) {
        note_error(s, RLK_TROUBLE_NONSENSE, NULL);
    } else if (has_lost(&r[2])) {
        halve(s);
    } else {
        pass_names(s, &r[2]);
        s->cursor = strtoull(r[1].str, NULL, 10);
        s->complete = s->cursor == 0;
        s->count = 2 * s->count < RLK_SCAN_COUNT ? 2 * s->count : RLK_SCAN_COUNT;
    }
}

static void on_scan_refused(const struct rlk_heard *h)
{
    note_error(h->context,
               rlk_classify_is_error(h->reply, "NOPERM") ? RLK_TROUBLE_SCAN_DENIED
                                                         : RLK_TROUBLE_SCAN_REFUSED,
               h->reply->str);
}

/* ---- the conversation ---- */

static void on_scanned(const struct rlk_heard *h)
{
    struct rlk_scan *s = h->context;

    s->asking = false;
    s->steps++;
    s->user->stepped(s, h->now_us);
}

static void on_scan_broken(const struct rlk_heard *h)
{
    struct rlk_scan *s = h->context;

    s->asking = false;
    note_error(s, RLK_TROUBLE_ANSWER_BROKEN, NULL);
    s->user->stepped(s, h->now_us);
}

static bool format_scan(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_scan *s = say->context;

    rlk_command_scan(c, s->cursor, &s->user->prefix, s->count);
    return true;
}

static void end_conversation(void *scan)
{
    rlk_scan_unref(((struct rlk_scan *)scan)->user);
}

static const struct rlk_talk scan_talk = {RLK_LINES({.format = format_scan, .take = take_scan}),
                                          .free = end_conversation, .refused = on_scan_refused,
                                          .done = on_scanned, .broken = on_scan_broken};

bool rlk_scan_step(struct rlk_scan *s, uint64_t now_us)
{
    s->count = s->count ? s->count : RLK_SCAN_COUNT;
    s->user->refs += s->refs == 0;
    s->asking = rlk_talk_begin(&s->node->link, &scan_talk, s, now_us);
    if (!s->asking) {
        s->user->refs -= s->refs == 0;
        note_error(s, RLK_TROUBLE_NOT_EXAMINED, NULL);
    }
    return s->asking;
}

void rlk_scan_end(struct rlk_scan *s, enum rlk_trouble_kind why)
{
    if (s->count > 0 && !s->complete) {
        note_error(s, why, NULL);
    }
    s->asking = false;
    rlk_talk_abandon(&s->node->link, s);
}

void rlk_scan_unref(struct rlk_scan_user *user)
{
    if (--user->refs == 0) {
        user->free(user);
    }
}
