#include "node/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reply.h"
#include "net/reply.h"

void rlk_info_init(struct rlk_info *info)
{
    *info = (struct rlk_info){.uptime_s = -1};
}

/* Where the value of a line "name:value" begins; NULL when there is no such line. */
static const char *find(const char *text, const char *name)
{
    const char *line = text;
    size_t len = strlen(name);

    while (line) {
        if (strncmp(line, name, len) == 0 && line[len] == ':') {
            return line + len + 1;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return NULL;
}

void rlk_info_text(const char *text, const char *name, char *out, size_t size)
{
    const char *value = find(text, name);
    size_t len;

    if (value) {
        len = strcspn(value, "\r\n");
        snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), value);
        rlk_reply_make_printable(out);
    }
}

bool rlk_info_number(const char *text, const char *name, long long *ret)
{
    const char *value = find(text, name);

    if (value) {
        *ret = strtoll(value, NULL, 10);
    }
    return value != NULL;
}

static void read_memory(struct rlk_info *info, const char *text)
{
    long long n;

    if (rlk_info_number(text, "maxmemory", &n)) {
        info->maxmemory = n > 0 ? (uint64_t)n : 0;
    }
    rlk_info_text(text, "maxmemory_policy", info->policy, sizeof(info->policy));
}

static void read_persistence(struct rlk_info *info, const char *text)
{
    char status[8] = "";
    long long n;

    if (rlk_info_number(text, "loading", &n)) {
        info->loading = n != 0;
    }
    if (rlk_info_number(text, "aof_enabled", &n)) {
        info->aof = n != 0;
    }
    rlk_info_text(text, "aof_last_write_status", status, sizeof(status));
    if (status[0]) {
        info->aof_fails = strcmp(status, "ok") != 0;
    }
}

/* A master that was a replica has taken a replication id of its own when that ended. */
static uint64_t read_promotion(const char *text)
{
    char id[17] = "";

    rlk_info_text(text, "master_replid", id, sizeof(id));
    return strtoull(id, NULL, 16) | 1;
}

static void read_replication(struct rlk_info *info, const char *text)
{
    long long n;

    rlk_info_text(text, "role", info->role, sizeof(info->role));
    if (rlk_info_number(text, "connected_slaves", &n)) {
        info->replicas = (unsigned)n;
    }
    if (rlk_info_number(text, "second_repl_offset", &n)) {
        info->promotion = n >= 0 ? read_promotion(text) : 0;
    }
}

/* Commands that leave the run what it is, and its data not. Of statistics that were too long to be
 * kept nothing is known. */
static void read_commands(struct rlk_info *info, const char *text, size_t len)
{
    static const char *const names[] = {"cmdstat_flushall", "cmdstat_flushdb", "cmdstat_swapdb",
                                        "cmdstat_replicaof", "cmdstat_slaveof"};
    unsigned i;

    if (strstr(text, "cmdstat_") == NULL) {
        return;
    }
    info->flushed = len + 1 >= RLK_REPLY_TEXT;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        info->flushed = info->flushed || find(text, names[i]) != NULL;
    }
}

void rlk_info_read(struct rlk_info *info, const struct rlk_reply *reply)
{
    long long n;

    if (reply->type != RLK_REPLY_STRING) {
        return;
    }
    rlk_info_text(reply->str, "redis_version", info->version, sizeof(info->version));
    rlk_info_text(reply->str, "redis_mode", info->mode, sizeof(info->mode));
    rlk_info_text(reply->str, "run_id", info->run_id, sizeof(info->run_id));
    if (rlk_info_number(reply->str, "uptime_in_seconds", &n)) {
        info->uptime_s = n;
    }
    read_memory(info, reply->str);
    read_persistence(info, reply->str);
    read_replication(info, reply->str);
    read_commands(info, reply->str, reply->len);
}

void rlk_info_read_fsync(struct rlk_info *info, const struct rlk_reply *reply)
{
    int64_t i;

    for (i = 1; reply->type == RLK_REPLY_ARRAY && i + 1 <= reply->integer; i += 2) {
        if (strcmp(reply[i].str, "appendfsync") == 0) {
            snprintf(info->fsync, sizeof(info->fsync), "%.15s", reply[i + 1].str);
        } else if (strcmp(reply[i].str, "no-appendfsync-on-rewrite") == 0) {
            info->fsync_pauses = strcmp(reply[i + 1].str, "no") != 0;
        }
    }
}

bool rlk_info_is_durable(const struct rlk_info *info)
{
    return info->aof && !info->aof_fails && !info->fsync_pauses &&
           strcmp(info->fsync, "always") == 0;
}

bool rlk_info_evicts(const struct rlk_info *info)
{
    return info->maxmemory > 0 && info->policy[0] && strcmp(info->policy, "noeviction") != 0;
}

enum rlk_trouble_kind rlk_info_unfit(const char *role, const char *mode)
{
    if (strcmp(role, "replica") == 0 || strcmp(role, "slave") == 0) {
        return RLK_TROUBLE_REPLICA;
    }
    if (strcmp(mode, "cluster") == 0) {
        return RLK_TROUBLE_CLUSTER;
    }
    if (strcmp(mode, "sentinel") == 0) {
        return RLK_TROUBLE_SENTINEL;
    }
    if (role[0] && strcmp(role, "master") != 0) {
        return RLK_TROUBLE_NO_MASTER;
    }
    return RLK_TROUBLE_NONE;
}
