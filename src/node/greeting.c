/* greeting.c - sends the handshake, and handles the reply to each of its commands. When the
 * connection breaks, node.c handles that for all of them together. */
#include "node/greeting.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/wipe.h"
#include "core/classify.h"
#include "net/reply_text.h"
#include "net/uri.h"
#include "node/health.h"
#include "node/hello.h"
#include "node/info.h"
#include "node/login.h"
#include "node/node.h"
#include "node/options.h"
#include "node/refusal.h"
#include "node/upkeep.h"
#include "scripts/scripts.h"

static void refuse_handshake(struct rlk_node *n, enum rlk_trouble_kind kind, const char *words)
{
    rlk_node_refuse(n, &(struct rlk_trouble){.kind = kind, .words = words});
}

/* The error of protected mode: the server accepts no connections from other machines. */
static bool is_protected(const struct rlk_reply *reply)
{
    return rlk_classify_is_error(reply, "DENIED");
}

static void send_next(struct rlk_node *n, uint64_t now_us);

/* The server is in a state in which it refuses everybody, and does not quote our command. */
static bool is_about_state(const struct rlk_reply *reply)
{
    const struct rlk_refusal *refusal =
        reply->type == RLK_REPLY_ERROR ? rlk_refusal_of(reply->str) : NULL;

    return refusal && refusal->means;
}

static void on_auth(struct rlk_node *n, const struct rlk_exchange *r, const struct rlk_reply *reply,
                    uint64_t now_us)
{
    (void)r;
    (void)now_us;
    if (is_protected(reply)) {
        refuse_handshake(n, RLK_TROUBLE_PROTECTED, NULL);
    } else if (is_about_state(reply)) {
        refuse_handshake(n, RLK_TROUBLE_GREETING_REFUSED, reply->str);
    } else if (reply->type == RLK_REPLY_ERROR) {
        rlk_node_refuse_login(n, reply->str);
    }
}

static void on_select(struct rlk_node *n, const struct rlk_exchange *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    (void)r;
    (void)now_us;
    if (reply->type == RLK_REPLY_ERROR) {
        rlk_node_refuse(n, &(struct rlk_trouble){.kind = rlk_classify_is_error(reply, "NOPERM")
                                                             ? RLK_TROUBLE_DATABASE_DENIED
                                                             : RLK_TROUBLE_DATABASE,
                                                 .number = n->uri->db,
                                                 .words = reply->str});
    }
}

static void refuse_unfit(struct rlk_node *n, enum rlk_unfit unfit, uint64_t now_us)
{
    if (unfit != RLK_UNFIT_NOT) {
        rlk_health_judge_role(n, unfit, now_us);
    }
}

/* A known product and a version are no secret, though a short password may be a part of them. */
static void quote_name(const struct rlk_node *n, const char *said, char *out, size_t size)
{
    size_t len = strlen(said);

    if (strcmp(said, "redis") == 0 || strcmp(said, "valkey") == 0 ||
        (len < 10 && strspn(said, "0123456789.") == len)) {
        snprintf(out, size, "%.9s", said);
    } else {
        rlk_node_quote(n, said, out, size);
    }
}

static void learn_from_hello(struct rlk_node *n, const struct rlk_reply *list, uint64_t now_us)
{
    const char *server = rlk_hello_text(list, "server"), *version = rlk_hello_text(list, "version");
    const struct rlk_reply *id = rlk_hello_field(list, "id");
    char product[21], number[21];

    quote_name(n, server, product, sizeof(product));
    quote_name(n, version, number, sizeof(number));
    snprintf(n->server, sizeof(n->server), "%s %s", product, number);
    rlk_reply_make_printable(n->server);
    n->returns_holder = rlk_server_returns_holder(server, version);
    n->inspection.tells_role = true;
    n->client_id = id && id->type == RLK_REPLY_INTEGER ? id->integer : 0;
    refuse_unfit(n, rlk_hello_unfit(list), now_us);
}

/* A server before 6.0 does not know HELLO, and 6.0 denies it to a user without the right to it.
 * Then role and mode come from INFO, which is sent anyway. */
static bool is_without_hello(const struct rlk_reply *reply)
{
    return rlk_classify_is_error(reply, "NOPERM") || rlk_classify_unknown_command(reply);
}

/* [S5] Each command of the first half is answered: also CLIENT ID, if it was sent, because a
 * connection without an id could not be ended later. */
static void end_first_half(struct rlk_node *n, uint64_t now_us)
{
    if (n->inflight.ring.count == 0) {
        send_next(n, now_us);
    }
}

static void on_client_id(struct rlk_node *n, const struct rlk_exchange *r,
                         const struct rlk_reply *reply, uint64_t now_us)
{
    (void)r;
    n->client_id = reply->type == RLK_REPLY_INTEGER ? reply->integer : 0;
    end_first_half(n, now_us);
}

