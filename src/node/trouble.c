/* trouble.c - the table of troubles, and the sentences made of it. */
#include "node/trouble.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "net/reply_text.h"
#include "node/command.h"
#include "node/refusal.h"

#define MARK RLK_COMMAND_INCARNATION
#define RECORD RLK_COMMAND_RECORD
#define FOR_UPKEEP "without which no lock can be renewed or released there"
#define CHECK_WHY_SILENT                                                                           \
    "check whether it is stopped, swapping or busy with a long command (SLOWLOG GET), and the "    \
    "network to it"
#define CHECK_WHAT_LISTENS                                                                         \
    "check that a Redis server listens there, and what is in between (a proxy, TLS)"
#define LIST_ONCE "list each master once"

const struct rlk_trouble_row rlk_trouble_rows[RLK_TROUBLES] = {
#define TROUBLE(kind, ...) [kind] = {.sentence = __VA_ARGS__},
#include "node/trouble_rows.h"
#undef TROUBLE
};

/* What $ stands for, and what to do about it (NULL: nothing). */
struct meaning {
    const char *text, *advice;
};

static const struct meaning unfits[] = {
    [RLK_UNFIT_NOT] = {.text = ""},
    [RLK_UNFIT_REPLICA] = {"is a replica, not a master", "list independent masters only"},
    [RLK_UNFIT_CLUSTER] = {"is a cluster node", "list independent masters, without cluster mode"},
    [RLK_UNFIT_SENTINEL] = {"is a sentinel, which has no keys", "list the masters themselves"},
    [RLK_UNFIT_ROLE] = {"says that its role is not master", "list independent masters only"},
};

static const struct meaning reasons[RLK_QUARANTINE_REASONS] = {
    [RLK_QUARANTINED_NOT] = {.text = ""},
    [RLK_QUARANTINED_YOUNG] = {.text = "it was first used for locks, lost its data or had its "
                                       "clock set a short time ago"},
    [RLK_QUARANTINED_RESTARTED] = {.text = "it restarted, or does not say whether it did"},
    [RLK_QUARANTINED_LOST_DATA] = {.text = "its data were deleted or replaced"},
    [RLK_QUARANTINED_CLOCK] = {.text = "its clock was set forward, or runs too fast"},
    [RLK_QUARANTINED_EVICTS] = {.text = "it may evict keys when memory is short",
                                .advice = "set its maxmemory-policy to noeviction"},
    [RLK_QUARANTINED_UNREAD] = {.text = "it cannot show yet that it still has its data"},
    [RLK_QUARANTINED_UNLOGGED] = {.text = "a restart could load an old log until the rewrite of "
                                          "its append-only file has ended"},
    [RLK_QUARANTINED_UNLISTED] = {.text = "our masters are not those on record, or it has not "
                                          "been on record long enough for all clients to know",
                                  .advice = "redlock masters shows the record"},
    [RLK_QUARANTINED_ANONYMOUS] =
        {.text = "a restart would go unnoticed, because it does not tell us its run_id",
         .advice =
             "allow us INFO; if it is a proxy, list the masters behind it; quarantine=lenient in "
             "its URI lets it vote all the same"},
};

/* The policy was changed, and the quarantine passes. */
static const struct meaning evicted = {.text = "it may have evicted keys until just now"};

/* The other faults have words of their own. */
static const char *const faults[RLK_FAULT_IS_TLS + 1] = {
    [RLK_FAULT_NO_ADDRESS] = "it has no address; check the host in the URI",
    [RLK_FAULT_NO_NAME] = "there is no such name; check the host in the URI",
    [RLK_FAULT_NO_ANSWER] =
        "no name server gave an address; check the host in the URI and /etc/resolv.conf",
    [RLK_FAULT_CLOSED] = "the server closed it",
    [RLK_FAULT_MEMORY] = "out of memory",
    [RLK_FAULT_TOO_LARGE] = "its reply is too large",
    [RLK_FAULT_TOO_MANY] = "its reply has too many elements",
    [RLK_FAULT_GARBLED] = "its reply is not in the Redis protocol",
    [RLK_FAULT_NOT_TLS] = "speaks no TLS at this port; give its tls-port (with redis:// all that "
                          "is sent, a password too, can be read on the way)",
    [RLK_FAULT_IS_TLS] = "speaks TLS at this port; write rediss:// for it",
};

static const char *text_of_fault(const struct rlk_trouble *t)
{
    const char *text = faults[t->fault] ? faults[t->fault] : t->words;

    return text && text[strspn(text, " ")] ? text : "it does not say why";
}

/* A quarantine has words only when they are the reason. */
static struct meaning meaning_of_details(const struct rlk_trouble *t)
{
    if (t->kind == RLK_TROUBLE_UNFIT) {
        return unfits[t->unfit];
    }
    if (t->kind == RLK_TROUBLE_QUARANTINE_PASSES && t->reason == RLK_QUARANTINED_EVICTS) {
        return evicted;
    }
    if (t->kind == RLK_TROUBLE_QUARANTINE || t->kind == RLK_TROUBLE_QUARANTINE_PASSES) {
        return reasons[t->reason];
    }
    return (struct meaning){text_of_fault(t), NULL};
}

/* Without a fault the words are those of the server. */
static struct meaning meaning_of(const struct rlk_trouble *t)
{
    const struct rlk_refusal *refusal =
        t->words && t->fault == RLK_FAULT_NONE ? rlk_refusal_of(t->words) : NULL;
    struct meaning m = meaning_of_details(t);

    if (refusal) {
        m.text = refusal->means ? refusal->means : m.text;
        m.advice = refusal->advice;
    }
    return m;
}

static const char *advice_of(const struct rlk_trouble *t)
{
    const char *advice = rlk_trouble_rows[t->kind].advice;

    return advice ? advice : meaning_of(t).advice;
}

static size_t put_trouble(char *out, size_t size, size_t used, const char *text)
{
    size_t len = strlen(text), room = size - 1 - used;

    len = len < room ? len : room;
    memcpy(out + used, text, len);
    return used + len;
}

static size_t put_mark(char *out, size_t size, size_t used, char mark, const struct rlk_trouble *t)
{
    char other[24] = {mark, '\0'};

    switch (mark) {
    case '$':
        return put_trouble(out, size, used, meaning_of(t).text);
    case '@':
        return put_trouble(out, size, used, t->other ? t->other : "");
    case '&':
        return put_trouble(out, size, used, t->user ? t->user : "default");
    case '#':
        snprintf(other, sizeof(other), "%" PRIu64, t->number);
        break;
    }
    return put_trouble(out, size, used, other);
}

void rlk_trouble_write_finding(const struct rlk_trouble *t, char *out, size_t size)
{
    const char *at = rlk_trouble_rows[t->kind].sentence;
    size_t used = 0;

    for (; *at != '\0'; at++) {
        used = put_mark(out, size, used, *at, t);
    }
    out[used] = '\0';
    rlk_reply_make_printable(out);
}

void rlk_trouble_write_advice(const struct rlk_trouble *t, char *out, size_t size)
{
    const char *advice = advice_of(t);

    out[0] = '\0';
    if (advice) {
        snprintf(out, size, "%c%s.", advice[0] - 'a' + 'A', advice + 1);
    }
}

void rlk_trouble_write(const struct rlk_trouble *t, char *out, size_t size)
{
    const char *advice = advice_of(t);
    size_t used;

    rlk_trouble_write_finding(t, out, size);
    if (advice) {
        used = strlen(out);
        snprintf(out + used, size - used, "; %s", advice);
    }
}
