/* redlock/examine.h - whether the masters are fit for locks: the state of each master, what is
 * wrong with it, and how to fix that. `redlock doctor` prints this. An examination writes no key on
 * any master. */
#ifndef REDLOCK_EXAMINE_H
#define REDLOCK_EXAMINE_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/manager.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How bad a finding is. The verdict on a master is the severity of its worst finding. */
enum redlock_severity {
    /* Nothing to fix. A finding of this severity is only a remark. */
    REDLOCK_FINE = 0,
    /* Locks work on this master, but something should be fixed. */
    REDLOCK_WARNING = 1,
    /* The master replies, but its votes do not count: for some time, or until something changes. */
    REDLOCK_NO_VOTE = 2,
    /* No lock can be acquired on this master. */
    REDLOCK_UNUSABLE = 3
};

/* The permissions that the library needs on a master, as bits. Each is named after its command.
 * AUTH needs no permission, HELLO only on Redis 6.0. A denied SELECT is REDLOCK_FOUND_DATABASE. */
enum redlock_right {
    REDLOCK_RIGHT_SET = 1,
    REDLOCK_RIGHT_GET = 2,
    REDLOCK_RIGHT_DEL = 4,
    REDLOCK_RIGHT_PEXPIRE = 8,
    REDLOCK_RIGHT_PTTL = 16,
    REDLOCK_RIGHT_EVAL = 32,
    REDLOCK_RIGHT_EVALSHA = 64,
    REDLOCK_RIGHT_SCRIPT_LOAD = 128,
    REDLOCK_RIGHT_TIME = 256,
    REDLOCK_RIGHT_INFO = 512,
    REDLOCK_RIGHT_CLIENT_SETNAME = 1024,
    REDLOCK_RIGHT_CLIENT_KILL = 2048,
    REDLOCK_RIGHT_CONFIG_GET = 4096,
    REDLOCK_RIGHT_HELLO = 8192,
    /* Needed to wake waiters. Publishing and subscribing also need permission for our channels,
     * key_prefix + "redlock:wake:*". */
    REDLOCK_RIGHT_PUBLISH = 16384,
    /* Needed to tell waiters that a key has expired or was deleted. This bit includes CLIENT
     * CACHING, CLIENT ID and EXISTS. */
    REDLOCK_RIGHT_CLIENT_TRACKING = 32768,
    /* Needed for the wait queues. This bit includes ZCARD, ZRANGE, ZRANK, ZREM and ZSCORE. */
    REDLOCK_RIGHT_ZADD = 65536,
    REDLOCK_RIGHT_SUBSCRIBE = 131072,
    /* Permission for our channels. Since 0.1. */
    REDLOCK_RIGHT_WAKES = 262144,
    /* Permission for the channel __redis__:invalidate, for CLIENT TRACKING. Since 0.1. */
    REDLOCK_RIGHT_INVALIDATIONS = 524288,
    /* Makes renewals cheaper for a master. Since 0.1. */
    REDLOCK_RIGHT_MGET = 1048576,
    /* Needed for the audit stream, and tried only with options.audit_entries. Since 0.1. */
    REDLOCK_RIGHT_XADD = 2097152
};

