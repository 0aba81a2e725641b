/* redlock/examine.h - whether the masters are fit to keep locks: what each says of itself, what is
 * wrong with it, and how to fix that. Observes only: no key is written on any master. */
#ifndef REDLOCK_EXAMINE_H
#define REDLOCK_EXAMINE_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/manager.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How bad it is. A master's verdict is the worst of what was found out about it. */
enum redlock_severity {
    /* Nothing to be done; of a finding: a remark. */
    REDLOCK_FINE = 0,
    /* Locks work there, and something is not as it should be. */
    REDLOCK_WARNING = 1,
    /* It answers, and its votes do not count: for a time, or until something is changed. */
    REDLOCK_NO_VOTE = 2,
    /* No locks there. */
    REDLOCK_UNUSABLE = 3
};

/* What the library asks of a master, as bits. AUTH needs no right; HELLO needs one on Redis 6.0
 * only. A SELECT that is denied is REDLOCK_FOUND_DATABASE. */
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
    REDLOCK_RIGHT_HELLO = 8192
};

/* One thing that is worth knowing. The numbers are permanent. */
enum redlock_finding_kind {
    /* About one master. */
    REDLOCK_FOUND_DOWN = 1,          /* it cannot be reached */
    REDLOCK_FOUND_SILENT = 2,        /* connected, and does not answer */
    REDLOCK_FOUND_LOGIN = 3,         /* it does not let us in */
    REDLOCK_FOUND_DUPLICATE = 4,     /* it is the same server as another one */
    REDLOCK_FOUND_ROLE = 5,          /* it is no independent master */
    REDLOCK_FOUND_LOADING = 6,       /* it reads its data from the disk */
    REDLOCK_FOUND_REFUSES = 7,       /* it refuses to write for another reason than rights */
    REDLOCK_FOUND_RIGHTS = 8,        /* commands that it does not let us use */
    REDLOCK_FOUND_KEYS = 9,          /* keys that it does not let us use */
    REDLOCK_FOUND_QUARANTINE = 10,   /* its votes do not count yet */
    REDLOCK_FOUND_EVICTION = 11,     /* it may throw locks away */
    REDLOCK_FOUND_MEMORY = 12,       /* it is nearly full */
    REDLOCK_FOUND_DISK = 13,         /* it cannot write its data to the disk */
    REDLOCK_FOUND_FORGETS = 14,      /* it forgets locks, and no quarantine covers that */
    REDLOCK_FOUND_REPLICAS = 15,     /* it has replicas */
    REDLOCK_FOUND_PROMOTED = 16,     /* it was a replica */
    REDLOCK_FOUND_MIN_REPLICAS = 17, /* without replicas it refuses to write */
    REDLOCK_FOUND_PLAINTEXT = 18,    /* another machine, and nothing is encrypted */
    REDLOCK_FOUND_PRODUCT = 19,      /* neither Redis nor Valkey */
    REDLOCK_FOUND_SLOW = 20,         /* its answers come nearly too late */
    REDLOCK_FOUND_DATABASE = 21,     /* the database that its URI names is not there, or denied */
    /* About all of them. */
    REDLOCK_FOUND_NO_MAJORITY = 50, /* too few are usable */
    REDLOCK_FOUND_NOT_YET = 51,     /* enough are, and too few vote as yet */
    REDLOCK_FOUND_NO_SPARE = 52,    /* none more may fail */
    REDLOCK_FOUND_FEW = 53,         /* with one or two masters none may ever fail */
    REDLOCK_FOUND_EVEN = 54,        /* an even number */
    REDLOCK_FOUND_CLOCKS = 55,      /* the masters' clocks are apart */
    REDLOCK_FOUND_OWN_CLOCK = 56,   /* ours is, from theirs */
    REDLOCK_FOUND_POLICIES = 57,    /* some masters have another quarantine policy */
    REDLOCK_FOUND_SAME_SERVERS = 58 /* nothing is acquired as long as a server is listed twice */
};

struct redlock_finding {
    /* sizeof(struct redlock_finding) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* The master, as an index; -1 for all of them. */
    int node;
    enum redlock_severity severity;
    enum redlock_finding_kind kind;
    /* A permanent word for the kind, such as "eviction". */
    const char *code;
    /* What it is: a sentence, about one master without its subject ("may throw keys away ..."). */
    const char *text;
    /* How to fix it, a sentence; "" when there is nothing to do. */
    const char *fix;
};

