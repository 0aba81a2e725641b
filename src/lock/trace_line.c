/* trace_line.c - writes a trace event as a line of text.
 *
 * Each kind of event has a sentence with placeholders. The simulator prints its own clients with
 * the same sentences. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/trace.h>

#include "base/digits.h"
#include "base/mask.h"
#include "base/sized.h"
#include "net/reply_text.h"

/* ---- the sentences ---- */

/* A placeholder is a % and a letter: k the keys, t the token, x the text, m the ttl, u a duration,
 * r the round, s the status, f the fencing token, a the reply, N the nodes, n the node unless the
 * line begins with it. A part in [] is left out when its placeholder is 0 or "". */
static const char *const sentences[] = {
    [REDLOCK_TRACE_CLOSING] = "closes",
    [REDLOCK_TRACE_CLOSED] = "is closed",

    [REDLOCK_TRACE_CONNECTED] = "connected[: %x]",
    [REDLOCK_TRACE_DISCONNECTED] = "disconnected",
    [REDLOCK_TRACE_NODE_TROUBLE] = "trouble: %x",
    [REDLOCK_TRACE_QUARANTINED] = "quarantined: %x",
    [REDLOCK_TRACE_AHEAD] = "its clock got ahead by %u ms",
    [REDLOCK_TRACE_SUSPENDED] = "its clock shows that we were suspended for %u ms",
    [REDLOCK_TRACE_PENDING] = "the release of %t is pending",
    [REDLOCK_TRACE_SUBSCRIBED] = "is subscribed",
    [REDLOCK_TRACE_UNSUBSCRIBED] = "is no longer subscribed",

    [REDLOCK_TRACE_ASKED] = "asks for %k, ttl %m ms[, %x]",
    [REDLOCK_TRACE_ADOPTED] = "adopts %k with %t, ttl %m ms[, %x]",
    [REDLOCK_TRACE_ROUND] = "round %r: %t",
    [REDLOCK_TRACE_VOTED] = "%nsays %a to %t[, fencing token %f]",
    [REDLOCK_TRACE_HELD] = "HOLDS %k with %t, %u ms left[, fencing token %f]",
    [REDLOCK_TRACE_FAILED] = "fails with %s after round %r",
    [REDLOCK_TRACE_CANCELED] = "cancels",
    [REDLOCK_TRACE_EXTENDING] = "wants %t extended to %m ms",
    [REDLOCK_TRACE_HEARTBEAT] = "heartbeat for %t",
    [REDLOCK_TRACE_RENEWED] = "%t is renewed, %u ms left",
    [REDLOCK_TRACE_TROUBLE] = "%t is in trouble: %s, %u ms left",
    [REDLOCK_TRACE_LOST] = "%t is LOST: %s",
    [REDLOCK_TRACE_EXTENDED] = "the extension of %t ended with %s",
    [REDLOCK_TRACE_RELEASING] = "begins to release %k with %t[ for %x]",
    [REDLOCK_TRACE_RELEASED] = "the release of %t ended with %s",
    [REDLOCK_TRACE_DETACHED] = "detaches %t, and leaves its keys",
    [REDLOCK_TRACE_WAITING] = "is at queue position %r for %k on %N",
    [REDLOCK_TRACE_WOKEN] = "%nsays that we are first in the queue for %k",
    [REDLOCK_TRACE_NEXT] = "%nsays that we are next in the queue for %k",
    [REDLOCK_TRACE_RESERVED] = "%nsays that %k is reserved for us",
};

static const char *const sent[] = {
    [REDLOCK_QUESTION_SET] = "sends SET %k %t for %m ms to %N",
    [REDLOCK_QUESTION_SET_ALL] = "sends take %k %t for %m ms to %N",
    [REDLOCK_QUESTION_FENCED] = "sends vote %k %t for %m ms to %N",
    [REDLOCK_QUESTION_ADOPT] = "adopts %k with %t for %m ms on %N",
    [REDLOCK_QUESTION_CONFIRM] = "confirms %t with fencing token %f on %N",
    [REDLOCK_QUESTION_EXTEND] = "extends %t to %m ms on %N",
    [REDLOCK_QUESTION_RESTORE] = "restores %t for %m ms on %N",
    [REDLOCK_QUESTION_RELEASE] = "releases %t on %N",
    [REDLOCK_QUESTION_WAIT] = "waits for %k on %N",
    [REDLOCK_QUESTION_LEAVE] = "leaves the queue for %k on %N",
    [REDLOCK_QUESTION_HOLDER] = "asks who holds %k",
    [REDLOCK_QUESTION_BREAK] = "breaks %k with %t",
    [REDLOCK_QUESTION_HAND_OVER] = "hands %t over on %N",
};

