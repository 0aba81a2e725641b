/* redlock/trace.h - a trace of everything that a manager does.
 *
 * A manager reports everything that it sends, receives and decides to options.trace_cb: one struct
 * redlock_trace for each event. redlock_trace_line() writes an event as a line of text:
 *
 *      12.345678  c0.1  asks for nightly, ttl 10000 ms, renewed
 *      12.345712  c0.1  round 1: t5f3a9c01
 *      12.345790  c0.1  sends SET nightly t5f3a9c01 for 10000 ms to n0 n1 n2
 *      12.346102  c0.1  n0 says yes to t5f3a9c01
 *      12.346155  c0.1  n2 says yes to t5f3a9c01
 *      12.346161  c0.1  has a majority with t5f3a9c01
 *      12.346170  c0.1  HOLDS nightly with t5f3a9c01, 9897.542 ms left
 *
 * `redlock --trace` prints these lines, and the project's simulator writes its histories with the
 * same function. docs/simulator.md explains how to read them.
 *
 * An event never contains a password, nor more of a token than the first 8 of its 40 hex digits. If
 * a text quotes a server, it contains printable characters only, may be shortened, and leaves out
 * everything that looks like a token or part of one.
 *
 * trace_cb is an exception to rules 4 and 5 of redlock/redlock.h:
 *   - It runs immediately, on the loop's thread, even inside calls of this library and before
 *     redlock_new() has returned. It never runs inside itself.
 *   - It may call the accessors: redlock_get_node_info(), redlock_lock_validity_ms(),
 *     redlock_strerror() and so on. A call that would start, change or end something of the same
 *     manager returns REDLOCK_ESTATE and does nothing. Make such calls later, from the loop.
 *   - Keep it short, because the manager waits for it.
 *   - If it forks, the child must not return from it.
 *
 * If <sys/sdt.h> was present when the library was built, each kind of event is also a USDT probe of
 * the provider "redlock", named in lower case: redlock:sent, redlock:lost. The arguments of a probe
 * are lock, node, key, token, text, question, reply and status. Probes work without a trace_cb.
 *
 * When there is neither a trace_cb nor a program listening to the probes, an event costs one
 * comparison.
 */
#ifndef REDLOCK_TRACE_H
#define REDLOCK_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happened, and which fields of struct redlock_trace are set. Later versions may add kinds. */
enum redlock_trace_kind {
    /* The manager. No fields. */
    REDLOCK_TRACE_CLOSING = 1,
    REDLOCK_TRACE_CLOSED = 2,

    /* A master: node. */
    REDLOCK_TRACE_CONNECTED = 10,    /* handshake complete; text: product, version */
    REDLOCK_TRACE_DISCONNECTED = 11, /* commands without a reply get none */
    REDLOCK_TRACE_NODE_TROUBLE = 12, /* text: what went wrong, as in struct redlock_node_info */
    REDLOCK_TRACE_QUARANTINED = 13,  /* its votes do not count; text: why, and for how long */
    REDLOCK_TRACE_AHEAD = 14,        /* its clock went forward; us: by how much */
    REDLOCK_TRACE_SUSPENDED = 15,    /* its clock shows that we were suspended; us: for how long */
    REDLOCK_TRACE_PENDING = 16,      /* a release could not be sent to it; token */
    REDLOCK_TRACE_SUBSCRIBED = 17,   /* the subscriber connection is up */
    REDLOCK_TRACE_UNSUBSCRIBED = 18, /* the subscriber connection is down */

    /* A lock: lock, key and token. */
    REDLOCK_TRACE_ASKED = 20,   /* redlock_acquire(); ttl_ms; text: "fenced, renewed" */
    REDLOCK_TRACE_ADOPTED = 21, /* redlock_adopt(); ttl_ms */
    REDLOCK_TRACE_ROUND = 22,   /* a round begins, with a token of its own; round */
    REDLOCK_TRACE_SENT = 23,    /* question, to nodes; ttl_ms, fencing_token. A pending release that
                                   is sent when its master is back has node set, and lock -1 */
    REDLOCK_TRACE_VOTED = 24, /* node, question, reply; fencing_token: the master's counter. lock is
                                 -1 if nobody waits for this reply any more, also with REPLIED */
    REDLOCK_TRACE_REPLIED = 25,   /* node, question, reply */
    REDLOCK_TRACE_DECIDED = 26,   /* round; status: REDLOCK_OK for a majority, or why the round
                                     failed; us: until the next round, 0: this was the last one, or
                                     a master will wake us */
    REDLOCK_TRACE_HELD = 27,      /* the callback reports success; us left; fencing_token */
    REDLOCK_TRACE_FAILED = 28,    /* the callback reports a failure: status; round: how many */
    REDLOCK_TRACE_CANCELED = 29,  /* redlock_cancel() */
    REDLOCK_TRACE_EXTENDING = 30, /* redlock_extend(); ttl_ms */
    REDLOCK_TRACE_HEARTBEAT = 31, /* redlock_lock_heartbeat() */
    REDLOCK_TRACE_RENEWED = 32,   /* a majority confirmed a renewal or an extension; us left */
    REDLOCK_TRACE_TROUBLE = 33,   /* a renewal failed, or is not allowed: status; us left */
    REDLOCK_TRACE_LOST = 34,      /* the lock is lost: status */
    REDLOCK_TRACE_EXTENDED = 35,  /* the callback reports how the extension ended: status */
    REDLOCK_TRACE_RELEASING = 36, /* redlock_release(), or a close */
    REDLOCK_TRACE_RELEASED = 37,  /* how the release ended: status */
    REDLOCK_TRACE_DETACHED = 38,  /* redlock_lock_detach() */
    REDLOCK_TRACE_WAITING = 39,   /* the queue position is known or has changed: round;
                                     nodes: whose queues */
    REDLOCK_TRACE_WOKEN = 40,     /* node: the key is free, and we are granted next; lock is -1 if
                                     nobody waits for the key any more */
    REDLOCK_TRACE_NEXT = 41,      /* node: we are now the first in its queue */
    REDLOCK_TRACE_RESERVED = 42   /* node: the key was handed over to us, and is reserved */
};

