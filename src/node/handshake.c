/* handshake.c - the handshake as conversations (node/talk.h): who the server is; the mark in its
 * incarnation key; then it is UP. A line that refuses the server ends the connection, and with it
 * the conversation. */
#include "node/handshake.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/classify.h"
#include "net/reply_text.h"
#include "net/uri.h"
#include "node/inspect.h"
#include "node/hello.h"
#include "node/info.h"
#include "node/login.h"
#include "node/node.h"
#include "node/options.h"
#include "node/refusal.h"
#include "node/side.h"
#include "node/talk.h"
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

/* The server is in a state in which it refuses everybody, and does not quote our command. */
static bool is_about_state(const struct rlk_reply *reply)
{
    const struct rlk_refusal *refusal =
        reply->type == RLK_REPLY_ERROR ? rlk_refusal_of(reply->str) : NULL;

    return refusal && refusal->means;
}

static void take_auth(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;

    if (is_protected(h->reply)) {
        refuse_handshake(n, RLK_TROUBLE_PROTECTED, NULL);
    } else if (is_about_state(h->reply)) {
        refuse_handshake(n, RLK_TROUBLE_HANDSHAKE_REFUSED, h->reply->str);
    } else if (h->reply->type == RLK_REPLY_ERROR) {
        rlk_node_refuse_login(n, h->reply->str);
    }
}

static void take_select(const struct rlk_heard *h)
{
    if (h->reply->type == RLK_REPLY_ERROR) {
        rlk_node_refuse(h->node,
                        &(struct rlk_trouble){.kind = rlk_classify_is_error(h->reply, "NOPERM")
                                                          ? RLK_TROUBLE_DATABASE_DENIED
                                                          : RLK_TROUBLE_DATABASE,
                                              .number = h->node->uri->db,
                                              .words = h->reply->str});
    }
}

static void refuse_unfit(struct rlk_node *n, enum rlk_unfit unfit, uint64_t now_us)
{
    if (unfit != RLK_UNFIT_NOT) {
        rlk_inspect_judge_role(n, unfit, now_us);
    }
}

/* The name of a known product and a version are no secret, even if a short password is a part of
 * them. */
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
 * Then role and mode come from INFO, which we ask anyway. */
static bool is_without_hello(const struct rlk_reply *reply)
{
    return rlk_classify_is_error(reply, "NOPERM") || rlk_classify_unknown_command(reply);
}

static void refuse_hello(struct rlk_node *n, const struct rlk_reply *reply)
{
    if (rlk_login_is_missing(reply)) {
        rlk_node_refuse_login(n, reply->str);
    } else if (is_protected(reply)) {
        refuse_handshake(n, RLK_TROUBLE_PROTECTED, NULL);
    } else if (reply->type == RLK_REPLY_ERROR) {
        refuse_handshake(n, RLK_TROUBLE_HANDSHAKE_REFUSED, reply->str); /* e.g. too many clients */
    } else {
        refuse_handshake(n, RLK_TROUBLE_NOT_REDIS, NULL);
    }
}

/* A sentinel tells no role, but its mode. */
static bool tells_what_it_is(const struct rlk_reply *list)
{
    return rlk_hello_text(list, "role")[0] || rlk_hello_unfit(list) != RLK_UNFIT_NOT;
}

static void on_identified(const struct rlk_heard *h);

static void take_client_id(const struct rlk_heard *h)
{
    h->node->client_id = h->reply->type == RLK_REPLY_INTEGER ? h->reply->integer : 0;
}

/* [S5] Should this connection break, CLIENT KILL needs its id. HELLO tells it, too. */
static const struct rlk_talk client_id = {
    RLK_LINES({.words = RLK_WORDS("CLIENT", "ID"), .take = take_client_id}), .in_handshake = true,
    .done = on_identified};

