/* redlock/manager.h - the manager: N masters on one event loop.
 *
 * A manager keeps one connection to each master and reconnects by itself when a connection breaks.
 * It never waits for a minority of masters that are slow, stopped or gone. Make one manager and
 * keep it: connecting is the expensive part.
 *
 *     redlock_new --> (acquire, release, query, ...) --> redlock_close --> its callback
 */
#ifndef REDLOCK_MANAGER_H
#define REDLOCK_MANAGER_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;
struct redlock;

/* The largest number of masters of one manager. */
#define REDLOCK_MAX_NODES 63

/* Quarantine: whether the votes of a master count when it may have forgotten locks.
 *
 * A master that restarted without its data can grant the same lock a second time. Two such masters
 * can make one lock held twice. So the votes of such a master do not count for max_ttl_ms (plus the
 * drift). The library still sends it every request, so that new locks exist on it too. A lock that
 * is already held is renewed and healed on this master like on any other. */
enum redlock_quarantine {
    /* The default. The votes of a master do not count:
     *   - for max_ttl_ms after the master restarted;
     *   - for max_ttl_ms after its data were deleted or replaced (FLUSHALL; another server in its
     *     place; the master was a replica for a while);
     *   - for max_ttl_ms after its clock went forward;
     *   - while it cannot show that it still has its data, and for max_ttl_ms after that if it
     *     could never show it before (for example because it was out of memory when it was
     *     connected);
     *   - when this manager has never seen the master before: until max_ttl_ms have passed since
     *     some client first found it with these data, by its incarnation key. How long it has run
     *     does not matter, as it may have run elsewhere, or empty. So masters that are all new to
     *     locks have no majority for that time. It begins when the first client connects;
     *   - as long as it evicts keys (maxmemory is set, with another policy than noeviction). The
     *     library asks for this from time to time;
     *   - while it has appendfsync always, and a rewrite of its append-only file may be the first
     *     one since that was switched on: until it has ended, a restart would load an older log;
     *   - as long as it denies INFO: nobody would see that it restarted. After INFO was allowed,
     *     the next connection asks for it.
     *
     * This needs INFO, and EVAL with GET, SET and TIME. Where SET, TIME or the key of the library
     * (health_ms) is denied, it cannot see that data were deleted, and redlock_get_node_info() says
     * so. When INFO was allowed and is denied later, that counts as a restart. CONFIG GET is needed
     * to see appendfsync (see REDLOCK_QUARANTINE_OFF).
     *
     * Whatever the policy, a master has no vote that denies EVALSHA, EVAL, or in scripts GET, PTTL,
     * PEXPIRE or DEL: it would let us neither renew nor release a lock. Nor has a replica: the
     * library asks for the role every health_ms, by INFO or HELLO. */
    REDLOCK_QUARANTINE_STRICT = 0,
    /* Quarantine only for what this manager saw happen. The votes of a master that it has never
     * seen before count at once, and so do those of one that denies INFO: also after it restarted
     * without its data. */
    REDLOCK_QUARANTINE_OBSERVED = 1,
    /* No quarantine. For operators who know that their masters keep their data over restarts and
     * keep the right time, or for locks where two holders do no harm.
     *
     * You do not need this for masters with appendfsync always: after a restart, such a master is
     * not quarantined under any policy if it shows that it still has its data. But never start such
     * a master from a copy of its data (a snapshot or a replica): nobody can tell the copy from the
     * data. */
    REDLOCK_QUARANTINE_OFF = 2
};

struct redlock_node_info;

/* options.node_cb: a master has changed its state, or whether its votes count: `info` differs from
 * the last one in `state`, or in whether `quarantine_ms` is 0. All masters begin as
 * REDLOCK_NODE_CONNECTING, without quarantine. Called from the loop, never inside a library call,
 * at most once in a turn for each master; it may call every function, redlock_close() included, and
 * is not called after that. That the manager tries again to connect to a master that is down is not
 * reported. A state that ended within a few milliseconds may not be reported. That a master
 * is stuck, or that its votes count again, is noticed within a quarter of node_timeout_ms.
 *
 * index   the master, in the order of options.nodes.
 * info    as from redlock_get_node_info(); borrowed: it lives until the callback returns. */