static const char *const answered[] = {
    [REDLOCK_QUESTION_CONFIRM] = "%nsays %a to the fencing token of %t",
    [REDLOCK_QUESTION_EXTEND] = "%nsays %a to extending %t",
    [REDLOCK_QUESTION_RESTORE] = "%nsays %a to restoring %t",
    [REDLOCK_QUESTION_RELEASE] = "%nsays %a to the release of %t",
    [REDLOCK_QUESTION_WAIT] = "%nsays %a to waiting for %k[, position %r]",
    [REDLOCK_QUESTION_LEAVE] = "%nsays %a to leaving the queue for %k",
    [REDLOCK_QUESTION_BREAK] = "%nsays %a to breaking %k with %t",
    [REDLOCK_QUESTION_HAND_OVER] = "%nsays %a to handing %t over",
};

static const char *const holder[] = {
    [REDLOCK_SAYS_NOTHING] = "does not say who holds %k",
    [REDLOCK_SAYS_YES] = "says that %k is held",
    [REDLOCK_SAYS_GONE] = "says that %k is free",
};

static const char *const answers[] = {
    [REDLOCK_SAYS_NOTHING] = "nothing",
    [REDLOCK_SAYS_YES] = "yes",
    [REDLOCK_SAYS_NO] = "no",
    [REDLOCK_SAYS_OURS] = "ours",
    [REDLOCK_SAYS_QUARANTINED] = "quarantined",
    [REDLOCK_SAYS_GONE] = "gone",
    [REDLOCK_SAYS_TAKEN] = "somebody else's",
    [REDLOCK_SAYS_QUEUED] = "queued",
    [REDLOCK_SAYS_TURN] = "your turn",
    [REDLOCK_SAYS_FULL] = "full",
};

#define PICK(table, index)                                                                         \
    ((size_t)(index) < sizeof(table) / sizeof(table[0]) ? table[index] : NULL)

/* NULL: the kind is not known. */
static const char *sentence_of(const struct redlock_trace *ev)
{
    switch ((int)ev->kind) {
    case REDLOCK_TRACE_SENT:
        return PICK(sent, ev->question);
    case REDLOCK_TRACE_REPLIED:
        return ev->question == REDLOCK_QUESTION_HOLDER ? PICK(holder, ev->reply)
                                                       : PICK(answered, ev->question);
    case REDLOCK_TRACE_DECIDED:
        return ev->status == REDLOCK_OK ? "has a majority with %t"
                                        : "round %r failed: %s[; again in %u ms]";
    default:
        return PICK(sentences, ev->kind);
    }
}

static const char *name_of_status(int status)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {
        {REDLOCK_OK, "OK"},
        {REDLOCK_GONE, "GONE"},
        {REDLOCK_TAKEN, "TAKEN"},
        {REDLOCK_EINVAL, "EINVAL"},
        {REDLOCK_ESTATE, "ESTATE"},
        {REDLOCK_EURI, "EURI"},
        {REDLOCK_ETTL, "ETTL"},
        {REDLOCK_EFORK, "EFORK"},
        {REDLOCK_ELIMIT, "ELIMIT"},
        {REDLOCK_EHELD, "EHELD"},
        {REDLOCK_ETOOSLOW, "ETOOSLOW"},
        {REDLOCK_EDEADLINE, "EDEADLINE"},
        {REDLOCK_ECANCELED, "ECANCELED"},
        {REDLOCK_ELOST, "ELOST"},
        {REDLOCK_ESUSPENDED, "ESUSPENDED"},
        {REDLOCK_EUNRENEWED, "EUNRENEWED"},
        {REDLOCK_EOUTRANKED, "EOUTRANKED"},
        {REDLOCK_ENOQUORUM, "ENOQUORUM"},
        {REDLOCK_ENOMEM, "ENOMEM"},
        {REDLOCK_ESYSTEM, "ESYSTEM"},
        {REDLOCK_ECONFIG, "ECONFIG"},
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].status == status) {
            return names[i].name;
        }
    }
    return "?";
}

/* ---- writing ---- */

struct line {
    char *out;
    size_t size, len;
};

static void put_bytes(struct line *l, const char *bytes, size_t len)
{
    size_t room = l->size - l->len - 1;

    len = len < room ? len : room;
    memcpy(l->out + l->len, bytes, len);
    l->len += len;
    l->out[l->len] = '\0';
}

static void put_text(struct line *l, const char *text)
{
    put_bytes(l, text ? text : "", text ? strlen(text) : 0);
}

