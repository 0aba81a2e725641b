/* info.h - what a server says of itself in INFO, and whether it may be used for that. */
#ifndef RLK_NODE_INFO_H
#define RLK_NODE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/trouble.h"

struct rlk_reply;

struct rlk_info {
    char version[24], mode[16], role[16];
    char run_id[48];    /* "" where INFO is not allowed */
    int64_t uptime_s;   /* by its wall clock; below 0: it does not tell, or its clock was set */
    uint64_t maxmemory; /* bytes; 0: no limit */
    char policy[24];    /* what is thrown away at the limit */
    bool loading;
    bool aof, aof_fails; /* it has a log of its writes; and cannot write it */
    char fsync[16];      /* when it is on the disk: "always", "everysec", "no"; "" unknown */
    bool fsync_pauses;   /* while the log is written anew */
    unsigned replicas;
    uint64_t promotion; /* it was somebody's replica: a number of when that ended; 0: it was none */
    bool flushed; /* its data were thrown away or exchanged since it started, or may have been */
};

/* Nothing known yet. */
void rlk_info_init(struct rlk_info *info);

/* One section of INFO, in any order. An error leaves everything as it is. */
void rlk_info_read(struct rlk_info *info, const struct rlk_reply *reply);

/* The value of a line "name:value" of such a section, printable and cut to size; as a number. What
 * is not there leaves *out as it is. */
void rlk_info_text(const char *text, const char *name, char *out, size_t size);
bool rlk_info_number(const char *text, const char *name, long long *ret);

/* CONFIG GET *appendfsync*. */
void rlk_info_read_fsync(struct rlk_info *info, const struct rlk_reply *reply);

/* What is acknowledged is on the disk, and comes back after a restart. */
bool rlk_info_is_durable(const struct rlk_info *info);

/* When memory is short it throws away keys, and locks are what it likes best. */
bool rlk_info_evicts(const struct rlk_info *info);

/* Why a server of this role and mode can have no vote at all [S11]; RLK_TROUBLE_NONE when it can.
 */
enum rlk_trouble_kind rlk_info_unfit(const char *role, const char *mode);

#endif
