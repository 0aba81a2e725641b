/* trouble.c - the sentences, one for each kind of trouble. */
#include "node/trouble.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "net/reply_text.h"
#include "node/command.h"
#include "node/refusal.h"

#define MARK RLK_COMMAND_INCARNATION
#define FOR_UPKEEP "without which no lock can be renewed or released there"

/* Each sentence is about the master, and has no subject. # is replaced by the number, @ by the name
 * of the other master or of the file, $ by the words, or by what they mean (node/refusal.h). */
static const char *const sentences[RLK_TROUBLES] = {
    [RLK_TROUBLE_NONE] = "",

    [RLK_TROUBLE_CONNECTING] = "is still being connected",
    [RLK_TROUBLE_NAME] = "its name could not be resolved: $",
    [RLK_TROUBLE_NAME_LATE] = "its name could not be resolved within # ms; "
                              "check the name servers in /etc/resolv.conf",
    [RLK_TROUBLE_CONNECT] = "cannot be reached: $",
    [RLK_TROUBLE_CONNECT_LATE] = "could not be reached within # ms; its machine "
                                 "may be down, or a firewall may drop our packets",
    [RLK_TROUBLE_TLS] = "$",
    [RLK_TROUBLE_TLS_BROKEN] = "the connection broke during the TLS handshake: $; check that this "
                               "port is its tls-port",
    [RLK_TROUBLE_TLS_PENDING] =
        "has not finished the TLS handshake yet; check that this port is its tls-port",
    [RLK_TROUBLE_TLS_LATE] = "did not finish the TLS handshake within # ms; "
                             "check that this port is its tls-port",
    [RLK_TROUBLE_TLS_FILES] = "is connected with the former certificates, because $",
    [RLK_TROUBLE_SEVERAL] = "its name has several addresses ($), which may be several servers",
    [RLK_TROUBLE_GREETING_LATE] = "did not finish the handshake within # ms",
    [RLK_TROUBLE_GREETING_UNANSWERED] = "closed the connection during the handshake ($)",
    [RLK_TROUBLE_GREETING_BROKEN] = "the connection broke during the handshake: $",
    [RLK_TROUBLE_BROKEN] = "the connection broke: $",
    [RLK_TROUBLE_UNASKED] = "sent an unexpected reply: $",

    [RLK_TROUBLE_NOT_REDIS] = "does not reply like a Redis server",
    [RLK_TROUBLE_GREETING_REFUSED] = "refused the handshake: $",
    [RLK_TROUBLE_PROTECTED] = "accepts connections from its own machine only (protected mode)",
    [RLK_TROUBLE_PASSWORD_MISSING] =
        "requires a password, and none was given for it (its URI, password or password_file)",
    [RLK_TROUBLE_LOGIN] = "rejected our user or password: $; give those that it accepts",
    [RLK_TROUBLE_LOGIN_FILE] =
        "rejected our user or password: $; write the password that it accepts "
        "to @, which we read again before each try",
    [RLK_TROUBLE_LOGIN_UNREAD] =
        "rejected our user or password, and a new one could not be read from @: $",
    [RLK_TROUBLE_DATABASE] = "refused database #: $",
    [RLK_TROUBLE_DATABASE_DENIED] = "refused database #: $",
    [RLK_TROUBLE_BUSY] = "refuses all commands for now: $",
    [RLK_TROUBLE_LOADING] = "is loading its data; retrying until it has finished",

    [RLK_TROUBLE_UNFIT] = "$",
    [RLK_TROUBLE_WAS_REPLICA] =
        "was a replica for a while, so its data were replaced; we connect to it again",
    [RLK_TROUBLE_DATA_REPLACED] = "its data were deleted or replaced; we connect to it again",
    [RLK_TROUBLE_DUPLICATE] = "is the same server as @ (run_id $...)",
    [RLK_TROUBLE_VOTED_TWICE] = "is a server that has already voted at another address",

    [RLK_TROUBLE_SET_REFUSED] = "refused to set the key: $",
    [RLK_TROUBLE_FENCE_REFUSED] = "refused to raise the fencing token: $",
    [RLK_TROUBLE_EXTEND_REFUSED] = "refused to extend the lock: $",
    [RLK_TROUBLE_RESTORE_REFUSED] = "refused to restore the key: $",
    [RLK_TROUBLE_RELEASE_REFUSED] = "refused to release the key: $",
    [RLK_TROUBLE_WAIT_REFUSED] = "refused to queue us: $",
    [RLK_TROUBLE_REFUSES] = "refuses our commands: $",
    [RLK_TROUBLE_NONSENSE] = "sent a reply that no Redis server sends",

    [RLK_TROUBLE_SUBSCRIBER_BROKEN] = "the subscriber connection broke: $",
    [RLK_TROUBLE_SUBSCRIBER_REFUSED] = "refused the subscriber connection, so waiting polls: $",
    [RLK_TROUBLE_SUBSCRIBER_LATE] =
        "did not finish the handshake of the subscriber connection within # ms",
    [RLK_TROUBLE_SUBSCRIBER_UNASKED] =
        "sent an unexpected message over the subscriber connection: $",

    [RLK_TROUBLE_UNANSWERED] = "did not reply in time",
    [RLK_TROUBLE_UNANSWERED_YET] = "has not replied yet",
    [RLK_TROUBLE_ANSWER_BROKEN] = "the connection broke before it replied",
    [RLK_TROUBLE_NOT_ASKED] = "was not asked: it was not connected when the round was decided",
    [RLK_TROUBLE_DID_NOT_COUNT] = "granted the lock while in quarantine, so its vote did not count",
    [RLK_TROUBLE_UNCONFIRMED] = "granted the lock, but did not confirm the fencing token",
    [RLK_TROUBLE_ERROR] = "replied with an error",
    [RLK_TROUBLE_NOT_ASKED_AGAIN] = "was not asked again before our key expired there",
    [RLK_TROUBLE_QUERY_REFUSED] = "refused the query: $",
    [RLK_TROUBLE_ANSWER_LOST] = "its reply was dropped: out of memory",

    [RLK_TROUBLE_TOO_MANY] = "too many requests are pending for it",
    [RLK_TROUBLE_NO_MEMORY] = "out of memory: a request to it was not sent",
    [RLK_TROUBLE_NO_MEMORY_TO_GREET] = "out of memory: the handshake was not sent",
    [RLK_TROUBLE_NO_MEMORY_TO_INSPECT] = "out of memory: it could not be inspected",
    [RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE] =
        "out of memory for the subscriber connection, so waiting polls",
    [RLK_TROUBLE_NOT_EXAMINED] =
        "could not be asked: too many requests are pending for it, or out of memory",
    [RLK_TROUBLE_RELEASES_MANY] = "too many releases are pending for it; the oldest were dropped, "
                                  "and their keys expire with their ttl",
    [RLK_TROUBLE_RELEASES_NO_MEMORY] = "out of memory for its pending releases; the oldest were "
                                       "dropped, and their keys expire with their ttl",

    [RLK_TROUBLE_GREETING] = "is connected, but has not finished the handshake for # ms",
    [RLK_TROUBLE_UNRESPONSIVE] = "has not replied for # ms",
    [RLK_TROUBLE_QUARANTINE] = "does not vote: $",
    [RLK_TROUBLE_UPKEEP_DENIED] = "does not vote, because it denies our user $, " FOR_UPKEEP,
    [RLK_TROUBLE_UPKEEP_UNKNOWN] = "does not vote, because it does not know $, " FOR_UPKEEP,
    [RLK_TROUBLE_UPKEEP_IN_SCRIPTS] = "does not vote, because it denies $ to scripts, " FOR_UPKEEP,
    [RLK_TROUBLE_UPKEEP_REFUSED] = "does not vote, because it runs no scripts, " FOR_UPKEEP ": $",
    [RLK_TROUBLE_BLIND_TO_RESTART] =
        "has restarts that we cannot see, so it votes without quarantine",
    [RLK_TROUBLE_BLIND_TO_ROLE] = "has restarts and a role that we cannot see, so it votes without "
                                  "quarantine, even as a writable replica",
    [RLK_TROUBLE_BLIND_TO_DATA] =
        "can lose its data without our seeing it, so it votes without quarantine",
    [RLK_TROUBLE_MARK_SPOILT] = "can lose its data without our seeing it, because its key " MARK
                                " is not a string; so it votes without quarantine",
};

