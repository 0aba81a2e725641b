/* redlock/history.h - who has had a lock, from the audit streams of the masters. A history only
 * reads: it changes nothing on any master.
 *
 * The streams are written by clients with options.audit_entries. Every master is asked for its
 * entries about the key, the newest first, and they are put together: an event is what several
 * masters say of one token. */
#ifndef REDLOCK_HISTORY_H
#define REDLOCK_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;

/* What became of a lock. */
enum redlock_history_kind {
    REDLOCK_HISTORY_ACQUIRED = 1,
    /* Another client, or the same, took it over by its token. */
    REDLOCK_HISTORY_ADOPTED = 2,
    /* `by` has taken it away from its holder. */
    REDLOCK_HISTORY_BROKEN = 3,
    REDLOCK_HISTORY_RELEASED = 4,
    /* Its holder has released it so that only `to` could acquire it for a while:
     * redlock_hand_over(). Whether `to` did is an event of its own. */
    REDLOCK_HISTORY_HANDED_OVER = 5,
    /* It had ended before its holder released it. */
    REDLOCK_HISTORY_LOST = 6,
    /* A round that was not won has given back what some masters had granted. */
    REDLOCK_HISTORY_WITHDRAWN = 7,
    /* No master says so: the lock was acquired again, and nobody had ended it. Its time is that of
     * the next acquisition. */
    REDLOCK_HISTORY_EXPIRED = 8
};

/* Everything in it is borrowed: it lives until the callback returns. */
struct redlock_history_event {
    /* sizeof(struct redlock_history_event) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* What has happened. */
    enum redlock_history_kind kind;
    /* Since 1970, in milliseconds: the median of what the masters' clocks showed. */
    uint64_t time_ms;
    /* The first 8 hex digits of the token, as in a trace; "" for a token of another library. */
    const char *id;
    /* The owner text of the lock; who broke it, with the reason; and whom it was handed over to.
     * "" for none. As the masters have them: any bytes, cut to 255. */
    const char *owner;
    const char *by;
    const char *to;
    /* The fencing token; 0: the lock has none, or nobody wrote it. For an acquisition the largest
     * number of these masters: that of a release is the one that its holder had. */
    uint64_t fencing_token;
    /* The TTL of an acquisition or adoption in milliseconds; 0: not known. */
    uint32_t ttl_ms;
    /* Bits of the masters, in the order of options.nodes, that have an entry of it; and of those
     * that were read, go back as far, and have none. */
    uint64_t masters;
    uint64_t missing;
    /* 1: the round was not won: too few masters granted it, or it was withdrawn. Nobody held the
     * lock by this token. */
    int lost_round;
    /* Of an acquisition or adoption. 1: another event says how this lock ended. 0: it is still
     * held, or has expired since then, or no master could write how it ended. */
    int ended;
};

/* How the stream of one master was read. */
struct redlock_history_node {
    /* sizeof(struct redlock_history_node) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* 1: it was read, as far back as was wanted. */
    int read;
    /* Why it was not; "" when it was. */
    const char *error;
    /* 1: it has an audit stream; 0: not, or not known. */
    int has_stream;
    /* How many entries about the key it has sent. */
    uint64_t entries;
    /* Since when it knows, in milliseconds since 1970: the oldest entry that was looked at, about
     * whatever key. UINT64_MAX: none was. */
    uint64_t since_ms;
};

/* Everything in it is borrowed: it lives until the callback returns. */
struct redlock_history_result {
    /* sizeof(struct redlock_history_result) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* The oldest first. */
    const struct redlock_history_event *const *events;
    size_t n_events;
    /* One for each master, in the order of options.nodes. */
    const struct redlock_history_node *const *nodes;
    size_t n_nodes;
    /* How many masters were read. */
    size_t read;
    /* The events begin here, in milliseconds since 1970: some master has sent `limit` entries and
     * has older ones. 0: there are no older ones in any stream, or none were wanted. */
    uint64_t since_ms;
};

/* The end of a history; called once.
 *
 * REDLOCK_OK: a majority of the masters was read. So an acquisition that a majority granted is in
 * it, as long as the streams go back so far.
 * REDLOCK_ENOQUORUM: fewer masters were read: events may be missing.
 * REDLOCK_EDEADLINE: timeout_ms has passed. REDLOCK_ENOMEM: out of memory. Events may be missing.
 * REDLOCK_ECANCELED: the manager was closed. `history` is NULL; with the others there is one. */
typedef void redlock_history_cb(const struct redlock_history_result *history, int status,
                                void *arg);

/* What to read. Fill it with redlock_history_options_init(), and then set what differs. */
struct redlock_history_options {
    /* Set by redlock_history_options_init(). */
    size_t size;
    /* The key without the manager's key_prefix; not NULL. key_len: its length; 0: it is NUL
     * terminated. Only entries about this key are read. */
    const char *key;
    size_t key_len;
    /* How far back, in milliseconds since 1970; 0 (default): as far as the streams go. */
    uint64_t since_ms;
    /* The most entries about the key of each master: 1 to 10000, default 1000; each takes 600 bytes
     * of memory. */
    uint32_t limit;
    /* When it ends, finished or not: 1 to 86400000 ms, default 60000. A master looks at 20,000
     * entries in a second at most, so that its locks do not have to wait. */
    uint32_t timeout_ms;
    /* Called at the end, with `arg`; not NULL. */
    redlock_history_cb *history_cb;
    void *arg;
};

/* Like redlock_history_options_init(), for languages that cannot use a C header: writes at most
 * `size` bytes. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_history_options_init_sized(struct redlock_history_options *options,
                                                       size_t size);

/* Fill *options with the defaults. From any thread. Since 0.1. */
static inline void redlock_history_options_init(struct redlock_history_options *options)
{
    redlock_history_options_init_sized(options, sizeof(*options));
}

/* Read what became of a lock.
 *
 * Masters that are being connected get connect_timeout_ms for it. A master whose reply takes longer
 * than node_timeout_ms, or is an error, is not read further, as one that is down. It needs
 * permission for EVAL, EVALSHA and XREVRANGE (docs/acl.md); the manager needs no audit_entries.
 *
 * options   copied, with the key.
 *
 * Returns 0, or an error, and then nothing was sent:
 *   - REDLOCK_EINVAL: redlock_error_text() says why;
 *   - REDLOCK_ESTATE: the manager is closing;
 *   - REDLOCK_ELIMIT: 65536 queries, examinations, lists and histories are pending;
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK; REDLOCK_ESYSTEM.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_history(struct redlock *rl,
                                   const struct redlock_history_options *options);

#ifdef __cplusplus
}
#endif

#endif