/* What is known of one master. Texts are "" and numbers as said where nothing is known; texts of
 * the server have only printable characters. */
struct redlock_examined {
    /* sizeof(struct redlock_examined) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* As in struct redlock_node_info. */
    const char *name;
    enum redlock_node_state state;
    const char *error;
    uint64_t quarantine_ms;
    enum redlock_severity verdict;
    /* Its policy. */
    enum redlock_quarantine policy;
    /* It has answered all that is below. */
    int answered;
    /* "redis", "valkey", "keydb", "dragonfly" ...; "7.0.15". */
    const char *product;
    const char *version;
    const char *run_id;
    /* "master"; "standalone". */
    const char *role;
    const char *mode;
    /* Whom it takes us for. */
    const char *user;
    /* By its own clock; below 0: unknown. */
    int64_t uptime_s;
    int loading;
    /* Persistence: 1 yes, 0 no, -1 unknown; "always", "everysec", "no"; whether it fails. */
    int rdb;
    int aof;
    const char *fsync;
    int disk_fails;
    /* Bytes, 0 for no limit; and what it throws away at the limit, and how often it did. */
    uint64_t maxmemory;
    uint64_t used_memory;
    const char *eviction;
    uint64_t evicted_keys;
    /* Replicas that are connected, and how many it needs for a write; whether it was one. */
    unsigned replicas;
    unsigned min_replicas;
    int promoted;
    /* Bits of enum redlock_right: what its ACL denies us; what it does not know by this name. */
    unsigned denied;
    unsigned missing;
    /* Its ACL denies us keys that begin with key_prefix and "redlock:". */
    int keys_denied;
    /* Why it refuses to write, in its own words. */
    const char *refusal;
    /* Neither a unix socket nor a loopback address. */
    int remote;
    /* How many times it was asked for the time, one after the other, and how long that took. The
     * last one may not have been answered. */
    unsigned pings;
    uint64_t ping_min_us;
    uint64_t ping_median_us;
    uint64_t ping_max_us;
    /* How far its clock is ahead of the median of all, and how far that may be off; the latter is
     * UINT64_MAX when it is not known. */
    int64_t clock_us;
    uint64_t clock_error_us;
    /* The number of the database that its URI names, and whether its ACL denies us all of it. */
    unsigned database;
    int database_denied;
};

/* Everything is borrowed for the time of the callback. */
struct redlock_report {
    /* sizeof(struct redlock_report) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* One for each master, in the order of options.nodes. */
    const struct redlock_examined *const *nodes;
    size_t n_nodes;
    /* What was found, the masters in their order, then what concerns all of them. */
    const struct redlock_finding *const *findings;
    size_t n_findings;
    /* The worst of them. */
    enum redlock_severity verdict;
    /* How many masters make a majority; how many vote now; and how many do, or will when their
     * quarantine is over. usable - quorum more may fail. */
    size_t quorum;
    size_t voting;
    size_t usable;
    /* How far our wall clock is ahead of the median of theirs, and how far that may be off; the
     * latter is UINT64_MAX when it is not known. */
    int64_t clock_us;
    uint64_t clock_error_us;
};

/* Told once. status 0: a majority of the masters is usable. REDLOCK_ENOQUORUM: fewer are.
 * REDLOCK_ECONFIG: a server is listed twice. Each with a report. REDLOCK_ECANCELED: the manager was
 * closed; report NULL. */
typedef void redlock_examine_cb(const struct redlock_report *report, int status, void *arg);

/* Find out whether the masters are fit to keep locks.
 *
 * Each is asked what it is, and for everything that the library does with a lock, in ways that
 * change nothing and with a key that nobody has; then for the time, some twenty times. Whatever a
 * master refuses is a finding. (Its ACL LOG may note it.)
 *
 * cb, arg   told once; cb not NULL. A master has node_timeout_ms for all of it; one that is being
 *           connected has connect_timeout_ms before that. Nobody waits for one that is down.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ESTATE (closing); REDLOCK_ELIMIT (65536 queries and
 * examinations are pending); REDLOCK_ENOMEM; REDLOCK_EFORK. From: the loop's thread, callbacks
 * included. Since 0.1. */
REDLOCK_EXPORT int redlock_examine(struct redlock *rl, redlock_examine_cb *cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
