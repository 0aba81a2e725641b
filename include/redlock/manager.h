/* redlock/manager.h - the manager: N masters on one event loop.
 *
 * A manager keeps one connection to each master, connects again by itself when one
 * breaks, and never waits for a minority that is slow, stopped or gone. Make it once
 * and keep it: connecting is the expensive part.
 *
 *     redlock_new --> (acquire, release, query, ...) --> redlock_close --> its callback
 */
#ifndef REDLOCK_MANAGER_H
#define REDLOCK_MANAGER_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;
struct redlock;

/* The most masters that one manager takes. */
#define REDLOCK_MAX_NODES 63

/* Whether a master that may have forgotten locks votes.
 *
 * A master that restarted without its data grants a second time what it granted before, and
 * two such make a lock held twice. So it does not vote for max_ttl_ms (with the drift): what it
 * grants is on record, and not counted. Locks that are held are renewed and healed on it as on
 * any other. */
enum redlock_quarantine {
    /* The default. A master does not vote for max_ttl_ms after a restart, after its data were
     * thrown away (FLUSHALL; a replica in its place; it was a replica for a while), and after its
     * clock went forward; while it cannot say whether it has its data, and for max_ttl_ms after, if
     * nobody could look before (it was out of memory when it was greeted); one that
     * this manager had never seen before, until it has run, and had its data, for that long by
     * its own account; one that evicts keys (maxmemory with another policy than noeviction), as
     * long as it says so, which is asked now and then. Masters that were all started just now have
     * no majority for that time. It needs INFO, CONFIG GET, and EVAL with GET, SET and TIME:
     * where one of them is not allowed that much is not seen, and redlock_node_info() says so; and
     * when INFO was allowed, and is not any more, that counts as a restart. Under any policy a
     * replica has no vote: the role is looked at each health_ms, by INFO or by HELLO. */
    REDLOCK_QUARANTINE_STRICT = 0,
    /* Only for what this manager saw happen: masters that it had never seen vote. */
    REDLOCK_QUARANTINE_OBSERVED = 1,
    /* Never: you know that the masters keep their data over restarts and their clocks in order, or
     * a lock held twice does no harm. A restart of a master with appendfsync always needs no
     * quarantine, and gets none, under any policy, when it shows that it has its data. It must not
     * come back from a copy of its data, a snapshot or a replica: nobody can tell these. */
    REDLOCK_QUARANTINE_OFF = 2
};

/* How to make a manager. Call redlock_options_init() first, then set what differs.
 * Everything is copied by redlock_new(). */
struct redlock_options {
    /* sizeof(struct redlock_options), set by redlock_options_init(); see rule 10 in
     * redlock/redlock.h. */
    size_t size;
    /* The masters, 1 to 63 URIs; required. An even number is allowed and tolerates no
     * more failures than one fewer. All clients must use the same set.
     *     redis://[user[:password]@]host[:port][/db]     host: name, IPv4 or [IPv6]
     *     unix:///path/to.sock[?db=n]
     * Behind either ?quarantine=strict, observed or off (after a db=n: &quarantine=...) is for
     * that master alone. User, password and path may contain %XX escapes. Default port 6379, db 0.
     */
    const char *const *nodes;
    size_t n_nodes;
    /* For masters whose URI names none. NULL: no authentication. A username needs a
     * password. Neither ever appears in a text of this library. */
    const char *username;
    const char *password;
    /* Put before every key; NULL or "": the key on the server is exactly the resource,
     * so that other Redlock clients contend with this one. All clients must agree. */
    const char *key_prefix;
    /* What CLIENT LIST shows; letters, digits, '-', '_', '.', ':' (at most 64).
     * NULL: "libredlock". */
    const char *client_name;
    /* How long a master may take to answer before it counts as unknown in a round and
     * is left out of new rounds until it answers. 1 to 60000, default 500. A master
     * that is merely slow is never disconnected for it. */
    uint32_t node_timeout_ms;
    /* How long connecting to an address, and introducing ourselves, may take: 1 to 60000,
     * default 2000. A name may have several addresses: each gets that time. */
    uint32_t connect_timeout_ms;
    /* The longest ttl that a request may ask for, 10 to 86400000 (24 h), default 300000
     * (5 min). One number for all clients of these masters. */
    uint32_t max_ttl_ms;
    /* Clock drift between this machine and a master, in parts per million of the ttl:
     * 0 to 500000, default 10000 (1 %). 2 ms are added to it. The lock is believed
     * valid for ttl - drift from before the request was sent. Formula:
     * antirez/redlock-rb, ClockDriftFactor; see docs/algorithm.md S2. */
    uint32_t drift_ppm;
    /* Which masters vote; default REDLOCK_QUARANTINE_STRICT. All clients should agree. */
    enum redlock_quarantine quarantine;
    /* How often a master that is connected is asked for its clock, whether it still has its data,
     * and whether it is a master: 1 to 60000, default 1000; 0: only when it is connected. Along
     * with renewals it is asked as well, unless this is 0. Under another policy than off it keeps a
     * key for that, key_prefix and "redlock:incarnation", which is not to be deleted. */
    uint32_t health_ms;
    /* Where redlock_new() puts a sentence that says what is wrong when it fails, NUL
     * terminated and cut to size; NULL and 0 to do without. Not kept. */
    char *error_text;
    size_t error_text_size;
};

