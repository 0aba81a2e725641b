/* info.c - finds the lines in the reply to INFO that matter. */
#include "node/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reply.h"
#include "core/server.h"
#include "net/reply.h"
#include "net/reply_text.h"

/* Where the value of a line "name:value" begins; NULL when there is no such line. */
static const char *find_info(const char *text, const char *name)
{
    const char *line = text;
    size_t len = strlen(name);

    while (line) {
        if (*line == *name && strncmp(line, name, len) == 0 && line[len] == ':') {
            return line + len + 1;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return NULL;
}

void rlk_info_text(const char *text, const char *name, char *out, size_t size)
{
    const char *value = find_info(text, name);
    size_t len;

    if (value) {
        len = strcspn(value, "\r\n");
        len = len < size ? len : size - 1;
        memcpy(out, value, len);
        out[len] = '\0';
        rlk_reply_make_printable(out);
    }
}

bool rlk_info_number(const char *text, const char *name, long long *ret)
{
    const char *value = find_info(text, name);

    if (value) {
        *ret = strtoll(value, NULL, 10);
    }
    return value != NULL;
}

static void read_memory(struct rlk_server *s, const char *text)
{
    long long n;

    if (rlk_info_number(text, "maxmemory", &n)) {
        s->maxmemory = n > 0 ? (uint64_t)n : 0;
    }
    rlk_info_text(text, "maxmemory_policy", s->policy, sizeof(s->policy));
}

static void read_persistence(struct rlk_server *s, const char *text)
{
    char status[8] = "";
    long long n, scheduled;

    if (rlk_info_number(text, "loading", &n)) {
        s->loading = n != 0;
    }
    if (rlk_info_number(text, "aof_enabled", &n)) {
        s->aof = n != 0;
    }
    if (rlk_info_number(text, "aof_rewrite_in_progress", &n) &&
        rlk_info_number(text, "aof_rewrite_scheduled", &scheduled)) {
        s->aof_rewrites = n != 0 || scheduled != 0;
    }
    rlk_info_text(text, "aof_last_write_status", status, sizeof(status));
    if (status[0]) {
        s->aof_fails = strcmp(status, "ok") != 0;
    }
}

/* When a replica is promoted it takes a new replication id: this identifies the promotion. */
static uint64_t read_promotion(const char *text)
{
    char id[17] = "";

    rlk_info_text(text, "master_replid", id, sizeof(id));
    return strtoull(id, NULL, 16) | 1;
}

static void read_replication(struct rlk_server *s, const char *text)
{
    long long n;

    rlk_info_text(text, "role", s->role, sizeof(s->role));
    if (rlk_info_number(text, "connected_slaves", &n)) {
        s->replicas = (unsigned)n;
    }
    if (rlk_info_number(text, "second_repl_offset", &n)) {
        s->promotion = n >= 0 ? read_promotion(text) : 0;
    }
}

/* Whether one of these commands was run under this run. Statistics that were cut prove nothing, so
 * they count as if one was. */
static bool has_run(const char *text, size_t len, const char *const *names)
{
    bool found = len + 1 >= RLK_REPLY_TEXT;

    for (; *names; names++) {
        found = found || find_info(text, *names) != NULL;
    }
    return found;
}

/* The first can throw the data away under the same run; the others change the configuration, or
 * hide that it was changed. Before Redis 7.0 one number counts all of CONFIG, our own CONFIG GET
 * included. */
static void read_commands(struct rlk_server *s, const char *text, size_t len)
{
    static const char *const deletes[] = {"cmdstat_flushall",  "cmdstat_flushdb", "cmdstat_swapdb",
                                          "cmdstat_replicaof", "cmdstat_slaveof", NULL},
                             *const configures[] = {"cmdstat_config|set",
                                                    "cmdstat_config|resetstat", "cmdstat_config",
                                                    NULL};

    if (strstr(text, "cmdstat_") != NULL) {
        s->flushed = has_run(text, len, deletes);
        s->config_set = has_run(text, len, configures);
    }
}

void rlk_info_read(struct rlk_server *s, const struct rlk_reply *reply)
{
    long long n;

    if (reply->type != RLK_REPLY_STRING) {
        return;
    }
    rlk_info_text(reply->str, "redis_version", s->version, sizeof(s->version));
    rlk_info_text(reply->str, "redis_mode", s->mode, sizeof(s->mode));
    rlk_info_text(reply->str, "run_id", s->run_id, sizeof(s->run_id));
    if (rlk_info_number(reply->str, "uptime_in_seconds", &n)) {
        s->uptime_s = n;
    }
    read_memory(s, reply->str);
    read_persistence(s, reply->str);
    read_replication(s, reply->str);
    read_commands(s, reply->str, reply->len);
}

void rlk_info_read_fsync(struct rlk_server *s, const struct rlk_reply *reply)
{
    int64_t i;

    for (i = 1; reply->type == RLK_REPLY_ARRAY && i + 1 <= reply->integer; i += 2) {
        if (strcmp(reply[i].str, "appendfsync") == 0) {
            snprintf(s->fsync, sizeof(s->fsync), "%.15s", reply[i + 1].str);
        } else if (strcmp(reply[i].str, "no-appendfsync-on-rewrite") == 0) {
            s->fsync_pauses = strcmp(reply[i + 1].str, "no") != 0;
        }
    }
}