typedef void redlock_node_cb(struct redlock *rl, size_t index, const struct redlock_node_info *info,
                             void *arg);

/* The options of a manager. Call redlock_options_init() first, then change what you need.
 * redlock_new() copies everything. */
struct redlock_options {
    /* sizeof(struct redlock_options), set by redlock_options_init(); see rule 10 in
     * redlock/redlock.h. */
    size_t size;
    /* The masters, 1 to 63 URIs; required. An even number is allowed, but tolerates no more
     * failures than the odd number below it. All clients must use the same masters.
     *     redis://[user[:password]@]host[:port][/db]     host: name, IPv4, [IPv6] or
     *                                                    [IPv6%25interface]
     *     rediss://...[?cacert=FILE&cert=FILE&key=FILE&sni=NAME&verify=none]     the same over TLS
     *     unix:///path/to.sock[?db=n]
     * ?quarantine=strict, observed or off at the end (&quarantine=... after db=n) sets the policy
     * of this master alone. User, password, path and the parameters of TLS may contain %XX escapes;
     * the latter go before those of the options below that begin with tls_. The default port is
     * 6379, the default database 0. */
    const char *const *nodes;
    size_t n_nodes;
    /* For masters whose URI has no user or password. NULL: no authentication. A username needs a
     * password. The password never appears in a text of this library; the username does when a
     * server repeats it (NOPERM User ann has no permissions ...). The library keeps passwords in
     * memory that core files leave out, and wipes that memory; what it was given is the caller's.
     */
    const char *username;
    const char *password;
    /* Added in front of every key. NULL or "": the key on the server is exactly the resource, so
     * that other Redlock clients compete for the same locks. All clients need the same prefix. */
    const char *key_prefix;
    /* The name that CLIENT LIST shows: 1 to 64 letters, digits, '-', '_', '.' or ':'.
     * NULL: "libredlock". */
    const char *client_name;
    /* The timeout of an answer: 1 to 60000, default 500. When a master takes longer, its vote is
     * unknown, and it is left out of new tries until it answers. A master that is only slow is
     * never disconnected for this. */
    uint32_t node_timeout_ms;
    /* The timeout of a connection: 1 to 60000, default 2000. It includes the lookup of the name and
     * the greeting: login and the first questions. A name may have several addresses (IPv4 and
     * IPv6), all of the same server. They share this time: every 250 ms the next one is tried
     * beside those that have not answered, at once when one refuses, and the first that is
     * connected is used. The one that worked last is tried first. */
    uint32_t connect_timeout_ms;
    /* The longest ttl that a request may ask for: 10 to 86400000 (24 h), default 300000 (5 min).
     * All clients of these masters must use the same number. */
    uint32_t max_ttl_ms;
    /* The clock drift to expect between this machine and a master, in parts per million of the ttl:
     * 0 to 500000, default 10000 (1 %). The library adds 2 ms. A lock is valid for ttl - drift,
     * counted from before the request was sent. The formula is that of antirez/redlock-rb
     * (ClockDriftFactor); see docs/algorithm.md S2. */
    uint32_t drift_ppm;
    /* When the votes of a master do not count; default REDLOCK_QUARANTINE_STRICT. All clients
     * should use the same policy. */
    enum redlock_quarantine quarantine;
    /* The time between two inspections of a connected master: 1 to 60000, default 1000. An
     * inspection asks whether the master is still a master, still has its data, and what its clock
     * shows. Each renewal comes with an inspection too. 0: only when the master is connected,
     * and as long as its votes wait for that. Unless the policy is off, the library keeps a key for
     * this on each master, key_prefix + "redlock:incarnation". Do not delete that key. */
    uint32_t health_ms;
    /* A buffer of the caller. When redlock_new() fails, it writes a sentence there that says why:
     * NUL terminated, cut to error_text_size bytes. NULL and 0: no sentence. redlock_new() does not
     * keep the pointer. */
    char *error_text;
    size_t error_text_size;
    /* When redlock_new() fails because of one master, it writes here which: its place in `nodes`,
     * the later one of two that are the same. Otherwise, and on success, -1. NULL: not wanted. */
    int *error_node;
    /* Gets everything that happens, as it happens; NULL (default): no callback. It may do less than
     * other callbacks: see redlock/trace.h. */
    redlock_trace_cb *trace_cb;
    void *trace_arg;
    /* Whether waiting acquires are woken by the masters: 1 (default) or 0. While one waits, the
     * library keeps a second connection to each master that it waits at, subscribed to
     * "__redis__:invalidate" and to a channel of its own, key_prefix + "redlock:wake:" and 16 hex
     * digits; it is closed 10 s after the last wait. A master that does not allow it is polled. 0:
     * no second connection; waiting acquires poll, with jitter. Since 0.1. */
    int watch;
    /* A file whose first line is the password for masters whose URI has none, instead of
     * `password`. It is read by redlock_new(), and once more before the next try whenever a master
     * has refused the password. So passwords are changed without a restart: write the new one to
     * the file, then change it on the masters. Locks that are held go on: connections that are
     * logged in stay so, and a master that ends ours anyway is a minority, or back within seconds.
     *
     * A regular file of up to 4096 bytes, on a local disk or in memory: it is read on the thread of
     * the loop. A program that asks something else for its passwords writes them to such a file
     * (also one of memfd_create(), whose name is "/proc/self/fd/N") when login_refused of struct
     * redlock_node_info says so. NULL: no file. Since 0.1. */
    const char *password_file;
    /* TLS for masters whose URI begins with rediss:// and does not say otherwise; others do not use
     * it. The files are in PEM form. They are read by redlock_new(), and again before a connection
     * is made when they have changed; a new file that cannot be used is reported by
     * redlock_get_node_info(), and the former one stays in use. Always TLS 1.2 or newer.
     *
     * tls_cacert: the CAs that may sign the certificate of a master. NULL: those of the system.
     * tls_cert, tls_key: our certificate (with its chain) and its key, which has no passphrase.
     * NULL: none. Give both or none.
     * tls_sni: the name that the certificate must have in its subjectAltName, in place of that in
     * the URI, and that the server is asked for; or an IP address. NULL: the host of the URI.
     * tls_verify: 1 (default), or 0: do not verify the certificate, so anybody who can get in
     * between can pose as the master. Since 0.1. */
    const char *tls_cacert;
    const char *tls_cert;
    const char *tls_key;
    const char *tls_sni;
    int tls_verify;
    /* Called when a master has changed its state, with node_arg; NULL (default): no callback.
     * Since 0.1. */
    redlock_node_cb *node_cb;
    void *node_arg;
};

