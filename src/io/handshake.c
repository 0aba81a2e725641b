#include "io/handshake.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/classify.h"
#include "io/node.h"
#include "io/options.h"
#include "io/uri.h"

#define NOT_REDIS "did not answer our greeting like a Redis server: is the address right?"

/* A connection that breaks while we greet is told to the node, not to each command. */
static void on_broken(struct rlk_node *n, void *context, uint64_t now_us)
{
    (void)n;
    (void)context;
    (void)now_us;
}

static void on_ignored(struct rlk_node *n, void *context, const struct rlk_reply *reply,
                       uint64_t now_us)
{
    (void)n;
    (void)context;
    (void)reply;
    (void)now_us;
}

static void on_auth(struct rlk_node *n, void *context, const struct rlk_reply *reply,
                    uint64_t now_us)
{
    (void)context;
    (void)now_us;
    if (reply->type == RLK_REPLY_ERROR) {
        /* Its first word only: some servers repeat what they were sent. */
        rlk_node_refuse(n, "refused our user and password: %.*s", (int)strcspn(reply->str, " "),
                        reply->str);
    }
}

static void on_select(struct rlk_node *n, void *context, const struct rlk_reply *reply,
                      uint64_t now_us)
{
    (void)context;
    (void)now_us;
    if (reply->type == RLK_REPLY_ERROR) {
        rlk_node_refuse(n, "refused database %u: %s", n->uri->db, reply->str);
    }
}

/* The value of a field of HELLO's flat list, NULL when it is not there. */
static const struct rlk_reply *field(const struct rlk_reply *list, const char *name)
{
    int64_t i;

    /* A nested list can only come last ("modules"), so the elements stand in a row before. */
    for (i = 1; i + 1 <= list->integer && list[i].type != RLK_REPLY_ARRAY; i += 2) {
        if (strcmp(list[i].str, name) == 0) {
            return &list[i + 1];
        }
    }
    return NULL;
}

static const char *field_text(const struct rlk_reply *list, const char *name)
{
    const struct rlk_reply *value = field(list, name);

    return value ? value->str : "";
}

/* Only servers of which we know it: one that merely ignored the GET would answer a refusal
 * with the very nil that means granted. */
static bool knows_set_get(const char *server, const char *version)
{
    if (strcmp(server, "valkey") == 0) {
        return true;
    }
    return strcmp(server, "redis") == 0 && atoi(version) >= 7;
}

/* Why a server of this role and mode may not vote [S11]; NULL when it may. */
static const char *unfit(const char *role, const char *mode)
{
    if (strcmp(role, "replica") == 0 || strcmp(role, "slave") == 0) {
        return "is a replica: its master can forget what it never heard; list masters only";
    }
    if (strcmp(mode, "cluster") == 0) {
        return "is a cluster node: locks need independent masters, without cluster mode";
    }
    if (strcmp(mode, "sentinel") == 0) {
        return "is a sentinel: it holds no keys; list the masters themselves";
    }
    return NULL;
}

static void learn_from_hello(struct rlk_node *n, const struct rlk_reply *list)
{
    const char *server = field_text(list, "server"), *version = field_text(list, "version");
    const char *why = unfit(field_text(list, "role"), field_text(list, "mode"));
    const struct rlk_reply *id = field(list, "id");

    snprintf(n->server, sizeof(n->server), "%.20s %.20s", server, version);
    rlk_reply_make_printable(n->server);
    n->tells_holder = knows_set_get(server, version);
    n->client_id = id && id->type == RLK_REPLY_INTEGER ? id->integer : 0;
    if (why) {
        rlk_node_refuse(n, "%s", why);
    }
}

static void on_hello(struct rlk_node *n, void *context, const struct rlk_reply *reply,
                     uint64_t now_us)
{
    (void)context;
    (void)now_us;
    n->tells_holder = false;
    n->scripts = 0;
    n->client_id = 0;
    snprintf(n->server, sizeof(n->server), "redis");
    if (reply->type == RLK_REPLY_ARRAY && field_text(reply, "role")[0]) {
        learn_from_hello(n, reply);
    } else if (rlk_classify_is_error(reply, "NOAUTH")) {
        rlk_node_refuse(n, "wants a password, and we were given none for it");
    } else if (reply->type != RLK_REPLY_ERROR) {
        rlk_node_refuse(n, NOT_REDIS);
    } else if (strncmp(reply->str, "ERR unknown command", 19) != 0) {
        rlk_node_refuse(n, "refused our greeting: %s", reply->str); /* e.g. too many clients */
    }
}

