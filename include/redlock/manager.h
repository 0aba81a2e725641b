/* redlock/manager.h - the manager: N masters on one event loop.
 *
 * A manager keeps one connection to each master, and reconnects by itself. It never waits for a
 * minority of masters that are slow, stopped or gone. Make one manager and keep it: connecting is
 * the expensive part.
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

/* The most masters of one manager. */
#define REDLOCK_MAX_NODES 63

/* Quarantine: when the votes of a master do not count, because it may have lost locks.
 *
 * A master that restarted without its data can grant the same lock again. If the holder has only a
 * bare majority, one such master is enough for two holders. So the votes of a restarted master do
 * not count for max_ttl_ms (plus the drift). The library still sends it every request, so that it
 * records new locks. A lock that is already held is renewed and restored on it as on any other
 * master. */
enum redlock_quarantine {
    /* The default. The votes of a master do not count:
     *   - for max_ttl_ms after it restarted;
     *   - for max_ttl_ms after its data were deleted or replaced: FLUSHALL, another server in its
     *     place, or it was a replica for a while;
     *   - for max_ttl_ms after its clock was set forward;
     *   - while it does not show that it still has its data, because it is out of memory, or denies
     *     us what it allowed before;
     *   - for max_ttl_ms after it shows its data for the first time, if it could not show them when
     *     this manager first connected to it;
     *   - if this manager has never seen it before: until its data have been known to clients for
     *     max_ttl_ms. The library's key on the master records since when. The uptime does not
     *     count: the master may have run elsewhere, or empty. So masters that are all new to locks
     *     grant none for that time, which starts when the first client connects;
     *   - while it may evict keys: maxmemory is set, with another policy than noeviction. The
     *     library checks this from time to time;
     *   - with appendfsync always, until the first rewrite of its append-only file since that was
     *     switched on has ended: before, a restart would load an older log;
     *   - while it denies INFO, because a restart would go unnoticed. When you allow INFO, the next
     *     connection asks for it.
     *
     * This needs INFO, and EVAL with GET, SET and TIME:
     *   - If SET, TIME or the library's key (inspection_ms) is denied from the start, deleted data
     *     go unnoticed, and redlock_get_node_info() says so. If it is denied later, the master does
     *     not vote.
     *   - If INFO was allowed and is denied later, that counts as a restart.
     *   - CONFIG GET is needed to see appendfsync (see REDLOCK_QUARANTINE_OFF).
     *
     * Under every policy these have no vote:
     *   - a master that denies EVALSHA or EVAL, or GET, PTTL, PEXPIRE or DEL in scripts, because
     *     locks could be neither renewed nor released there;
     *   - a replica. The library asks for the role every inspection_ms, by INFO or HELLO. */
    REDLOCK_QUARANTINE_STRICT = 0,
    /* Quarantine only for what this manager saw happen. The votes of a master that it has never
     * seen before count at once. So do the votes of a master that denies INFO, even after it has
     * restarted without its data. */
    REDLOCK_QUARANTINE_LENIENT = 1,
    /* No quarantine. For operators who know that their masters keep their data over restarts and
     * keep the right time, or for locks where two holders do no harm.
     *
     * Masters with appendfsync always do not need this. If one of them shows after a restart that
     * it still has its data, no policy quarantines it. But never start it from a copy of its data
     * (a snapshot or a replica): nobody can tell the copy from the original. */
    REDLOCK_QUARANTINE_OFF = 2
};

struct redlock_node_info;