/* Like redlock_options_init(), for languages that cannot use a C header: writes no more than `size`
 * bytes, which the caller has room for. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_options_init_sized(struct redlock_options *options, size_t size);

/* Fill *options with the defaults. */
static inline void redlock_options_init(struct redlock_options *options)
{
    redlock_options_init_sized(options, sizeof(*options));
}

/* Make a manager on an event loop.
 *
 * Starts to connect to every master and returns without waiting. The manager connects to a master
 * that is down as soon as it is back. Requests may be made at once: they wait for connections that
 * are being made for the first time.
 *
 * base     the loop; borrowed. It must outlive the manager, until the callback of redlock_close().
 * options  not NULL; copied.
 * ret_rl   the new manager, written on success only. End it with redlock_close().
 *
 * Returns 0; REDLOCK_EINVAL (no masters, too many masters, a number out of range, an option that
 * this library does not know yet); REDLOCK_EURI; REDLOCK_ENOMEM; REDLOCK_ESYSTEM.
 * options->error_text says more, unless the options were never initialised.
 * From: the loop's thread. Since 0.1. */
REDLOCK_EXPORT int redlock_new(struct event_base *base, const struct redlock_options *options,
                               struct redlock **ret_rl);

/* The end of a redlock_close(); called once. The manager is gone. */
typedef void redlock_close_cb(void *arg);