/* Copy the value of a line "name:value" of INFO; "" when there is none. */
static void info_line(const char *info, const char *name, char *out, size_t size)
{
    const char *line = info;
    size_t name_len = strlen(name), len;

    out[0] = '\0';
    while (line) {
        if (strncmp(line, name, name_len) == 0 && line[name_len] == ':') {
            line += name_len + 1;
            len = strcspn(line, "\r\n");
            snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), line);
            return;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
}

static void on_info_server(struct rlk_node *n, void *context, const struct rlk_reply *reply,
                           uint64_t now_us)
{
    char mode[24], version[24];
    const char *why;

    (void)context;
    (void)now_us;
    info_line(reply->str, "run_id", n->run_id, sizeof(n->run_id));
    info_line(reply->str, "redis_mode", mode, sizeof(mode));
    info_line(reply->str, "redis_version", version, sizeof(version));
    if (strcmp(n->server, "redis") == 0 && version[0]) {
        snprintf(n->server, sizeof(n->server), "redis %s", version);
        rlk_reply_make_printable(n->server);
    }
    why = unfit("", mode);
    if (why) {
        rlk_node_refuse(n, "%s", why);
    }
}

static void on_info_replication(struct rlk_node *n, void *context, const struct rlk_reply *reply,
                                uint64_t now_us)
{
    char role[24];
    const char *why;

    (void)context;
    (void)now_us;
    info_line(reply->str, "role", role, sizeof(role));
    why = unfit(role, "");
    if (why) {
        rlk_node_refuse(n, "%s", why);
    }
}

static const struct rlk_request_kind ignored = {on_ignored, on_broken};

static bool say(struct rlk_node *n, const struct rlk_request_kind *kind, const char *const *words,
                uint64_t now_us)
{
    struct rlk_command c;
    bool said = rlk_command_words(&c, words) == 0 && rlk_node_queue(n, &c, kind, NULL, now_us);

    rlk_command_end(&c);
    return said;
}

/* Whatever it says: the connection has ended, or we may not end it. */
static void on_killed(struct rlk_node *n, void *context, const struct rlk_reply *reply,
                      uint64_t now_us)
{
    (void)context;
    (void)reply;
    (void)now_us;
    rlk_former_drop(&n->former);
}

/* [S5] What may still arrive over them must not come behind the debts. */
static void kill_former_connections(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_request_kind kind = {on_killed, on_broken};
    char id[24];
    const char *const words[] = {"CLIENT", "KILL", "ID", id, NULL};
    unsigned i;

    rlk_former_meet(&n->former, n->run_id);
    for (i = 0; i < n->former.count; i++) {
        snprintf(id, sizeof(id), "%" PRId64, n->former.ids[i]);
        if (!say(n, &kind, words, now_us)) {
            break;
        }
    }
}

/* The last answer: the rest of the greeting went well. Whether the script could be loaded does
 * not matter, EVAL brings it along. */
static void on_script(struct rlk_node *n, void *context, const struct rlk_reply *reply,
                      uint64_t now_us)
{
    (void)context;
    (void)reply;
    kill_former_connections(n, now_us);
    rlk_node_greeted(n, now_us);
}

static bool say_auth(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_request_kind kind = {on_auth, on_broken};
    const char *const both[] = {"AUTH", n->uri->user, n->uri->password, NULL};
    const char *const alone[] = {"AUTH", n->uri->password, NULL};

    if (n->uri->password == NULL) {
        return true;
    }
    return say(n, &kind, n->uri->user ? both : alone, now_us);
}

static bool say_select(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_request_kind kind = {on_select, on_broken};
    char db[12];
    const char *const words[] = {"SELECT", db, NULL};

    snprintf(db, sizeof(db), "%u", n->uri->db);
    return n->uri->db == 0 || say(n, &kind, words, now_us);
}

bool rlk_handshake_begin(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_request_kind hello = {on_hello, on_broken},
                                         server = {on_info_server, on_broken},
                                         replication = {on_info_replication, on_broken},
                                         script = {on_script, on_broken};
    const char *const hello_words[] = {"HELLO", "2", NULL};
    const char *const name_words[] = {"CLIENT", "SETNAME", n->options->client_name, NULL};
    const char *const server_words[] = {"INFO", "server", NULL};
    const char *const replication_words[] = {"INFO", "replication", NULL};
    const char *const script_words[] = {"SCRIPT", "LOAD", rlk_command_release_script, NULL};

    return say_auth(n, now_us) && say(n, &hello, hello_words, now_us) && say_select(n, now_us) &&
           say(n, &ignored, name_words, now_us) && say(n, &server, server_words, now_us) &&
           say(n, &replication, replication_words, now_us) && say(n, &script, script_words, now_us);
}