/* The kinds of findings. The numbers are permanent. */
enum redlock_finding_kind {
    /* About one master. */
    REDLOCK_FOUND_DOWN = 1,          /* the master cannot be reached */
    REDLOCK_FOUND_UNRESPONSIVE = 2,  /* it is connected, but does not reply in time */
    REDLOCK_FOUND_LOGIN = 3,         /* it refused our login */
    REDLOCK_FOUND_DUPLICATE = 4,     /* it is the same server as another one in the list */
    REDLOCK_FOUND_ROLE = 5,          /* it is not an independent master */
    REDLOCK_FOUND_LOADING = 6,       /* it is loading its data from the disk */
    REDLOCK_FOUND_REFUSES = 7,       /* it refuses writes, and not because of its ACL */
    REDLOCK_FOUND_RIGHTS = 8,        /* it denies us commands, or does not know them */
    REDLOCK_FOUND_KEYS = 9,          /* it denies us keys */
    REDLOCK_FOUND_QUARANTINE = 10,   /* its votes do not count yet */
    REDLOCK_FOUND_EVICTION = 11,     /* it may evict locks */
    REDLOCK_FOUND_MEMORY = 12,       /* its memory is nearly full */
    REDLOCK_FOUND_DISK = 13,         /* it could not write its data to the disk */
    REDLOCK_FOUND_VOLATILE = 14,     /* a restart may lose locks, and there is no quarantine */
    REDLOCK_FOUND_REPLICAS = 15,     /* it has replicas */
    REDLOCK_FOUND_PROMOTED = 16,     /* it was a replica before */
    REDLOCK_FOUND_MIN_REPLICAS = 17, /* it refuses to write when it has too few replicas */
    REDLOCK_FOUND_PLAINTEXT = 18,    /* it is on another machine, and nothing is encrypted */
    REDLOCK_FOUND_PRODUCT = 19,      /* it is neither Redis nor Valkey */
    REDLOCK_FOUND_SLOW = 20,         /* its replies are nearly too late */
    REDLOCK_FOUND_DATABASE = 21,     /* the database of its URI does not exist, or is denied */
    REDLOCK_FOUND_TLS = 22,        /* TLS with it failed, or uses certificates that are replaced */
    REDLOCK_FOUND_UNVERIFIED = 23, /* its certificate is not verified */
    REDLOCK_FOUND_SUBSCRIBER = 24, /* the second connection, over which it wakes us, fails */
    REDLOCK_FOUND_SEVERAL = 25,    /* its name has several addresses, perhaps of several servers */
    REDLOCK_FOUND_UNRECORDED = 26, /* it denies us its record of the masters */
    REDLOCK_FOUND_REPLAY = 27,     /* it did not load all of its log when it started */
    /* About all masters. */
    REDLOCK_FOUND_NO_MAJORITY = 50,  /* too few masters are usable */
    REDLOCK_FOUND_NOT_YET = 51,      /* enough are usable, but too few of them vote yet */
    REDLOCK_FOUND_NO_SPARE = 52,     /* no other master may fail */
    REDLOCK_FOUND_FEW = 53,          /* one or two masters: none of them may ever fail */
    REDLOCK_FOUND_EVEN = 54,         /* the number of masters is even */
    REDLOCK_FOUND_CLOCKS = 55,       /* the masters' clocks differ */
    REDLOCK_FOUND_OWN_CLOCK = 56,    /* the clock of this machine differs from theirs */
    REDLOCK_FOUND_POLICIES = 57,     /* the masters do not all have the same quarantine policy */
    REDLOCK_FOUND_SAME_SERVERS = 58, /* a server is listed twice: no lock can be acquired */
    REDLOCK_FOUND_RECORD = 59 /* our masters are not those on record: no lock can be acquired; or
                               * the record is not on all masters */
};

/* What was found, and what to do about it. */
struct redlock_finding {
    /* sizeof(struct redlock_finding) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* The index of the master; -1 for a finding about all masters. */
    int node;
    enum redlock_severity severity;
    enum redlock_finding_kind kind;
    /* A short name of the kind, such as "eviction". It never changes. */
    const char *code;
    /* What was found, as a sentence. If it is about one master, its subject is left out ("may evict
     * ..."). */
    const char *text;
    /* How to fix it, as a sentence; "" when there is nothing to do. */
    const char *fix;
};

/* What is known about one master. An unknown text is ""; an unknown number is 0 unless its comment
 * says otherwise. Texts that come from the server contain printable characters only. */