/* At least so many characters, the missing ones written as `pad`. */
static void put_padded(struct line *l, uint64_t n, size_t least, char pad)
{
    char digits[RLK_DIGITS_MAX], *end = digits + sizeof(digits), *first = rlk_digits(n, end);

    while ((size_t)(end - first) < least) {
        *--first = pad;
    }
    put_bytes(l, first, (size_t)(end - first));
}

static void put_number(struct line *l, uint64_t n)
{
    put_padded(l, n, 1, '0');
}

static void put_ms(struct line *l, uint64_t us)
{
    put_number(l, us / 1000);
    put_text(l, ".");
    put_padded(l, us % 1000, 3, '0');
}

static void put_node(struct line *l, const char *ahead, unsigned node)
{
    put_text(l, ahead);
    put_text(l, "n");
    put_number(l, node);
}

static void put_nodes(struct line *l, uint64_t nodes)
{
    const char *ahead = "";
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        put_node(l, ahead, node);
        ahead = " ";
    }
}

static void put_placeholder(struct line *l, const struct redlock_trace *ev, char mark)
{
    switch (mark) {
    case 'k':
        put_text(l, ev->key);
        break;
    case 't':
        put_text(l, "t");
        put_text(l, ev->token);
        break;
    case 'x':
        put_text(l, ev->text);
        break;
    case 'm':
        put_number(l, ev->ttl_ms);
        break;
    case 'u':
        put_ms(l, ev->us);
        break;
    case 'r':
        put_number(l, ev->round);
        break;
    case 's':
        put_text(l, name_of_status(ev->status));
        break;
    case 'f':
        put_number(l, ev->fencing_token);
        break;
    case 'a':
        put_text(l, PICK(answers, ev->reply));
        break;
    case 'N':
        put_nodes(l, ev->nodes);
        break;
    default:
        if (ev->lock >= 0) {
            put_node(l, "", (unsigned)ev->node);
            put_text(l, " ");
        }
        break;
    }
}

/* Whether a part in [] is written, by its placeholder. */
static bool has_value(const struct redlock_trace *ev, char mark)
{
    if (mark == 'x') {
        return ev->text && ev->text[0] != '\0';
    }
    if (mark == 'r') {
        return ev->round > 0;
    }
    return mark == 'u' ? ev->us > 0 : ev->fencing_token > 0;
}

static void put_part(struct line *l, const struct redlock_trace *ev, const char *at,
                     const char *end);

/* Write a part in [], and return its end. */
static const char *put_optional(struct line *l, const struct redlock_trace *ev, const char *open)
{
    const char *close = strchr(open, ']');

    if (has_value(ev, strchr(open, '%')[1])) {
        put_part(l, ev, open + 1, close);
    }
    return close + 1;
}

static void put_part(struct line *l, const struct redlock_trace *ev, const char *at,
                     const char *end)
{
    while (at < end) {
        size_t plain = strcspn(at, "%[");

        plain = plain < (size_t)(end - at) ? plain : (size_t)(end - at);
        put_bytes(l, at, plain);
        at += plain;
        if (at < end && *at == '%') {
            put_placeholder(l, ev, at[1]);
            at += 2;
        } else if (at < end) {
            at = put_optional(l, ev, at);
        }
    }
}

static void put_subject(struct line *l, const struct redlock_trace *ev)
{
    size_t from = l->len;

    put_text(l, "c");
    put_number(l, ev->client);
    if (ev->lock >= 0) {
        put_text(l, ".");
        put_number(l, (uint64_t)ev->lock);
    } else if (ev->node >= 0) {
        put_node(l, "-", (unsigned)ev->node);
    }
    while (l->len - from < 4 && l->len + 1 < l->size) {
        put_text(l, " ");
    }
    put_text(l, "  ");
}

REDLOCK_EXPORT size_t redlock_trace_line(const struct redlock_trace *event, char *out, size_t size)
{
    struct redlock_trace ev = {.lock = -1, .node = -1};
    struct line l = {out, size, 0};
    const char *sentence;

    rlk_sized_read(event, RLK_SIZED_UP_TO(struct redlock_trace, fencing_token), &ev, sizeof(ev));
    put_padded(&l, ev.time_us / 1000000, 4, ' ');
    put_text(&l, ".");
    put_padded(&l, ev.time_us % 1000000, 6, '0');
    put_text(&l, "  ");
    put_subject(&l, &ev);
    sentence = sentence_of(&ev);
    if (sentence) {
        put_part(&l, &ev, sentence, sentence + strlen(sentence));
    } else {
        put_text(&l, "kind ");
        put_number(&l, (unsigned)ev.kind);
        put_text(&l, ": this library is too old to have words for it");
    }
    rlk_reply_make_printable(out);
    return l.len;
}