/* [S5] CLIENT KILL needs the id of this connection, should it break. HELLO tells it otherwise. */
static bool send_client_id(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_client_id};
    const char *const words[] = {"CLIENT", "ID", NULL};

    return rlk_node_send_words(n, &kind, words, now_us);
}

static void refuse_greeting(struct rlk_node *n, const struct rlk_reply *reply)
{
    if (rlk_login_is_missing(reply)) {
        rlk_node_refuse_login(n, reply->str);
    } else if (is_protected(reply)) {
        refuse_handshake(n, RLK_TROUBLE_PROTECTED, NULL);
    } else if (reply->type == RLK_REPLY_ERROR) {
        refuse_handshake(n, RLK_TROUBLE_GREETING_REFUSED, reply->str); /* e.g. too many clients */
    } else {
        refuse_handshake(n, RLK_TROUBLE_NOT_REDIS, NULL);
    }
}

/* A sentinel tells no role, but its mode. */
static bool tells_what_it_is(const struct rlk_reply *list)
{
    return rlk_hello_text(list, "role")[0] || rlk_hello_unfit(list) != RLK_UNFIT_NOT;
}

static void on_hello(struct rlk_node *n, const struct rlk_exchange *r,
                     const struct rlk_reply *reply, uint64_t now_us)
{
    (void)r;
    n->returns_holder = n->inspection.tells_role = false;
    n->scripts = 0;
    n->native = RLK_NATIVE_NONE;
    n->way = RLK_RELEASE_ANYHOW;
    n->client_id = 0;
    snprintf(n->server, sizeof(n->server), "redis");
    if (reply->type == RLK_REPLY_ARRAY && tells_what_it_is(reply)) {
        learn_from_hello(n, reply, now_us);
    } else if (!is_without_hello(reply)) {
        refuse_greeting(n, reply);
    } else if (!send_client_id(n, now_us)) {
        refuse_handshake(n, RLK_TROUBLE_NO_MEMORY_TO_GREET, NULL);
    }
}

/* [S11] Retry later; never count a server before it is identified. */
static bool refuse_if_busy(struct rlk_node *n, const struct rlk_reply *reply)
{
    bool refuses = rlk_classify_is_error(reply, "BUSY") || rlk_classify_is_error(reply, "LOADING");

    if (refuses) {
        refuse_handshake(n, RLK_TROUBLE_BUSY, reply->str);
    }
    return refuses;
}

/* A section of INFO. Role and mode are checked after each section, whichever has them. */
static void on_info(struct rlk_node *n, const struct rlk_exchange *r, const struct rlk_reply *reply,
                    uint64_t now_us)
{
    char number[21];

    (void)r;
    if (refuse_if_busy(n, reply)) {
        return;
    }
    rlk_info_read(&n->info, reply);
    if (strcmp(n->server, "redis") == 0 && n->info.version[0]) {
        quote_name(n, n->info.version, number, sizeof(number));
        snprintf(n->server, sizeof(n->server), "redis %s", number);
    }
    refuse_unfit(n, rlk_server_unfit(n->info.role, n->info.mode), now_us);
}

static void on_fsync(struct rlk_node *n, const struct rlk_exchange *r,
                     const struct rlk_reply *reply, uint64_t now_us)
{
    (void)r;
    (void)now_us;
    rlk_info_read_fsync(&n->info, reply);
}

/* Any reply will do: the connection has ended, or we have no right to end it. */
static void on_killed(struct rlk_node *n, const struct rlk_exchange *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    (void)r;
    (void)reply;
    (void)now_us;
    rlk_former_drop(&n->former);
}

/* [S5] Commands that may still arrive over them must not come after the pending releases. False
 * when out of memory: then the node must not be greeted, because the pending releases would go
 * first. */
static bool kill_former_connections(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_killed};
    char id[24];
    const char *const words[] = {"CLIENT", "KILL", "ID", id, NULL};
    unsigned i;

    rlk_former_note_run(&n->former, n->info.run_id);
    for (i = 0; i < n->former.count; i++) {
        snprintf(id, sizeof(id), "%" PRId64, n->former.ids[i]);
        if (!rlk_node_send_words(n, &kind, words, now_us)) {
            return false;
        }
    }
    return true;
}

/* [S10] One server has one vote, whatever its addresses. */
static bool is_duplicate(struct rlk_node *n)
{
    const struct rlk_node *other = n->hooks->duplicate(n);
    char run[9];

    if (other) {
        snprintf(run, sizeof(run), "%.8s", n->info.run_id);
        rlk_node_refuse(n, &(struct rlk_trouble){.kind = RLK_TROUBLE_DUPLICATE,
                                                 .other = other->uri->name,
                                                 .words = run});
    }
    return other != NULL;
}

/* Check for a duplicate first: its data must not overwrite what is known of this node. */
static void accept_node(struct rlk_node *n, const struct rlk_reply *mark, uint64_t now_us)
{
    if (is_duplicate(n)) {
        return;
    }
    if (!kill_former_connections(n, now_us)) {
        refuse_handshake(n, RLK_TROUBLE_NO_MEMORY_TO_GREET, NULL);
        return;
    }
    rlk_health_begin(n, mark, now_us);
    rlk_node_greeted(n, now_us);
}

