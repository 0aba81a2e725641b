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

/* A value ends with its line. NULL: the text has no such line, and nothing changes. */
static void take_text(const char *value, char *out, size_t size)
{
    size_t len = value ? strcspn(value, "\r\n") : 0;

    if (value) {
        len = len < size ? len : size - 1;
        memcpy(out, value, len);
        out[len] = '\0';
        rlk_reply_make_printable(out);
    }
}

static bool has_number(const char *value, long long *ret)
{
    if (value) {
        *ret = strtoll(value, NULL, 10);
    }
    return value != NULL;
}

void rlk_info_text(const char *text, const char *name, char *out, size_t size)
{
    take_text(find_info(text, name), out, size);
}

bool rlk_info_number(const char *text, const char *name, long long *ret)
{
    return has_number(find_info(text, name), ret);
}

/* ---- what we know of a server ---- */

enum field {
    VERSION = 0,
    MODE,
    RUN_ID,
    UPTIME,
    MAXMEMORY,
    POLICY,
    LOADING,
    AOF,
    AOF_REWRITES,
    AOF_REWRITE_SCHEDULED,
    AOF_STATUS,
    REPLAY_ERRORS,
    ROLE,
    REPLICAS,
    REPLICATION_ID,
    SECOND_OFFSET,
    FIELDS
};

/* The values of the lines in a text; NULL: there is no such line. */
struct values {
    const char *of[FIELDS];
};

static void find_field(const char *line, size_t len, struct values *v)
{
    static const struct {
        size_t len;
        const char *name;
    } names[FIELDS] = {
#define NAMED(text) {sizeof(text) - 1, text}
        [VERSION] = NAMED("redis_version"),
        [MODE] = NAMED("redis_mode"),
        [RUN_ID] = NAMED("run_id"),
        [UPTIME] = NAMED("uptime_in_seconds"),
        [MAXMEMORY] = NAMED("maxmemory"),
        [POLICY] = NAMED("maxmemory_policy"),
        [LOADING] = NAMED("loading"),
        [AOF] = NAMED("aof_enabled"),
        [AOF_REWRITES] = NAMED("aof_rewrite_in_progress"),
        [AOF_REWRITE_SCHEDULED] = NAMED("aof_rewrite_scheduled"),
        [AOF_STATUS] = NAMED("aof_last_write_status"),
        [REPLAY_ERRORS] = NAMED("unexpected_error_replies"),
        [ROLE] = NAMED("role"),
        [REPLICAS] = NAMED("connected_slaves"),
        [REPLICATION_ID] = NAMED("master_replid"),
        [SECOND_OFFSET] = NAMED("second_repl_offset"),
#undef NAMED
    };
    unsigned i;

    for (i = 0; i < FIELDS; i++) {
        if (names[i].len == len && memcmp(names[i].name, line, len) == 0) {
            v->of[i] = v->of[i] ? v->of[i] : line + len + 1;
            return;
        }
    }
}

/* Every inspection reads a text: go over it once, and not once for each field. */
static void find_values(const char *text, struct values *v)
{
    const char *line, *end;

    *v = (struct values){{NULL}};
    for (line = text; line; line = end ? end + 1 : NULL) {
        size_t len = strcspn(line, ":\n");

        if (line[len] == ':') {
            find_field(line, len, v);
        }
        end = strchr(line + len, '\n');
    }
}

static void read_memory(struct rlk_server *s, const struct values *v)
{
    long long n;

    if (has_number(v->of[MAXMEMORY], &n)) {
        s->maxmemory = n > 0 ? (uint64_t)n : 0;
    }
    take_text(v->of[POLICY], s->policy, sizeof(s->policy));
}

static void read_persistence(struct rlk_server *s, const struct values *v)
{
    char status[8] = "";
    long long n, scheduled;

    if (has_number(v->of[LOADING], &n)) {
        s->loading = n != 0;
    }
    if (has_number(v->of[AOF], &n)) {
        s->aof = n != 0;
    }
    if (has_number(v->of[AOF_REWRITES], &n) &&
        has_number(v->of[AOF_REWRITE_SCHEDULED], &scheduled)) {
        s->aof_rewrites = n != 0 || scheduled != 0;
    }
    if (has_number(v->of[REPLAY_ERRORS], &n)) {
        s->replay_errors = n;
    }
    take_text(v->of[AOF_STATUS], status, sizeof(status));
    if (status[0]) {
        s->aof_fails = strcmp(status, "ok") != 0;
    }
}

/* When a replica is promoted it takes a new replication id: this identifies the promotion. */
static uint64_t read_promotion(const struct values *v)
{
    char id[17] = "";

    take_text(v->of[REPLICATION_ID], id, sizeof(id));
    return strtoull(id, NULL, 16) | 1;
}

static void read_replication(struct rlk_server *s, const struct values *v)
{
    long long n;

    take_text(v->of[ROLE], s->role, sizeof(s->role));
    if (has_number(v->of[REPLICAS], &n)) {
        s->replicas = (unsigned)n;
    }
    if (has_number(v->of[SECOND_OFFSET], &n)) {
        s->promotion = n >= 0 ? read_promotion(v) : 0;
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
    struct values v;
    long long n;

    if (reply->type != RLK_REPLY_STRING) {
        return;
    }
    find_values(reply->str, &v);
    take_text(v.of[VERSION], s->version, sizeof(s->version));
    take_text(v.of[MODE], s->mode, sizeof(s->mode));
    take_text(v.of[RUN_ID], s->run_id, sizeof(s->run_id));
    if (has_number(v.of[UPTIME], &n)) {
        s->uptime_s = n;
    }
    read_memory(s, &v);
    read_persistence(s, &v);
    read_replication(s, &v);
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
