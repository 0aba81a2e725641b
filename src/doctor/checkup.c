/* checkup.c - the lines of the conversation, and a reader for each reply. */
#include "doctor/checkup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "core/classify.h"
#include "core/reply.h"
#include "net/reply_text.h"
#include "net/uri.h"
#include "node/info.h"
#include "node/login.h"
#include "node/node.h"
#include "node/options.h"
#include "node/talk.h"
#include "node/trace.h"
#include "scripts/scripts.h"

/* A master that refuses one of these cannot have locks, whatever the reason is. */
#define KEEPS_LOCKS                                                                                \
    (REDLOCK_RIGHT_SET | REDLOCK_RIGHT_GET | REDLOCK_RIGHT_DEL | REDLOCK_RIGHT_PEXPIRE |           \
     REDLOCK_RIGHT_PTTL | REDLOCK_RIGHT_EVAL | REDLOCK_RIGHT_EVALSHA)

/* ---- replies ---- */

/* Every product reports a redis_version; most also report their own. */
static void read_product(struct rlk_checkup *p, const char *text)
{
    static const char *const names[] = {"valkey", "dragonfly", "garnet", "redict", "kvrocks"};
    char line[24], program[64] = "", version[24];
    unsigned i;

    rlk_info_text(text, "redis_version", p->version, sizeof(p->version));
    rlk_info_text(text, "executable", program, sizeof(program));
    if (strstr(program, "keydb")) {
        snprintf(p->product, sizeof(p->product), "keydb");
    }
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(line, sizeof(line), "%s_version", names[i]);
        version[0] = '\0';
        rlk_info_text(text, line, version, sizeof(version));
        if (version[0]) {
            snprintf(p->product, sizeof(p->product), "%s", names[i]);
            snprintf(p->version, sizeof(p->version), "%s", version);
        }
    }
}

static void take_info(const struct rlk_heard *h)
{
    struct rlk_checkup *p = h->context;
    char status[8] = "";
    long long number;

    if (h->reply->type != RLK_REPLY_STRING) {
        return;
    }
    rlk_info_read(&p->info, h->reply);
    read_product(p, h->reply->str);
    if (rlk_info_number(h->reply->str, "used_memory", &number)) {
        p->used_memory = number > 0 ? (uint64_t)number : 0;
    }
    if (rlk_info_number(h->reply->str, "evicted_keys", &number)) {
        p->evicted_keys = number > 0 ? (uint64_t)number : 0;
    }
    rlk_info_text(h->reply->str, "rdb_last_bgsave_status", status, sizeof(status));
    if (status[0]) {
        p->rdb_fails = strcmp(status, "ok") != 0;
    }
}

/* The value in a reply to CONFIG GET; NULL in any other reply. */
static const char *config_value(const struct rlk_reply *reply)
{
    bool told = reply->type == RLK_REPLY_ARRAY && reply->integer == 2 &&
                reply[1].type == RLK_REPLY_STRING && reply[2].type == RLK_REPLY_STRING;

    return told ? reply[2].str : NULL;
}

static void take_fsync(const struct rlk_heard *h)
{
    struct rlk_checkup *p = h->context;

    rlk_info_read_fsync(&p->info, h->reply);
    rlk_reply_make_printable(p->info.fsync);
}

static void take_save(const struct rlk_heard *h)
{
    struct rlk_checkup *p = h->context;
    const char *value = config_value(h->reply);

    p->rdb = value ? value[0] != '\0' : -1;
}