static void on_mark(struct rlk_node *n, const struct rlk_exchange *r, const struct rlk_reply *reply,
                    uint64_t now_us)
{
    (void)r;
    if (!refuse_if_busy(n, reply)) {
        accept_node(n, reply, now_us);
    }
}

/* The first half of the handshake was answered, and the server was not refused. */
static void send_next(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_mark};

    if (n->info.loading) {
        refuse_handshake(n, RLK_TROUBLE_LOADING, NULL);
    } else if (!rlk_health_is_wanted(n)) {
        accept_node(n, NULL, now_us);
    } else if (!rlk_health_greet(n, &kind, now_us)) {
        refuse_handshake(n, RLK_TROUBLE_NO_MEMORY_TO_GREET, NULL);
    }
}

/* [S11] A server that is loading its data is refused for that when the other replies are in. */
static void on_upkeep(struct rlk_node *n, const struct rlk_exchange *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    (void)r;
    if (n->info.loading || !refuse_if_busy(n, reply)) {
        rlk_upkeep_take(n, reply);
        end_first_half(n, now_us);
    }
}

static bool send_auth(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_auth};
    const char *words[RLK_LOGIN_WORDS];

    bool sent = !rlk_login_words(n->options->login, n->uri, n->login_refused, words) ||
                rlk_node_send_words(n, &kind, words, now_us);

    rlk_wipe_stack();
    return sent;
}

static bool send_select(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_select};
    char db[12];
    const char *const words[] = {"SELECT", db, NULL};

    snprintf(db, sizeof(db), "%u", n->uri->db);
    return n->uri->db == 0 || rlk_node_send_words(n, &kind, words, now_us);
}

static bool send_info(struct rlk_node *n, const char *section, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_info};
    const char *const words[] = {"INFO", section, NULL};

    return rlk_node_send_words(n, &kind, words, now_us);
}

/* [S11] What we need to judge whether the server may have forgotten a lock. */
static bool send_more_info(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind = {.answered = on_fsync};
    static const char *const words[] = {"CONFIG", "GET", "*appendfsync*", NULL};

    if (n->quarantine.policy == RLK_QUARANTINE_OFF) {
        return true;
    }
    return send_info(n, "memory", now_us) && send_info(n, "persistence", now_us) &&
           send_info(n, "commandstats", now_us) && rlk_node_send_words(n, &kind, words, now_us);
}

static void note_native(struct rlk_node *n, const struct rlk_reply *reply, enum rlk_native native)
{
    if (n->native == RLK_NATIVE_NONE && rlk_classify_known_command(reply)) {
        n->native = native;
    }
}

static void on_delex(struct rlk_node *n, const struct rlk_exchange *r,
                     const struct rlk_reply *reply, uint64_t now_us)
{
    (void)r;
    (void)now_us;
    note_native(n, reply, RLK_NATIVE_DELEX);
}

static void on_delifeq(struct rlk_node *n, const struct rlk_exchange *r,
                       const struct rlk_reply *reply, uint64_t now_us)
{
    (void)r;
    (void)now_us;
    note_native(n, reply, RLK_NATIVE_DELIFEQ);
}

/* Ask which command deletes a key that has a value. Without its arguments a command is rejected in
 * any case, and by its error a server that knows it differs from one that does not: no key is
 * needed, and neither a right nor a version number. */
static bool send_native(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind delex = {.answered = on_delex},
                                          delifeq = {.answered = on_delifeq};
    static const char *const delex_words[] = {"DELEX", NULL}, *const delifeq_words[] = {"DELIFEQ",
                                                                                        NULL};

    return rlk_node_send_words(n, &delex, delex_words, now_us) &&
           rlk_node_send_words(n, &delifeq, delifeq_words, now_us);
}

/* It does not matter whether the release was loaded: EVAL sends its text. */
bool rlk_greeting_begin(struct rlk_node *n, uint64_t now_us)
{
    static const struct rlk_exchange_kind hello = {.answered = on_hello},
                                          upkeep = {.answered = on_upkeep};
    const char *const hello_words[] = {"HELLO", "2", NULL};
    const char *const name_words[] = {"CLIENT", "SETNAME", n->options->client_name, NULL};
    const char *const script_words[] = {"SCRIPT", "LOAD", rlk_script_release.text, NULL};

    rlk_server_init(&n->info);
    return send_auth(n, now_us) && rlk_node_send_words(n, &hello, hello_words, now_us) &&
           send_select(n, now_us) &&
           rlk_node_send_words(n, &rlk_exchange_ignored, name_words, now_us) &&
           send_info(n, "server", now_us) && send_info(n, "replication", now_us) &&
           send_more_info(n, now_us) && send_native(n, now_us) &&
           rlk_node_send_words(n, &rlk_exchange_ignored, script_words, now_us) &&
           rlk_upkeep_send(n, &upkeep, now_us);
}