#define CHECK_WHY_SILENT                                                                           \
    "check whether it is stopped, swapping or busy with a long command (SLOWLOG GET), and the "    \
    "network to it"
#define CHECK_WHAT_LISTENS                                                                         \
    "check that a Redis server listens there, and what is in between (a proxy, TLS)"
#define LIST_ONCE "list each master once"

/* What to do, where it does not depend on the words; it follows the sentence. */
static const char *const advices[RLK_TROUBLES] = {
    [RLK_TROUBLE_SEVERAL] = "give each server a name of its own, or list this one by one address",
    [RLK_TROUBLE_GREETING_LATE] = CHECK_WHY_SILENT,
    [RLK_TROUBLE_GREETING_UNANSWERED] = "if this port is its tls-port, write rediss://; otherwise "
                                        "check what listens there, perhaps a proxy",
    [RLK_TROUBLE_GREETING_BROKEN] = CHECK_WHAT_LISTENS,
    [RLK_TROUBLE_NOT_REDIS] = CHECK_WHAT_LISTENS,
    [RLK_TROUBLE_PROTECTED] =
        "set a password on it (requirepass, or ACL), and give it to its clients",
    [RLK_TROUBLE_DATABASE] = "use a database that it has (CONFIG GET databases shows how many)",
    [RLK_TROUBLE_DATABASE_DENIED] = "allow our user this database (ACL SETUSER: +select, and "
                                    "db=... on Valkey 9.1 or newer), or use another one",
    [RLK_TROUBLE_DUPLICATE] = LIST_ONCE,
    [RLK_TROUBLE_VOTED_TWICE] = LIST_ONCE,
    [RLK_TROUBLE_NONSENSE] = "if it is a proxy, list the masters behind it",
    [RLK_TROUBLE_GREETING] = CHECK_WHY_SILENT,
    [RLK_TROUBLE_UNRESPONSIVE] = CHECK_WHY_SILENT,
    [RLK_TROUBLE_UPKEEP_DENIED] = "allow it (redlock doctor prints the ACL SETUSER for that)",
    [RLK_TROUBLE_UPKEEP_UNKNOWN] =
        "remove its rename-command; if it is a proxy, list the masters behind it",
    [RLK_TROUBLE_UPKEEP_IN_SCRIPTS] =
        "allow it (redlock doctor prints the ACL SETUSER for that), or remove its rename-command",
    [RLK_TROUBLE_BLIND_TO_RESTART] = "allow us INFO",
    [RLK_TROUBLE_BLIND_TO_ROLE] = "allow us INFO; if it is a proxy, list the masters behind it",
    [RLK_TROUBLE_BLIND_TO_DATA] = "allow us EVAL with GET, SET and TIME on " MARK,
    [RLK_TROUBLE_MARK_SPOILT] = "delete that key",
};

