/* server.h - what a server says about itself, and what we conclude from that [S10, S11].
 *
 * node/info.h and node/hello.h fill in struct rlk_server from INFO, CONFIG GET and HELLO. The rules
 * here tell from it whether the server may vote at all, whether it is a duplicate of another node,
 * whether it loses locks when it restarts or runs out of memory, and how old its data are. How long
 * its votes do not count is core/quarantine.h. */
#ifndef RLK_CORE_SERVER_H
#define RLK_CORE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/quarantine.h"

/* Why a server may not vote at all. */
enum rlk_unfit {
    RLK_UNFIT_NOT = 0,  /* it may: it is an independent master, or does not say what it is */
    RLK_UNFIT_REPLICA,  /* a writable one accepts SET NX, but its data follow its master's */
    RLK_UNFIT_CLUSTER,  /* the slot of a key may move to another node of the cluster */
    RLK_UNFIT_SENTINEL, /* it has no keys */
    RLK_UNFIT_ROLE      /* it tells a role that we do not know */
};

/* Texts are printable; "" when the server does not tell. */
struct rlk_server {
    char version[24], mode[16], role[16];
    char run_id[48];
    int64_t uptime_s;   /* by its wall clock; below 0: unknown, or its clock was set back */
    uint64_t maxmemory; /* in bytes; 0: no limit */
    char policy[24];    /* maxmemory-policy: which keys it evicts at the limit */
    bool loading;
    bool aof, aof_fails;   /* it has an append-only file; and its last write to that failed */
    char fsync[16];        /* appendfsync: "always", "everysec" or "no" */
    bool fsync_pauses;     /* it does not fsync while it rewrites the append-only file */
    bool aof_rewrites;     /* it rewrites the append-only file now, or is about to */
    bool config_set;       /* CONFIG SET was called, or may have been, since it started */
    int64_t replay_errors; /* commands of its log that failed when it loaded it; below 0: unknown */
    bool replays_as_us;    /* it replays its log as the user we are logged in as */
    unsigned replicas;
    uint64_t promotion; /* a number for the promotion that made it a master; 0: it was no replica */
    bool flushed;       /* its data were, or may have been, deleted or replaced since it started */
};

/* Nothing is known yet. */
void rlk_server_init(struct rlk_server *s);

/* Whether a server with this role and mode may vote; "" is unknown. */
enum rlk_unfit rlk_server_unfit(const char *role, const char *mode);

/* [S10] Whether both have told the same run: they are one server then, whatever their addresses. */
bool rlk_server_is_same(const struct rlk_server *a, const struct rlk_server *b);

/* [S10] Whether SET ... NX GET works with a server of this name and version: when it refuses, it
 * returns the value of the key, which may be our own token. */
bool rlk_server_returns_holder(const char *name, const char *version);

/* Whether the log that a restart loads may be an old one, with an old mark: the append-only file
 * may have been off until now, and the first rewrite has not ended. */
bool rlk_server_may_lack_log(const struct rlk_server *s);

/* Whether every write is on disk before its reply, and so survives a restart. */
bool rlk_server_is_durable(const struct rlk_server *s);

/* [S11] Whether it replayed all of its log when it started. Commands of the log run as the user
 * "default". If that user lacks a permission, EXEC fails, and so does each script that wrote more
 * than one key: a vote with a fencing token, for example. The mark and plain votes are single
 * commands, and are loaded. Servers since Redis 7.0 count the failures. */
bool rlk_server_replayed_log(const struct rlk_server *s);

/* Whether it evicts keys when it runs out of memory. A lock is always a candidate: it has a ttl. */
bool rlk_server_evicts(const struct rlk_server *s);

/* Whether an incarnation key that another run wrote still holds: the data survived the restart. */
bool rlk_server_keeps_data(const struct rlk_server *s);

/* What a handshake has found out, for rlk_quarantine_take_handshake(). The run is borrowed from
 * `s`. `birth`: what the incarnation key says; `unread`: it could not be read at the moment. */
struct rlk_facts rlk_server_facts(const struct rlk_server *s, const struct rlk_birth *birth,
                                  bool unread);

#endif