static void take_min_replicas(const struct rlk_heard *h)
{
    struct rlk_checkup *p = h->context;
    const char *value = config_value(h->reply);

    p->min_replicas = value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

/* The setting is as old as the channels. If it has another name there, nothing is known. */
static void take_channels(const struct rlk_heard *h)
{
    struct rlk_checkup *p = h->context;

    p->no_channels = h->reply->type == RLK_REPLY_ARRAY && h->reply->integer == 0;
}

static void take_user(const struct rlk_heard *h)
{
    struct rlk_checkup *p = h->context;

    if (h->reply->type == RLK_REPLY_STRING || h->reply->type == RLK_REPLY_STATUS) {
        snprintf(p->user, sizeof(p->user), "%.63s", h->reply->str);
        rlk_reply_make_printable(p->user);
    }
}

/* A server below 6 has neither, and that is no fault: locks do not need them. */
#define MAY_BE_UNKNOWN ((unsigned)REDLOCK_RIGHT_HELLO | (unsigned)REDLOCK_RIGHT_CLIENT_TRACKING)

/* The text of a NOPERM about keys differs between versions, but always has the word "access"; that
 * about a database (Valkey 9.1) has "access database", that about a channel has "channel", too. */
enum object {
    OBJECT_COMMAND = 0,
    OBJECT_KEY,
    OBJECT_CHANNEL,
    OBJECT_DATABASE
};

static enum object object_of(const char *text)
{
    return strstr(text, "access") == NULL    ? OBJECT_COMMAND
           : strstr(text, "access database") ? OBJECT_DATABASE
           : strstr(text, "channel")         ? OBJECT_CHANNEL
                                             : OBJECT_KEY;
}

static bool is_denied_key(const struct rlk_reply *reply)
{
    return rlk_classify_is_error(reply, "NOPERM") && object_of(reply->str) == OBJECT_KEY;
}

static void take_denied(struct rlk_checkup *p, unsigned right, unsigned channel, const char *text)
{
    switch (object_of(text)) {
    case OBJECT_COMMAND:
        p->denied |= right;
        break;
    case OBJECT_KEY:
        p->keys_denied = true;
        break;
    case OBJECT_CHANNEL:
        p->denied |= channel;
        break;
    case OBJECT_DATABASE:
        p->database_denied = true;
        break;
    }
}

bool rlk_checkup_take_denial(struct rlk_checkup *p, unsigned right, unsigned channel,
                             const struct rlk_reply *reply)
{
    if (rlk_classify_is_error(reply, "NOPERM")) {
        take_denied(p, right, channel, reply->str);
    } else if (rlk_classify_unknown_command(reply)) {
        p->missing |= right & ~MAY_BE_UNKNOWN;
    } else {
        return false;
    }
    return true;
}

/* The only channel in the list of commands is that for wakes. */
static void take_refusal(struct rlk_checkup *p, unsigned right, const struct rlk_reply *reply)
{
    if (!rlk_checkup_take_denial(p, right, REDLOCK_RIGHT_WAKES, reply) && (right & KEEPS_LOCKS) &&
        p->refusal[0] == '\0' && !rlk_classify_no_script(reply)) {
        snprintf(p->refusal, sizeof(p->refusal), "%.159s", reply->str);
        rlk_reply_make_printable(p->refusal);
    }
}

/* ---- the conversation ---- */

/* Placeholders for words that differ from node to node. */
static const char the_key[] = "key", a_lock_key[] = "lock", our_name[] = "name",
                  our_channel[] = "channel";

static bool format_words(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_checkup *p = say->context;
    const char *words[10];
    unsigned i;

    for (i = 0; say->line->words[i]; i++) {
        const char *word = say->line->words[i];

        words[i] = word == the_key       ? p->key
                   : word == a_lock_key  ? p->lock_key
                   : word == our_name    ? say->node->options->client_name
                   : word == our_channel ? say->node->options->wake_channel
                                         : word;
    }
    words[i] = NULL;
    return rlk_command_words(c, words) == 0;
}

/* If we log in with a name, do not ask for it: we know it, and locks do not need the permission to
 * ask. A denied question would be in the server's ACL LOG. */
static bool has_no_name(const struct rlk_say *say)
{
    return rlk_login_user(say->node->options->login, say->node->uri) == NULL;
}

static bool audits(const struct rlk_say *say)
{
    return rlk_options_audit(say->node->options) != NULL;
}

/* The largest possible connection id, which no connection gets. Not 0: with that, Redis before 7.0
 * ends the connections of all clients. */
#define NO_CLIENT "9223372036854775807"

/* A line that tries a permission, and one that also reads the reply. */
#define TRY(right, ...)                                                                            \
    {                                                                                              \
        .words = RLK_WORDS(__VA_ARGS__), .format = format_words, .tag = (right)                    \
    }
#define READ(right, reader, ...)                                                                   \
    {                                                                                              \
        .words = RLK_WORDS(__VA_ARGS__), .tag = (right), .take = (reader)                          \
    }

/* Permissions are tried in ways that change nothing: a subscriber ignores an empty message, no
 * server accepts BCAST with OPTIN, and XADD with NOMKSTREAM makes no stream (before Redis 6.2,
 * NOMKSTREAM is an invalid id). */
const struct rlk_line rlk_checkup_lines[RLK_CHECKUP_LINES] = {
    READ(REDLOCK_RIGHT_INFO, take_info, "INFO", "server"),
    READ(REDLOCK_RIGHT_INFO, take_info, "INFO", "memory"),
    READ(REDLOCK_RIGHT_INFO, take_info, "INFO", "persistence"),
    READ(REDLOCK_RIGHT_INFO, take_info, "INFO", "replication"),
    READ(REDLOCK_RIGHT_INFO, take_info, "INFO", "stats"),
    READ(REDLOCK_RIGHT_CONFIG_GET, take_fsync, "CONFIG", "GET", "appendfsync"),
    READ(REDLOCK_RIGHT_CONFIG_GET, take_save, "CONFIG", "GET", "save"),
    READ(REDLOCK_RIGHT_CONFIG_GET, take_min_replicas, "CONFIG", "GET", "min-replicas-to-write"),
    READ(REDLOCK_RIGHT_CONFIG_GET, take_channels, "CONFIG", "GET", "acl-pubsub-default"),
    TRY(REDLOCK_RIGHT_SET, "SET", the_key, "0", "XX", "PX", "10"),
    TRY(REDLOCK_RIGHT_SET, "SET", a_lock_key, "0", "XX", "PX", "10"),
    TRY(REDLOCK_RIGHT_GET, "GET", the_key),
    TRY(REDLOCK_RIGHT_DEL, "DEL", the_key),
    TRY(REDLOCK_RIGHT_PEXPIRE, "PEXPIRE", the_key, "10"),
    TRY(REDLOCK_RIGHT_PTTL, "PTTL", the_key),
    TRY(REDLOCK_RIGHT_MGET, "MGET", the_key),
    TRY(REDLOCK_RIGHT_EVAL, "EVAL", rlk_script_upkeep.text, "1", the_key),
    TRY(REDLOCK_RIGHT_EVALSHA, "EVALSHA", RLK_SCRIPT_NO_SHA, "1", the_key, "0"),
    TRY(REDLOCK_RIGHT_SCRIPT_LOAD, "SCRIPT", "LOAD", rlk_script_release.text),
    TRY(REDLOCK_RIGHT_CLIENT_SETNAME, "CLIENT", "SETNAME", our_name),
    TRY(REDLOCK_RIGHT_CLIENT_KILL, "CLIENT", "KILL", "ID", NO_CLIENT),
    TRY(REDLOCK_RIGHT_HELLO, "HELLO", "2"),
    TRY(REDLOCK_RIGHT_PUBLISH, "PUBLISH", our_channel, ""),
    TRY(REDLOCK_RIGHT_CLIENT_TRACKING, "CLIENT", "TRACKING", "ON", "BCAST", "OPTIN"),
    TRY(REDLOCK_RIGHT_CLIENT_TRACKING, "CLIENT", "CACHING", "YES"),
    TRY(REDLOCK_RIGHT_CLIENT_TRACKING, "CLIENT", "ID"),
    TRY(REDLOCK_RIGHT_CLIENT_TRACKING, "EXISTS", the_key),
    TRY(REDLOCK_RIGHT_ZADD, "ZADD", the_key, "XX", "0", "0"),
    TRY(REDLOCK_RIGHT_ZADD, "ZCARD", the_key),
    TRY(REDLOCK_RIGHT_ZADD, "ZRANGE", the_key, "0", "0"),
    TRY(REDLOCK_RIGHT_ZADD, "ZRANK", the_key, "0"),
    TRY(REDLOCK_RIGHT_ZADD, "ZREM", the_key, "0"),
    TRY(REDLOCK_RIGHT_ZADD, "ZSCORE", the_key, "0"),
    {.words = RLK_WORDS("XADD", the_key, "NOMKSTREAM", "*", "0", "0"),
     .format = format_words,
     .when = audits,
     .tag = REDLOCK_RIGHT_XADD},
    {.words = RLK_WORDS("ACL", "WHOAMI"), .when = has_no_name, .take = take_user},
};

/* A line that tries the key of a lock. Another line tries the command itself. */
static bool tries_lock_key(const struct rlk_line *line)
{
    return line->words[1] == a_lock_key;
}

void rlk_checkup_refused(const struct rlk_heard *h)
{
    const struct rlk_line *line = &rlk_checkup_lines[h->exchange->line];
    struct rlk_checkup *p = h->context;

    if (tries_lock_key(line)) {
        p->lock_keys_denied = is_denied_key(h->reply);
    } else {
        take_refusal(p, line->tag, h->reply);
    }
}

/* ---- the time ---- */

static void keep_ping(struct rlk_checkup *p, uint64_t took_us)
{
    unsigned i = p->pings++;

    for (; i > 0 && p->ping_us[i - 1] > took_us; i--) {
        p->ping_us[i] = p->ping_us[i - 1];
    }
    p->ping_us[i] = took_us;
}

static bool is_time(const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ARRAY && reply->integer == 2 &&
           reply[1].type == RLK_REPLY_STRING && reply[2].type == RLK_REPLY_STRING;
}

static uint64_t time_us(const struct rlk_reply *reply)
{
    uint64_t s = strtoull(reply[1].str, NULL, 10), us = strtoull(reply[2].str, NULL, 10);

    return s > RLK_NEVER / 2000000 ? RLK_NEVER / 2 : rlk_time_add(s * 1000000, us);
}

/* The shorter the round trip, the better we know when the server read its clock. */
void rlk_checkup_take_time(struct rlk_checkup *p, const struct rlk_reply *reply, uint64_t sent_us,
                           uint64_t now_us)
{
    uint64_t took_us = rlk_time_sub(now_us, sent_us);

    if (p->pings == RLK_CHECKUP_PINGS) {
        return;
    }
    keep_ping(p, took_us);
    if (reply->type == RLK_REPLY_ERROR) {
        rlk_checkup_take_denial(p, REDLOCK_RIGHT_TIME, 0, reply);
    } else if (is_time(reply) && p->ping_us[0] == took_us) {
        p->time = (struct rlk_clock_sample){
            .sent_us = sent_us, .received_us = now_us, .server_us = time_us(reply)};
    }
}

void rlk_checkup_end(struct rlk_checkup *p, uint64_t sent_us, uint64_t now_us)
{
    uint64_t took_us = rlk_time_sub(now_us, sent_us);

    if (p->answered && p->pings < RLK_CHECKUP_PINGS &&
        (p->pings == 0 || took_us > p->ping_us[p->pings - 1])) {
        keep_ping(p, took_us);
    }
}

/* ---- the whole ---- */

void rlk_checkup_init(struct rlk_checkup *p)
{
    memset(p, 0, sizeof(*p));
    rlk_server_init(&p->info);
    p->rdb = -1;
}

void rlk_checkup_note_connection(struct rlk_checkup *p, const struct rlk_node *n)
{
    const char *user = rlk_login_user(n->options->login, n->uri);

    p->remote = n->uri->path == NULL && rlk_conn_is_remote(&n->link.conn);
    snprintf(p->user, sizeof(p->user), "%.63s", user ? user : "default");
    rlk_reply_make_printable(p->user);
    p->database = n->uri->db;
    snprintf(p->product, sizeof(p->product), "%.*s", (int)strcspn(n->server, " "), n->server);
}

/* What the server said is quoted without secrets. */
void rlk_checkup_note_subscriber(struct rlk_checkup *p, const struct rlk_node *n,
                                 const struct rlk_trouble *t)
{
    struct rlk_trouble quoted = *t;
    char words[RLK_TROUBLE_WORDS];

    if (t->words && t->fault == RLK_FAULT_NONE) {
        rlk_node_quote(n, t->words, words, sizeof(words));
        quoted.words = words;
    }
    rlk_trouble_write(&quoted, p->subscriber, sizeof(p->subscriber));
    RLK_TRACE_NODE(n, .kind = REDLOCK_TRACE_NODE_TROUBLE, .text = p->subscriber);
}

static void write_persistence(const struct rlk_checkup *p, struct redlock_examined *ret)
{
    bool told = (p->denied & REDLOCK_RIGHT_INFO) == 0;

    ret->rdb = p->rdb;
    ret->aof = told ? p->info.aof : -1;
    ret->fsync = p->info.aof ? p->info.fsync : "";
    ret->replay_errors = p->info.replay_errors;
    ret->disk_fails = (p->info.aof && p->info.aof_fails) || p->rdb_fails;
}

void rlk_checkup_write(const struct rlk_checkup *p, struct redlock_examined *ret)
{
    ret->answered = p->answered;
    ret->product = p->product;
    ret->version = p->version;
    ret->run_id = p->info.run_id;
    ret->role = p->info.role;
    ret->mode = p->info.mode;
    ret->user = p->user;
    ret->no_channels = p->no_channels;
    ret->uptime_s = p->info.uptime_s;
    ret->loading = p->info.loading;
    write_persistence(p, ret);
    ret->maxmemory = p->info.maxmemory;
    ret->used_memory = p->used_memory;
    ret->eviction = p->info.policy;
    ret->evicted_keys = p->evicted_keys;
    ret->replicas = p->info.replicas;
    ret->min_replicas = p->min_replicas;
    ret->promoted = p->info.promotion != 0;
    ret->denied = p->denied;
    ret->missing = p->missing;
    ret->keys_denied = p->keys_denied;
    ret->lock_keys_denied = p->lock_keys_denied;
    ret->database = p->database;
    ret->database_denied = p->database_denied;
    ret->refusal = p->refusal;
    ret->subscriber = p->subscriber;
    ret->remote = p->remote;
    ret->pings = p->pings;
    ret->ping_min_us = p->ping_us[0];
    ret->ping_median_us = p->pings ? p->ping_us[(p->pings - 1) / 2] : 0;
    ret->ping_max_us = p->pings ? p->ping_us[p->pings - 1] : 0;
    ret->clock_error_us = UINT64_MAX;
}