static const char for_a_time[] = "does not vote for another # s (quarantine; see max_ttl): $";

static const char *text_of_unfit(enum rlk_unfit unfit)
{
    switch (unfit) {
    case RLK_UNFIT_REPLICA:
        return "is a replica, not a master";
    case RLK_UNFIT_CLUSTER:
        return "is a cluster node";
    case RLK_UNFIT_SENTINEL:
        return "is a sentinel, which has no keys";
    case RLK_UNFIT_ROLE:
        return "says that its role is not master";
    case RLK_UNFIT_NOT:
        break;
    }
    return "";
}

static const char *advice_for_unfit(enum rlk_unfit unfit)
{
    switch (unfit) {
    case RLK_UNFIT_CLUSTER:
        return "list independent masters, without cluster mode";
    case RLK_UNFIT_SENTINEL:
        return "list the masters themselves";
    case RLK_UNFIT_REPLICA:
    case RLK_UNFIT_ROLE:
        return "list independent masters only";
    case RLK_UNFIT_NOT:
        break;
    }
    return NULL;
}

static const char *words_of_reason(enum rlk_quarantine_reason reason, bool permanent)
{
    switch (reason) {
    case RLK_QUARANTINED_YOUNG:
        return "it was first used for locks, lost its data or had its clock set a short time ago";
    case RLK_QUARANTINED_RESTARTED:
        return "it restarted, or does not say whether it did";
    case RLK_QUARANTINED_FORGOT:
        return "its data were deleted or replaced";
    case RLK_QUARANTINED_CLOCK:
        return "its clock was set forward, or runs too fast";
    case RLK_QUARANTINED_EVICTS:
        return permanent ? "it may evict keys when memory is short"
                         : "it may have evicted keys until just now";
    case RLK_QUARANTINED_UNREAD:
        return "it cannot show yet that it still has its data";
    case RLK_QUARANTINED_UNLOGGED:
        return "a restart could load an old log until the rewrite of its append-only file has "
               "ended";
    case RLK_QUARANTINED_ANONYMOUS:
        return "a restart would go unnoticed, because it does not tell us its run_id";
    case RLK_QUARANTINED_NOT:
    case RLK_QUARANTINE_REASONS:
        break;
    }
    return "";
}