/* options.node_cb: a master has changed its state; its votes have stopped or started to count; or
 * the end of its quarantine has become known or unknown. In other words, `info` differs from
 * the last one in `state`, or in whether `quarantine_ms` is 0, UINT64_MAX or in between.
 *   - All masters start as REDLOCK_NODE_CONNECTING, without quarantine.
 *   - Called from the loop, never inside a library call, at most once per loop iteration for each
 *     master. It may call every function, redlock_close() included. After redlock_close() it is not
 *     called again.
 *   - A state that lasts only a few milliseconds may not be reported.
 *   - It can take a quarter of node_timeout_ms until the callback hears that a master is
 *     unresponsive, or that its votes count again.
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
    /* The masters, 1 to 63 URIs; required. All clients must use the same masters; a list from
     * before a change of the masters will do (redlock/change.h). An even number
     * works, but tolerates no more failures than the odd number below it.
     *
     *     redis://[user[:password]@]host[:port][/db]     host: name, IPv4, [IPv6] or
     *                                                    [IPv6%25interface]
     *     rediss://...[?cacert=FILE&cert=FILE&key=FILE&sni=NAME&verify=none]     the same over TLS
     *     unix:///path/to.sock[?db=n]
     *
     * In these:
     *   - The default port is 6379, the default database 0.
     *   - ?quarantine=strict, lenient or off at the end (&quarantine=... after other parameters)
     *     sets the policy for this master alone.
     *   - User, password, path and TLS parameters may contain %XX escapes. TLS parameters override
     *     the tls_ options below. */
    const char *const *nodes;
    size_t n_nodes;
    /* The login for masters whose URI has none. NULL: no authentication. A username needs a
     * password. No text of this library contains the password. A text may contain the username, if
     * a server repeats it (NOPERM User ann has no permissions ...). The library keeps its copy of
     * the password in memory that is excluded from core files, and wipes it afterwards. Your own
     * copy is your responsibility. */
    const char *username;
    const char *password;
    /* Added in front of every key. NULL or "": the key on the server is exactly the resource, so
     * other Redlock clients can compete for the same locks. All clients need the same prefix. */
    const char *key_prefix;
    /* The name that CLIENT LIST shows: 1 to 64 letters, digits, '-', '_', '.' or ':'.
     * NULL: "libredlock". */
    const char *client_name;
    /* The time-out of a reply: 1 to 60000, default 500. A master that takes longer has not voted,
     * and is left out of new rounds until it replies. A slow master is never disconnected for
     * this. */
    uint32_t node_timeout_ms;
    /* The time-out of a connection: 1 to 60000, default 2000. It includes the name lookup and the
     * handshake (TLS, login, and the first questions).
     *
     * A name may have several addresses (IPv4 and IPv6), all of the same server; they share this
     * time. The next address is tried after 250 ms, or at once when one refuses, beside those still
     * under way. The first that connects is used. The one that worked last is tried first. */
    uint32_t connect_timeout_ms;
    /* The longest TTL that a request may ask for, and the length of a quarantine: 10 to 86400000
     * (24 h), default 300000 (5 min). All clients of these masters must use the same number. */
    uint32_t max_ttl_ms;
    /* The clock drift to expect between this machine and a master, in parts per million of the TTL:
     * 0 to 500000, default 10000 (1 %). The library adds 2 ms. A lock is valid for TTL - drift,
     * counted from before the request was sent. The formula is that of antirez/redlock-rb
     * (ClockDriftFactor); see docs/algorithm.md S2. */
    uint32_t drift_ppm;
    /* When the votes of a master do not count; default REDLOCK_QUARANTINE_STRICT. All clients
     * should use the same policy. */
    enum redlock_quarantine quarantine;
    /* The time between two inspections of a connected master: 1 to 60000, default 1000. An
     * inspection asks whether the server is still a master and still has its data, and what its
     * clock shows. Each renewal includes one. While no lock of this manager can be valid on the
     * master, there is one in five times as long, but not less than one in 5000; then a request
     * begins with one. 0: only when the master is connected, and while its votes depend on it.
     *
     * Unless the policy is off, the library keeps a key for this on each master, key_prefix +
     * "redlock:incarnation". Do not delete that key. */
    uint32_t inspection_ms;
    /* A buffer of yours. When redlock_new() fails, it writes a sentence there that says why, NUL
     * terminated and cut to error_text_size bytes. NULL and 0: no sentence. redlock_new() does not
     * keep the pointer. */
    char *error_text;
    size_t error_text_size;
    /* When redlock_new() fails because of one master, it writes here the index of that master in
     * `nodes` (of two that are the same, the later). Otherwise it writes -1. NULL: not wanted. */
    int *error_node;
    /* Gets a trace of everything that happens; NULL (default): no callback. It may do less than
     * other callbacks: see redlock/trace.h. */
    redlock_trace_cb *trace_cb;
    void *trace_arg;
    /* Whether the masters wake waiting acquires: 1 (default) or 0.
     *
     * 1: while an acquire waits, the library keeps a second connection, the subscriber connection,
     * to each master that queues it. It is subscribed to "__redis__:invalidate" and to a channel of
     * its own, key_prefix + "redlock:wake:" and 16 hex digits. It is closed 10 s after the last
     * wait. A master that does not permit this is polled.
     *
     * 0: no subscriber connection; waiting acquires poll, with jitter. Since 0.1. */
    int subscribe;
    /* A file whose first line is the password for masters whose URI has none, instead of
     * `password`. NULL: no file. redlock_new() reads it, and the library reads it again whenever a
     * master has refused the password. So you can change passwords without a restart: write the new
     * one to the file, then change it on the masters. Held locks are unaffected: connections that
     * are logged in stay so, and a master that closes one is a minority, or back within seconds.
     *
     * It must be a regular file of up to 4096 bytes, on a local disk or in memory, because it is
     * read on the loop's thread. A program that gets its passwords elsewhere can write them to a
     * file like this (also one of memfd_create(), named "/proc/self/fd/N") when login_refused of
     * struct redlock_node_info is 1. Since 0.1. */
    const char *password_file;
    /* TLS for masters whose URI begins with rediss:// and does not say otherwise. Always TLS 1.2 or
     * newer. The files are in PEM form. redlock_new() reads them, and the library reads them again
     * before it connects if they have changed. If a new file cannot be used,
     * redlock_get_node_info() says so, and the old one stays in use. The first master with TLS
     * loads OpenSSL: the shared library opens the file of its version in the folder libredlock
     * beside it, so open a manager with TLS before the process changes its root folder: after that
     * the module of the new root would be loaded.
     *   - tls_cacert: the CAs that may sign a master's certificate. NULL: those of the system.
     *   - tls_cert, tls_key: the client certificate (with its chain) and its key, which has no
     *     passphrase. Give both or none. NULL: none.
     *   - tls_sni: the name to ask the server for, and to expect in the subjectAltName of its
     *     certificate, instead of the host of the URI; or an IP address. NULL: the host.
     *   - tls_verify: 1 (default), or 0: do not verify the certificate. Then anybody in between can
     *     pose as the master.
     *
     * Since 0.1. */
    const char *tls_cacert;
    const char *tls_cert;
    const char *tls_key;
    const char *tls_sni;
    int tls_verify;
    /* Called when a master has changed its state (redlock_node_cb), with node_arg; NULL (default):
     * no callback. Since 0.1. */
    redlock_node_cb *node_cb;
    void *node_arg;
    /* About how many entries the audit stream of each master keeps: 0 (default) to 10000000.
     * 0: nothing is written to it.
     *
     * The audit stream says who acquired, adopted, released, lost and broke which lock;
     * redlock_history() reads it. It is a stream (Redis 5.0 or newer) with the name key_prefix +
     * "redlock:audit" on each master. The script that changes the keys of a lock adds the entry in
     * the same step, so acquires and releases are scripts then, where they would be single commands
     * otherwise. Renewals add no entry. An entry has the owner text, the fencing token and the
     * first 8 of the 40 hex digits of the token, with which nobody can release the lock.
     *
     * A master that cannot add the entry (no permission for XADD, another type at that name, out of
     * memory) does everything else, and its vote counts; redlock_get_node_info() says so. Clients
     * with different numbers share the stream; each cuts it to its own number. Since 0.1. */
    uint32_t audit_entries;
    /* Whether the masters keep a record of which servers are masters: 1 (default) or 0.
     *
     * 1: the first client that reaches all its masters writes a key with the name key_prefix +
     * "redlock:masters" on each: the marks of their data, their addresses, and max_ttl_ms. A client
     * whose masters or max_ttl_ms differ gets REDLOCK_ECONFIG for each acquire, and
     * redlock_get_record() says what is on record. If a master loses its data, any client puts it
     * on record again, and it votes when all clients know that (after max_ttl_ms, the
     * drift, and 5 s). See docs/algorithm.md S15.
     *
     * 0: nothing is written or compared. Then you have to make sure that all clients of a lock have
     * the same masters and the same max_ttl_ms: otherwise two may hold it. Masters whose policy is
     * REDLOCK_QUARANTINE_OFF, and those that deny us INFO, EVAL or the key, have no record either.
     * One that has let us read the key, and denies it later, has no vote until it shows it again.
     * Since 0.1. */
    int record;
};