/* The same as redlock_options_init(), for who cannot use a C header: `size` is what the caller has
 * room for, and no more is written. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_options_init_sized(struct redlock_options *options, size_t size);

/* Fill *options with the defaults. */
static inline void redlock_options_init(struct redlock_options *options)
{
    redlock_options_init_sized(options, sizeof(*options));
}

/* Make a manager on a loop.
 *
 * Begins to connect to every master at once and returns without waiting; a master that
 * is down is joined when it comes. Requests may be made at once: they wait for
 * connections that are being made for the first time.
 *
 * base     the loop; borrowed, must outlive the manager (until the callback of
 *          redlock_close).
 * options  not NULL; copied.
 * ret_rl   the new manager, written on success only. Ends with redlock_close().
 *
 * Returns 0; REDLOCK_EINVAL (no nodes, too many, a number out of range, an option that this library
 * does not know yet); REDLOCK_EURI; REDLOCK_ENOMEM; REDLOCK_ESYSTEM. options->error_text says more,
 * unless the options were never initialised.
 * From: the loop's thread. Since 0.1. */
REDLOCK_EXPORT int redlock_new(struct event_base *base, const struct redlock_options *options,
                               struct redlock **ret_rl);

/* Told when a close has ended. The manager is gone. */
typedef void redlock_close_cb(void *arg);

/* End a manager.
 *
 * Pending acquires end with REDLOCK_ECANCELED (or the failure that was decided just before). Locks
 * still held are released: use redlock_lock_forget() before for one that is to live on. Releases
 * are waited for: on each master as long as it answers (one that says nothing for node_timeout_ms,
 * or for 250 ms when a majority has answered everything, is left), and on one that is still being
 * connected for 100 ms. Then the connections are closed, cb is called, and the
 * manager, and every lock handle of it, is gone. Until then the accessors work; calls that begin
 * something return REDLOCK_ESTATE.
 *
 * cb   may be NULL. arg is handed to it.
 *
 * Returns 0; REDLOCK_ESTATE when it is closing already; REDLOCK_EINVAL for NULL;
 * REDLOCK_EFORK in a forked child: nothing happens, the memory stays, the descriptors are
 * closed by exec or exit.
 * From: the loop's thread, callbacks included. The loop must go on running. Since 0.1. */
REDLOCK_EXPORT int redlock_close(struct redlock *rl, redlock_close_cb *cb, void *arg);

/* What the manager knows of one master. */
enum redlock_node_state {
    /* Not connected; tries again by itself. */
    REDLOCK_NODE_DOWN = 0,
    /* Being connected or greeted. */
    REDLOCK_NODE_CONNECTING = 1,
    /* Connected, and answers. */
    REDLOCK_NODE_UP = 2,
    /* Connected, but an answer is overdue: left out of new rounds until it comes. */
    REDLOCK_NODE_STUCK = 3
};

struct redlock_node_info {
    /* sizeof(struct redlock_node_info), set by the caller. */
    size_t size;
    /* The URI without password, as "redis://host:6379/0". Lives as long as the manager. */
    const char *name;
    enum redlock_node_state state;
    /* How long it has been in a state other than REDLOCK_NODE_UP; 0 when up. */
    uint64_t down_ms;
    /* The last thing that went wrong with it, as a sentence, "" for nothing. Until the
     * next turn of the loop. */
    const char *error;
    /* Product and version from its greeting, as "redis 7.0.15", "" before that. Until
     * the next turn of the loop. */
    const char *server;
    /* How long its votes do not count yet (enum redlock_quarantine); 0: they count, UINT64_MAX: not
     * as long as nothing changes. `error` says why. */
    uint64_t quarantine_ms;
    /* Smoothed time from sending a request to its answer; 0 before the first. */
    uint64_t rtt_us;
};

/* How many masters are configured. 0 for NULL. Since 0.1. */
REDLOCK_EXPORT size_t redlock_node_count(const struct redlock *rl);

/* Describe master `index`, in the order of options.nodes.
 *
 * ret_info   size set by the caller; only that much is written.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL, an index or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread. Since 0.1. */
REDLOCK_EXPORT int redlock_node_info(const struct redlock *rl, size_t index,
                                     struct redlock_node_info *ret_info);

/* What was wrong with the last call, in a sentence: of redlock_acquire(), redlock_adopt(),
 * redlock_extend(), redlock_release_token(), redlock_query() and redlock_examine() on this manager,
 * whichever was called last. "" when it returned 0, or when redlock_strerror() says all. Never
 * NULL, "" for NULL; until the next of these calls.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT const char *redlock_error_text(const struct redlock *rl);

/* One sentence for a status code of redlock/error.h that says what to do next. Never NULL,
 * static, from any thread. Since 0.1. */
REDLOCK_EXPORT const char *redlock_strerror(int status);

/* The version of the running library, as "0.1.0". Static, from any thread. Since 0.1. */
REDLOCK_EXPORT const char *redlock_version(void);

#ifdef __cplusplus
}
#endif

#endif