static const char *text_of_fault(const struct rlk_trouble *t)
{
    switch (t->fault) {
    case RLK_FAULT_NO_ADDRESS:
        return "it has no address; check the host in the URI";
    case RLK_FAULT_NO_NAME:
        return "there is no such name; check the host in the URI";
    case RLK_FAULT_NO_ANSWER:
        return "no name server gave an address; check the host in the URI and /etc/resolv.conf";
    case RLK_FAULT_CLOSED:
        return "the server closed it";
    case RLK_FAULT_MEMORY:
        return "out of memory";
    case RLK_FAULT_TOO_LARGE:
        return "its reply is too large";
    case RLK_FAULT_TOO_MANY:
        return "its reply has too many elements";
    case RLK_FAULT_GARBLED:
        return "its reply is not in the Redis protocol";
    case RLK_FAULT_NOT_TLS:
        return "speaks no TLS at this port; give its tls-port (with redis:// all that is sent, a "
               "password "
               "too, can be read on the way)";
    case RLK_FAULT_IS_TLS:
        return "speaks TLS at this port; write rediss:// for it";
    case RLK_FAULT_NONE:
    case RLK_FAULT_SYSTEM:
    case RLK_FAULT_TLS:
    case RLK_FAULT_HANDSHAKE:
    case RLK_FAULT_UNANSWERED:
        break;
    }
    return t->words && t->words[strspn(t->words, " ")] ? t->words : "it does not say why";
}

/* A quarantine has words only when they are the reason. */
static const char *text_of(const struct rlk_trouble *t)
{
    if (t->kind == RLK_TROUBLE_QUARANTINE) {
        return words_of_reason(t->reason, t->number == RLK_NEVER);
    }
    return t->kind == RLK_TROUBLE_UNFIT ? text_of_unfit(t->unfit) : text_of_fault(t);
}

/* What the words of the server mean. */
static const struct rlk_refusal *refusal_of(const struct rlk_trouble *t)
{
    return t->words && t->fault == RLK_FAULT_NONE ? rlk_refusal_of(t->words) : NULL;
}

static const char *advice_of(const struct rlk_trouble *t)
{
    const struct rlk_refusal *refusal = refusal_of(t);

    if (t->kind == RLK_TROUBLE_UNFIT) {
        return advice_for_unfit(t->unfit);
    }
    if (t->reason == RLK_QUARANTINED_EVICTS && t->number == RLK_NEVER) {
        return "set its maxmemory-policy to noeviction";
    }
    if (t->reason == RLK_QUARANTINED_ANONYMOUS) {
        return "allow us INFO, and then CLIENT KILL our connections to it; if it is a proxy, list "
               "the masters behind it; quarantine=lenient in its URI lets it vote all the same";
    }
    return advices[t->kind] || refusal == NULL ? advices[t->kind] : refusal->advice;
}

static size_t put_trouble(char *out, size_t size, size_t used, const char *text)
{
    size_t len = strlen(text), room = size - 1 - used;

    len = len < room ? len : room;
    memcpy(out + used, text, len);
    return used + len;
}

/* "its memory is full (OOM)"; as the server said it, where there is nothing better. */
static size_t put_text(char *out, size_t size, size_t used, const struct rlk_trouble *t)
{
    const struct rlk_refusal *refusal = refusal_of(t);

    if (refusal == NULL || refusal->means == NULL) {
        return put_trouble(out, size, used, text_of(t));
    }
    used = put_trouble(out, size, used, refusal->means);
    used = put_trouble(out, size, used, " (");
    used = put_trouble(out, size, used, refusal->code);
    return put_trouble(out, size, used, ")");
}

static size_t put_mark(char *out, size_t size, size_t used, char mark, const struct rlk_trouble *t)
{
    char other[24] = {mark, '\0'};

    switch (mark) {
    case '$':
        return put_text(out, size, used, t);
    case '@':
        return put_trouble(out, size, used, t->other ? t->other : "");
    case '#':
        snprintf(other, sizeof(other), "%" PRIu64, t->number);
        break;
    }
    return put_trouble(out, size, used, other);
}

const char *rlk_trouble_plain(enum rlk_trouble_kind kind)
{
    return sentences[kind];
}

static size_t put_finding(char *out, size_t size, const struct rlk_trouble *t)
{
    bool passes = t->kind == RLK_TROUBLE_QUARANTINE && t->number != RLK_NEVER;
    const char *at = passes ? for_a_time : sentences[t->kind];
    size_t used = 0;

    for (; *at != '\0'; at++) {
        used = put_mark(out, size, used, *at, t);
    }
    return used;
}

static void finish_text(char *out, size_t used)
{
    out[used] = '\0';
    rlk_reply_make_printable(out);
}

void rlk_trouble_write_finding(const struct rlk_trouble *t, char *out, size_t size)
{
    finish_text(out, put_finding(out, size, t));
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
    size_t used = put_finding(out, size, t);

    if (advice) {
        used = put_trouble(out, size, used, "; ");
        used = put_trouble(out, size, used, advice);
    }
    finish_text(out, used);
}