/* Like redlock_options_init(), for languages that cannot use a C header: writes at most `size`
 * bytes. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_options_init_sized(struct redlock_options *options, size_t size);

/* Fill *options with the defaults. From any thread. Since 0.1. */
static inline void redlock_options_init(struct redlock_options *options)
{
    redlock_options_init_sized(options, sizeof(*options));
}

/* Make a manager on an event loop.
 *
 * Starts to connect to every master, and returns without waiting. You can make requests at once:
 * they wait for the first connections. The manager connects to a master that is down as soon as it
 * is back.
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

/* The end of redlock_close(); called once. The manager is gone. */
typedef void redlock_close_cb(void *arg);

/* Close a manager.
 *
 * Pending acquires end with REDLOCK_ECANCELED, or with the failure that was decided just before.
 * Held locks are released; call redlock_lock_detach() before for those that must stay.
 *
 * The close waits for the replies to these releases, and to commands that may have set a key, but
 * not to queries and inspections:
 *   - for a master that goes on replying, as long as that takes;
 *   - for a master that does not reply, node_timeout_ms;
 *   - for a master that is being connected and has pending releases, 100 ms.
 *
 * A release that a master refuses for now (MISCONF, NOREPLICAS) is not sent again after that: the
 * key stays on this master until its TTL ends.
 *
 * Then the connections are closed and cb is called; the manager and all its lock handles are gone.
 * Until then the accessors still work, and calls that would start something return REDLOCK_ESTATE.
 *
 * A process that exits without redlock_close() may leave a key behind until its TTL ends, even a
 * key whose release has succeeded on a majority. If the process has not read all replies, the
 * kernel resets the connection, and the master drops the commands that it has not read yet.
 *
 * cb   called with arg; may be NULL.
 *
 * Returns 0, or an error:
 *   - REDLOCK_ESTATE: the manager is closing already, or belongs to a struct redlock_sync;
 *   - REDLOCK_EINVAL for NULL;
 *   - REDLOCK_EFORK in a forked child: nothing happens, the memory stays allocated, and exec or
 *     exit closes the descriptors.
 *
 * From: the loop's thread, callbacks included. The loop must go on running. Since 0.1. */