/* What the library asks a master about a lock. */
enum redlock_question {
    REDLOCK_QUESTION_SET = 0,       /* set our key if the key is free */
    REDLOCK_QUESTION_SET_ALL = 1,   /* the same for several keys, all or none */
    REDLOCK_QUESTION_FENCED = 2,    /* the same, and raise the fencing-token counters */
    REDLOCK_QUESTION_ADOPT = 3,     /* extend keys that another handle acquired */
    REDLOCK_QUESTION_CONFIRM = 4,   /* raise the counters to our fencing token */
    REDLOCK_QUESTION_EXTEND = 5,    /* extend our keys to the TTL */
    REDLOCK_QUESTION_RESTORE = 6,   /* set our keys again */
    REDLOCK_QUESTION_RELEASE = 7,   /* delete our keys */
    REDLOCK_QUESTION_WAIT = 8,      /* put us into the wait queues of the keys */
    REDLOCK_QUESTION_LEAVE = 9,     /* take us out of those queues */
    REDLOCK_QUESTION_HOLDER = 10,   /* who holds the key: redlock_query() */
    REDLOCK_QUESTION_BREAK = 11,    /* put another token in the holder's place: redlock_break() */
    REDLOCK_QUESTION_HAND_OVER = 12 /* reserve our keys for somebody: redlock_hand_over() */
};

/* What the master says. */
enum redlock_trace_reply {
    REDLOCK_SAYS_NOTHING = 0,     /* an error or no reply: it may have done what was asked */
    REDLOCK_SAYS_YES = 1,         /* it did what was asked */
    REDLOCK_SAYS_NO = 2,          /* somebody else has the key */
    REDLOCK_SAYS_OURS = 3,        /* it had our token already: one server at two addresses */
    REDLOCK_SAYS_QUARANTINED = 4, /* yes, but its vote does not count: it is in quarantine */
    REDLOCK_SAYS_GONE = 5,        /* it does not have the key */
    REDLOCK_SAYS_TAKEN = 6,       /* somebody else has the key */
    REDLOCK_SAYS_QUEUED = 7,      /* we are in the queue: round is our position */
    REDLOCK_SAYS_TURN = 8,        /* the keys are free, and we are the first in the queue */
    REDLOCK_SAYS_FULL = 9         /* its wait queue is full */
};

/* An event. */
struct redlock_trace {
    /* sizeof(struct redlock_trace) of the library; see rule 10 in redlock/redlock.h. If you copy
     * the struct, set it to your sizeof. */
    size_t size;
    /* What happened. */
    enum redlock_trace_kind kind;
    /* When it happened, in microseconds of redlock_clock_us(). */
    uint64_t time_us;
    /* The X of "cX" in a line. The library sets it to 0. If lines of several managers or processes
     * go to one place, set it in your copy. */
    uint64_t client;
    /* The number of the lock; -1: no lock. A manager numbers its handles from 0, in the order in
     * which they are made. */
    int64_t lock;
    /* The master, as its index in options.nodes; -1: no master. And a set of masters: bit i is
     * master i. */
    int node;
    uint64_t nodes;
    /* The keys with their prefix, joined by '+', printable and perhaps cut; "" without a key. */
    const char *key;
    /* The first 8 hex digits of the token; "?" for a token that this library did not make, ""
     * without a token. */
    const char *token;
    /* More, in words; "" if there is nothing. These texts are borrowed: they live until the
     * callback returns. */
    const char *text;
    enum redlock_question question;
    enum redlock_trace_reply reply;
    /* A code of redlock/error.h. */
    int status;
    uint32_t round;
    uint32_t ttl_ms;
    /* A duration in microseconds. */
    uint64_t us;
    uint64_t fencing_token;
};

/* options.trace_cb: gets each event. `event` is borrowed: it lives until the callback returns. */
typedef void redlock_trace_cb(const struct redlock_trace *event, void *arg);

/* A buffer of this size is long enough for every line, including the NUL. */
#define REDLOCK_TRACE_LINE 1024

/* Write an event as a line of text: the time in seconds; who (cX: the client, cX.Y: its lock Y,
 * cX-nY: its connection to master Y); and what happened. The line is printable, has no newline, is
 * NUL terminated, and is cut to `size` bytes.
 *
 * event   not NULL; its texts may be NULL.
 * out     the buffer, of `size` bytes, at least 1.
 *
 * Returns the length of the line. From any thread, and inside the callback. Since 0.1. */
REDLOCK_EXPORT size_t redlock_trace_line(const struct redlock_trace *event, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
