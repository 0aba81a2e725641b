/* server.h - what a server says of itself, and what we make of it [S10, S11].
 *
 * It comes from INFO, CONFIG GET and HELLO (node/info.h). Whether it is fit to vote at all, whether
 * it is one that we know by another address, whether a restart or a shortage of memory takes locks
 * from it, and how old its data are believed to be: those rules are here. Until when its votes do
 * not count is core/quarantine.h. */
#ifndef RLK_CORE_SERVER_H
#define RLK_CORE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/quarantine.h"

/* Why a server has no vote, whatever it has granted. */
enum rlk_unfit {
    RLK_UNFIT_NOT = 0,  /* it is an independent master, or does not say what it is */
    RLK_UNFIT_REPLICA,  /* it accepts SET NX when it is writable, and forgets what its master did */
    RLK_UNFIT_CLUSTER,  /* its slots may move */
    RLK_UNFIT_SENTINEL, /* it holds no keys */
    RLK_UNFIT_ROLE      /* it says that it is something else */
};

/* Texts are printable, and "" where it does not tell. */
struct rlk_server {
    char version[24], mode[16], role[16];
    char run_id[48];
    int64_t uptime_s;   /* by its wall clock; below 0: it does not tell, or its clock was set */
    uint64_t maxmemory; /* bytes; 0: no limit */
    char policy[24];    /* what is thrown away at the limit */
    bool loading;
    bool aof, aof_fails; /* it has a log of its writes; and cannot write it */
    char fsync[16];      /* when it is on the disk: "always", "everysec", "no" */
    bool fsync_pauses;   /* while the log is written anew */
    unsigned replicas;
    uint64_t promotion; /* it was somebody's replica: a number of when that ended; 0: it was none */
    bool flushed;       /* its data were deleted or replaced since it started, or may have been */
};

/* Nothing known yet. */
void rlk_server_init(struct rlk_server *s);

/* Who is that, by its role and mode. */
enum rlk_unfit rlk_server_unfit(const char *role, const char *mode);

/* [S10] Both have told the same run: they are one server, whatever its addresses. */
bool rlk_server_is_same(const struct rlk_server *a, const struct rlk_server *b);

/* [S10] SET ... NX GET works there: a server of this name and version tells the holder, and so our
 * own token, when it refuses. */
bool rlk_server_returns_holder(const char *name, const char *version);

/* What is acknowledged is on the disk, and comes back after a restart. */
bool rlk_server_is_durable(const struct rlk_server *s);

/* When memory is short it throws away keys, and locks are what it likes best. */
bool rlk_server_evicts(const struct rlk_server *s);

/* What the incarnation key of another run says of the data is true of this one. */
bool rlk_server_keeps_data(const struct rlk_server *s);

/* How old its data are believed to be when it has no incarnation key: that is written into the key,
 * for those who never saw it. `known`: we knew this run before. */
uint64_t rlk_server_believed_age_us(const struct rlk_server *s, bool known);

/* What a greeting has told, for rlk_quarantine_greet: it borrows the run. `birth` is what its
 * incarnation key says; unread: it could not be asked for that for the moment. */
struct rlk_facts rlk_server_facts(const struct rlk_server *s, const struct rlk_birth *birth,
                                  bool unread);

#endif