static void take_hello(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;

    n->returns_holder = n->inspection.tells_role = false;
    n->native = RLK_NATIVE_NONE;
    n->way = RLK_RELEASE_ANYHOW;
    n->client_id = 0;
    snprintf(n->server, sizeof(n->server), "redis");
    if (h->reply->type == RLK_REPLY_ARRAY && tells_what_it_is(h->reply)) {
        learn_from_hello(n, h->reply, h->now_us);
    } else if (!is_without_hello(h->reply)) {
        refuse_hello(n, h->reply);
    } else if (!rlk_talk_begin(&n->link, &client_id, NULL, h->now_us)) {
        refuse_handshake(n, RLK_TROUBLE_NO_MEMORY_FOR_HANDSHAKE, NULL);
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
static void take_info(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;
    char number[21];

    if (refuse_if_busy(n, h->reply)) {
        return;
    }
    rlk_info_read(&n->info, h->reply);
    if (strcmp(n->server, "redis") == 0 && n->info.version[0]) {
        quote_name(n, n->info.version, number, sizeof(number));
        snprintf(n->server, sizeof(n->server), "redis %s", number);
    }
    refuse_unfit(n, rlk_server_unfit(n->info.role, n->info.mode), h->now_us);
}

static void take_fsync(const struct rlk_heard *h)
{
    rlk_info_read_fsync(&h->node->info, h->reply);
}

/* Any reply will do: the connection has ended, or we have no right to end it. */
static void take_killed(const struct rlk_heard *h)
{
    (void)h->reply;
    rlk_former_drop(&h->node->former);
}

static bool format_kill(struct rlk_command *c, const struct rlk_say *say)
{
    const int64_t *former = say->context;
    char id[24];
    const char *const words[] = {"CLIENT", "KILL", "ID", id, NULL};

    snprintf(id, sizeof(id), "%" PRId64, *former);
    return rlk_command_words(c, words) == 0;
}

static const struct rlk_talk kill_talk = {RLK_LINES({.format = format_kill, .take = take_killed}),
                                          .in_handshake = true};

/* [S5] Commands that may still arrive over them must not come after the pending releases. False
 * when out of memory: then the handshake must fail, because the pending releases would go first. */
static bool kill_former_connections(struct rlk_node *n, uint64_t now_us)
{
    unsigned i;

    rlk_former_note_run(&n->former, n->info.run_id);
    for (i = 0; i < n->former.count; i++) {
        if (!rlk_talk_begin(&n->link, &kill_talk, &n->former.ids[i], now_us)) {
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
        refuse_handshake(n, RLK_TROUBLE_NO_MEMORY_FOR_HANDSHAKE, NULL);
        return;
    }
    rlk_inspect_begin(n, mark, now_us);
    rlk_node_accept(n, now_us);
}

static void take_mark(const struct rlk_heard *h)
{
    if (!refuse_if_busy(h->node, h->reply)) {
        accept_node(h->node, h->reply, h->now_us);
    }
}

/* [S11] A server that is loading its data is refused, but only when the other replies are in. */
static void take_upkeep(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;

    if (n->info.loading || !refuse_if_busy(n, h->reply)) {
        rlk_upkeep_take_eval(h);
    }
}

static void note_native(struct rlk_node *n, const struct rlk_reply *reply, enum rlk_native native)
{
    if (n->native == RLK_NATIVE_NONE && rlk_classify_known_command(reply)) {
        n->native = native;
    }
}

static void take_delex(const struct rlk_heard *h)
{
    note_native(h->node, h->reply, RLK_NATIVE_DELEX);
}

static void take_delifeq(const struct rlk_heard *h)
{
    note_native(h->node, h->reply, RLK_NATIVE_DELIFEQ);
}

/* ---- commands ---- */

static bool has_database(const struct rlk_say *say)
{
    return say->node->uri->db != 0;
}

static bool format_select(struct rlk_command *c, const struct rlk_say *say)
{
    char db[12];
    const char *const words[] = {"SELECT", db, NULL};

    snprintf(db, sizeof(db), "%u", say->node->uri->db);
    return rlk_command_words(c, words) == 0;
}

static bool format_name(struct rlk_command *c, const struct rlk_say *say)
{
    const char *const words[] = {"CLIENT", "SETNAME", say->node->options->client_name, NULL};

    return rlk_command_words(c, words) == 0;
}

static bool is_judged(const struct rlk_say *say)
{
    return say->node->quarantine.policy != RLK_QUARANTINE_OFF;
}

/* ---- the conversations ---- */

/* [S11] INFO and appendfsync say whether the server may have lost a lock. One pattern asks for
 * appendfsync and no-appendfsync-on-rewrite, so both are of one instant. A server compares it with
 * all of its settings: one that begins with an asterisk takes three times as long.
 *
 * DELEX and DELIFEQ: which command deletes a key that has a value. Without arguments a command is
 * always rejected, and the error tells whether the server knows the command. That needs no key, no
 * permission and no version number. */
static const struct rlk_talk introduction = {
    RLK_LINES({.format = rlk_side_format_login, .when = rlk_side_needs_login, .take = take_auth},
              {.words = RLK_WORDS("HELLO", "2"), .take = take_hello},
              {.format = format_select, .when = has_database, .take = take_select},
              {.format = format_name}, {.words = RLK_WORDS("INFO", "server"), .take = take_info},
              {.words = RLK_WORDS("INFO", "replication"), .take = take_info},
              {.words = RLK_WORDS("INFO", "memory"), .when = is_judged, .take = take_info},
              {.words = RLK_WORDS("INFO", "persistence"), .when = is_judged, .take = take_info},
              {.words = RLK_WORDS("INFO", "commandstats"), .when = is_judged, .take = take_info},
              {.words = RLK_WORDS("INFO", "stats"), .when = is_judged, .take = take_info},
              {.words = RLK_WORDS("CONFIG", "GET", "[an]*pendfsync*"),
               .when = is_judged,
               .take = take_fsync},
              {.words = RLK_WORDS("DELEX"), .take = take_delex},
              {.words = RLK_WORDS("DELIFEQ"), .take = take_delifeq},
              {.words = RLK_WORDS("SCRIPT", "LOAD", rlk_script_release.text)},
              {.words = rlk_upkeep_evalsha, .take = rlk_upkeep_take_evalsha},
              {.format = rlk_upkeep_format_eval, .take = take_upkeep}),
    .in_handshake = true, .has_login = true, .done = on_identified};

/* The context is the question, which is needed only until it is written. */
static const struct rlk_talk mark = {RLK_LINES({.format = rlk_inspect_format, .take = take_mark}),
                                     .in_handshake = true};

/* All replies are in, that to CLIENT ID, too, because a connection without an id could not be ended
 * later [S5]. */
static void on_identified(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;
    struct rlk_inspection_question q;

    if (n->link.state != RLK_LINK_HANDSHAKE || n->link.inflight.ring.count > 0) {
        return;
    }
    if (n->info.loading) {
        refuse_handshake(n, RLK_TROUBLE_LOADING, NULL);
    } else if (!rlk_inspect_is_wanted(n)) {
        accept_node(n, NULL, h->now_us);
    } else {
        q = rlk_inspect_question(n, h->now_us);
        if (!rlk_talk_begin(&n->link, &mark, &q, h->now_us)) {
            refuse_handshake(n, RLK_TROUBLE_NO_MEMORY_FOR_HANDSHAKE, NULL);
        }
    }
}

/* A server replays its log as the user "default". */
static bool is_default_user(const struct rlk_node *n)
{
    const char *user = rlk_login_user(n->options->login, n->uri);

    return user == NULL || strcmp(user, "default") == 0;
}

/* The release script counts as loaded: a server that has not got it is sent its text. */
bool rlk_handshake_begin(struct rlk_node *n, uint64_t now_us)
{
    rlk_server_init(&n->info);
    n->info.replays_as_us = is_default_user(n);
    rlk_upkeep_begin(n);
    n->link.scripts = rlk_script_release.bit;
    return rlk_talk_begin(&n->link, &introduction, NULL, now_us);
}