REDLOCK_EXPORT int redlock_close(struct redlock *rl, redlock_close_cb *cb, void *arg);

/* The state of the connection to one master. */
enum redlock_node_state {
    /* The connection broke, or the manager could not connect. It tries again by itself; meanwhile
     * the master is down. */
    REDLOCK_NODE_DOWN = 0,
    /* The first connection is being made, or its handshake is not complete. */
    REDLOCK_NODE_CONNECTING = 1,
    /* Connected, and the master replies in time. */
    REDLOCK_NODE_UP = 2,
    /* Connected, but a reply is overdue. The master is left out of new rounds until it replies. */
    REDLOCK_NODE_UNRESPONSIVE = 3
};

/* One master, as the manager sees it. */
struct redlock_node_info {
    /* sizeof(struct redlock_node_info), set by the caller. */
    size_t size;
    /* The URI without password, as "redis://host:6379/0"; it changes when another server takes the
     * place of the master (redlock/change.h). Lives as long as the manager. */
    const char *name;
    enum redlock_node_state state;
    /* For how many milliseconds it has not been REDLOCK_NODE_UP; 0 when it is up. */
    uint64_t down_ms;
    /* What is wrong with the master, or went wrong last: a sentence without its subject; "" for
     * nothing. Lives until the next loop iteration. */
    const char *error;
    /* Product and version, as "redis 7.0.15"; "" before the first connection. Lives until the next
     * loop iteration. */
    const char *server;
    /* For how many more milliseconds the votes of the master do not count (enum
     * redlock_quarantine). 0: they count. UINT64_MAX: they do not count until something changes.
     * `error` says why. */
    uint64_t quarantine_ms;
    /* The smoothed round trip time in microseconds; 0 before the first reply. */
    uint64_t rtt_us;
    /* 1: login missing or rejected, and no login has succeeded since. `error` says what to do.
     * Since 0.1. */
    int login_refused;
    /* The TLS of the last connection, as "TLSv1.3, verified" or "TLSv1.2, not verified" (tls_verify
     * is 0); "" without TLS, and before the first connection. Since 0.1. */
    const char *tls;
    /* How far its clock is ahead of the median of all masters, and the error bound of that number,
     * in microseconds, by the last inspections. The error bound is UINT64_MAX when the clock is not
     * known. Since 0.1. */
    int64_t clock_us;
    uint64_t clock_error_us;
    /* 1: the quarantine will end without anybody's help: after quarantine_ms or, if that is
     * UINT64_MAX, when the master has rewritten its append-only file. 0: there is no quarantine, or
     * something must change first. Since 0.1. */
    int quarantine_ends;
};