/* Close a manager.
 *
 * Pending acquires end with REDLOCK_ECANCELED, or with the failure that was decided just before.
 * Locks that are still held are released; to keep a lock, call redlock_lock_forget() before.
 *
 * The close waits for the answers to these releases, and to commands that may have set a key; not
 * for those of queries and inspections. It waits for a master as long as that master
 * goes on answering, and gives it up after node_timeout_ms without an answer. It waits 100 ms for a
 * master that is still being connected and has releases pending. Then the connections are closed
 * and cb is called; the manager and all its lock handles are gone. Until then the accessors work,
 * and calls that would begin something return REDLOCK_ESTATE.
 *
 * cb   called with arg; may be NULL.
 *
 * Returns 0; REDLOCK_ESTATE when the manager is closing already, or is that of a struct
 * redlock_sync; REDLOCK_EINVAL for NULL;
 * REDLOCK_EFORK in a forked child: then nothing happens, the memory stays allocated, and exec or
 * exit closes the descriptors.
 * From: the loop's thread, callbacks included. The loop must go on running. Since 0.1. */
REDLOCK_EXPORT int redlock_close(struct redlock *rl, redlock_close_cb *cb, void *arg);

/* The state of the connection to one master. */
enum redlock_node_state {
    /* Not connected. The manager tries to connect again by itself. */
    REDLOCK_NODE_DOWN = 0,
    /* The connection is being made, or the master has not answered the greeting yet. */
    REDLOCK_NODE_CONNECTING = 1,
    /* Connected, and the master answers. */
    REDLOCK_NODE_UP = 2,
    /* Connected, but an answer is overdue. The master is left out of new tries until it answers. */
    REDLOCK_NODE_STUCK = 3
};

/* One master, as the manager sees it. */
struct redlock_node_info {
    /* sizeof(struct redlock_node_info), set by the caller. */
    size_t size;
    /* The URI without password, as "redis://host:6379/0". Lives as long as the manager. */
    const char *name;
    enum redlock_node_state state;
    /* How long the state has been another one than REDLOCK_NODE_UP; 0 when up. */
    uint64_t down_ms;
    /* What is wrong with the master, or the last thing that went wrong: a sentence without its
     * subject; "" for nothing. Lives until the next turn of the loop. */
    const char *error;
    /* Product and version, as "redis 7.0.15"; "" before the master was connected once. Lives until
     * the next turn of the loop. */
    const char *server;
    /* How long the votes of the master will not count (enum redlock_quarantine). 0: they count;
     * UINT64_MAX: they do not count until something changes. `error` says why. */
    uint64_t quarantine_ms;
    /* The smoothed time from a request to its answer; 0 before the first answer. */
    uint64_t rtt_us;
    /* 1: the master has refused our user and password, or wants some, and has not let us in since.
     * `error` says what to do. Since 0.1. */
    int login_refused;
    /* The TLS of the last connection, as "TLSv1.3, verified" or "TLSv1.2, not verified" (tls_verify
     * is 0); "" without TLS, and before the first connection. Since 0.1. */
    const char *tls;
    /* How far its clock is ahead of the median of all masters, and the largest error of that
     * number, as the last inspections have shown; the error is UINT64_MAX when the clock is not
     * known. Since 0.1. */
    int64_t clock_us;
    uint64_t clock_error_us;
};

/* The number of masters that are configured. 0 for NULL. Since 0.1. */
REDLOCK_EXPORT size_t redlock_node_count(const struct redlock *rl);

/* Describe master `index`, in the order of options.nodes.
 *
 * ret_info   the caller sets ret_info->size; no more than that is written.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL, an index or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread. Since 0.1. */
REDLOCK_EXPORT int redlock_get_node_info(const struct redlock *rl, size_t index,
                                         struct redlock_node_info *ret_info);

/* What was wrong with the last call, in a sentence. The last call is that of redlock_acquire(),
 * redlock_adopt(), redlock_extend(), redlock_release_token(), redlock_query(), redlock_examine() or
 * redlock_election_new() that was made last on this manager. "" when that call returned 0, or when
 * redlock_strerror() says everything. Never NULL; "" for NULL. Lives until the next of these calls.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT const char *redlock_error_text(const struct redlock *rl);

/* A sentence for a status code of redlock/error.h: what happened, and what to do. Never NULL;
 * static. From any thread. Since 0.1. */
REDLOCK_EXPORT const char *redlock_strerror(int status);

/* The version of the running library, as "0.1.0". Static. From any thread. Since 0.1. */
REDLOCK_EXPORT const char *redlock_version(void);

#ifdef __cplusplus
}
#endif

#endif