struct redlock_examined {
    /* sizeof(struct redlock_examined) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* As in struct redlock_node_info. */
    const char *name;
    enum redlock_node_state state;
    const char *error;
    uint64_t quarantine_ms;
    enum redlock_severity verdict;
    /* The quarantine policy for this master. */
    enum redlock_quarantine policy;
    /* 1: the master has replied to every question about the fields below. */
    int answered;
    /* "redis", "valkey", "keydb", "dragonfly" ...; "7.0.15". */
    const char *product;
    const char *version;
    const char *run_id;
    /* "master"; "standalone". */
    const char *role;
    const char *mode;
    /* The user that we are logged in as. */
    const char *user;
    /* Seconds since it started, by its own clock; below 0: unknown. */
    int64_t uptime_s;
    int loading;
    /* Persistence. rdb, aof: 1 on, 0 off, -1 unknown. fsync: "always", "everysec" or "no".
     * disk_fails: 1 when the last write to the disk failed. */
    int rdb;
    int aof;
    const char *fsync;
    int disk_fails;
    /* Memory in bytes (maxmemory 0: no limit), the eviction policy at that limit
     * (maxmemory-policy), and the number of keys evicted so far. */
    uint64_t maxmemory;
    uint64_t used_memory;
    const char *eviction;
    uint64_t evicted_keys;
    /* The number of connected replicas; how many of them a write needs (min-replicas-to-write); 1
     * if this master itself was a replica before. */
    unsigned replicas;
    unsigned min_replicas;
    int promoted;
    /* Bits of enum redlock_right: what its ACL denies us, and the commands that the server does not
     * know. */
    unsigned denied;
    unsigned missing;
    /* 1: its ACL denies us keys that begin with key_prefix + "redlock:". */
    int keys_denied;
    /* Why it refuses writes: the server's error message. */
    const char *refusal;
    /* 1: its address is neither a unix socket nor a loopback address. */
    int remote;
    /* How often we asked the master for its time, one question after the other, and the round trip
     * times in microseconds. The time-out may have cut off the last question. */
    unsigned pings;
    uint64_t ping_min_us;
    uint64_t ping_median_us;
    uint64_t ping_max_us;
    /* How far its clock is ahead of the median of all masters, and the error bound of that number,
     * in microseconds. The error bound is UINT64_MAX when the clock is not known. */
    int64_t clock_us;
    uint64_t clock_error_us;
    /* The database in its URI, and 1 if its ACL denies us that whole database. */
    unsigned database;
    int database_denied;
    /* As in struct redlock_node_info. Since 0.1. */
    const char *tls;
    /* 1: its ACLs have no permissions for channels (Redis before 6.2). Since 0.1. */
    int no_channels;
    /* The command that sets up a least-privilege user for all features, ready to paste: "ACL
     * SETUSER ann on resetkeys ~app:* ...". It names the user that we are logged in as. For the
     * user "default", which should keep its permissions, it names a new user "redlock" with the
     * placeholder PASSWORD. "" when the master does not reply, or has no ACLs; or when it denies us
     * keys and no key_prefix is given, because one may be missing. Since 0.1. */
    const char *acl;
    /* Why the second connection, over which waiters are woken, could not be made and subscribed: a
     * sentence without its subject. "" if it could; if its permissions are denied (see `denied`);
     * or if it was not tried, because options.subscribe is 0 or the master did not reply. Since
     * 0.1. */
    const char *subscriber;
    /* The addresses of its name, if the last lookup returned several of one family (A or AAAA), as
     * "10.0.0.1, 10.0.0.2", cut after 159 bytes; otherwise "". Several addresses may be several
     * servers. Then clients may use different masters, and two of them can hold one lock. Since
     * 0.1. */
    const char *addresses;
    /* As in struct redlock_node_info. Since 0.1. */
    int quarantine_ends;
    /* 1: it denies us its record of the masters, the key key_prefix + "redlock:masters". Since 0.1.
     */
    int record_denied;
    /* How many commands of its append-only file failed when the master loaded the file at its
     * start. Below 0: unknown (Redis before 7.0). Since 0.1. */
    int64_t replay_errors;
    /* 1: its ACL denies us a key that could be the key of a lock: key_prefix and then a name that
     * does not begin with "redlock:". Since 0.1. */
    int lock_keys_denied;
};

/* The result of an examination. Everything in it is borrowed: it lives until the callback
 * returns. */
struct redlock_report {
    /* sizeof(struct redlock_report) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* One for each master, in the order of options.nodes. */
    const struct redlock_examined *const *nodes;
    size_t n_nodes;
    /* The findings: first about each master, in the order of the list, then about all masters. */
    const struct redlock_finding *const *findings;
    size_t n_findings;
    /* The severity of the worst finding. */
    enum redlock_severity verdict;
    /* `quorum`: how many votes a lock needs. `voting`: how many masters vote now. `usable`: how
     * many vote now, or will when their quarantine or loading ends. So `usable` minus `quorum` more
     * masters may fail. */
    size_t quorum;
    size_t voting;
    size_t usable;
    /* How far the wall clock of this machine is ahead of the median of the masters, and the error
     * bound of that number, in microseconds. The error bound is UINT64_MAX when no clock is
     * known. */
    int64_t clock_us;
    uint64_t clock_error_us;
};

/* The end of an examination; called once.
 *
 * REDLOCK_OK: a majority of the masters is usable.
 *
 * REDLOCK_ENOQUORUM: no majority is usable.
 *
 * REDLOCK_ECONFIG: a server is listed twice, or our masters or max_ttl_ms are not those on record.
 *
 * REDLOCK_ECANCELED: the manager was closed. `report` is NULL; with the other three there is a
 * report. */
typedef void redlock_examine_cb(const struct redlock_report *report, int status, void *arg);

/* Examine whether the masters are fit for locks.
 *
 * For each master, the library
 *   1. asks for its state and configuration;
 *   2. tries every command that it uses for locks, on a key that does not exist and in a way that
 *      changes nothing. Each command that the master refuses is a finding, and the master's ACL LOG
 *      may record it;
 *   3. asks for the time, twenty times;
 *   4. subscribes to the channels of waiters over a second connection, and closes it.
 *
 * Steps 1 to 3 together may take node_timeout_ms, step 4 connect_timeout_ms. A master that is being
 * connected has connect_timeout_ms before that. The examination does not wait for a master that is
 * down.
 *
 * cb, arg   called once, at the end; cb must not be NULL.
 *
 * Returns 0, or an error, and then nothing was sent:
 *   - REDLOCK_EINVAL for NULL;
 *   - REDLOCK_ESTATE: the manager is closing;
 *   - REDLOCK_ELIMIT: 65536 queries and examinations are pending;
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_examine(struct redlock *rl, redlock_examine_cb *cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