/* The number of masters; 0 for NULL. It is options.n_nodes until a change of the masters is
 * followed (redlock/change.h): a master that joins gets the index after the last one, and those
 * after a master that was removed move up by one. Up to six more than options.n_nodes can join; a
 * client that is started with the present list has room again. Indexes and counts in all results
 * are of the moment of the callback. From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT size_t redlock_node_count(const struct redlock *rl);

/* Describe master `index`, in the order of options.nodes.
 *
 * ret_info   set ret_info->size first; no more than that is written.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL, or an index or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_get_node_info(const struct redlock *rl, size_t index,
                                         struct redlock_node_info *ret_info);

/* What was wrong with the last call on this manager to redlock_acquire(), redlock_adopt(),
 * redlock_extend(), redlock_hand_over(), redlock_release_token(), redlock_hand_over_token(),
 * redlock_break(), redlock_query(), redlock_list(), redlock_history(),
 * redlock_examine(), redlock_delete_record(), redlock_companion_open(), redlock_election_new(),
 * redlock_election_campaign(), redlock_election_resign() or redlock_election_hand_over(): a
 * sentence. "" when the call returned 0, or when redlock_strerror() says everything. Never NULL; ""
 * for NULL. Lives until the next of these calls.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT const char *redlock_error_text(const struct redlock *rl);

/* A sentence for a status code of redlock/error.h: what happened, and what to do. Never NULL;
 * static. The part before the first ';', ':' or '(' is short, and says only what happened. From any
 * thread. Since 0.1. */
REDLOCK_EXPORT const char *redlock_strerror(int status);

/* The version of the running library, as "0.1.0". Static. From any thread. Since 0.1. */
REDLOCK_EXPORT const char *redlock_version(void);

#ifdef __cplusplus
}
#endif

#endif
