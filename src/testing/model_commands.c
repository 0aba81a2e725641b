/* testing/model_commands.c - the commands of a server for single keys and for connections: a
 * function for each, and a table of all. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "testing/memory.h"
#include "testing/model_inside.h"

const char *rlk_model_word(const struct model_call *c, size_t at)
{
    return at < c->request->argc ? c->request->argv[at] : "";
}

static bool log_in(const struct model_call *c, const char *user, const char *password)
{
    const char *right = c->m->user ? c->m->user : "default";

    if (c->m->password && (strcmp(user, right) != 0 || strcmp(password, c->m->password) != 0)) {
        rlk_resp_put_error(c->out, "WRONGPASS invalid username-password pair or user is disabled.");
        return false;
    }
    c->s->logged_in = true;
    return true;
}

static void do_auth(const struct model_call *c)
{
    bool both = c->request->argc > 2;

    if (log_in(c, both ? rlk_model_word(c, 1) : "default", rlk_model_word(c, both ? 2 : 1))) {
        rlk_resp_put_status(c->out, "OK");
    }
}

static void say_hello(const struct model_call *c)
{
    char version[16];

    snprintf(version, sizeof(version), "%d.0.15", c->m->major);
    rlk_resp_put_array(c->out, 14);
    rlk_resp_put_text(c->out, "server");
    rlk_resp_put_text(c->out, "redis");
    rlk_resp_put_text(c->out, "version");
    rlk_resp_put_text(c->out, version);
    rlk_resp_put_text(c->out, "proto");
    rlk_resp_put_int(c->out, 2);
    rlk_resp_put_text(c->out, "id");
    rlk_resp_put_int(c->out, c->s->id);
    rlk_resp_put_text(c->out, "mode");
    rlk_resp_put_text(c->out, c->m->mode);
    rlk_resp_put_text(c->out, "role");
    rlk_resp_put_text(c->out, c->m->role);
    rlk_resp_put_text(c->out, "modules");
    rlk_resp_put_array(c->out, 0);
}

static void do_hello(const struct model_call *c)
{
    size_t i;

    if (c->m->major < 6) {
        rlk_resp_put_error(c->out, "ERR unknown command `HELLO`, with args beginning with: `2`, ");
        return;
    }
    if (c->request->argc > 1 && !rlk_resp_is(c->request, 1, "2")) {
        rlk_resp_put_error(c->out, "NOPROTO unsupported protocol version");
        return;
    }
    for (i = 2; i < c->request->argc; i++) {
        if (rlk_resp_is(c->request, i, "AUTH")) {
            if (!log_in(c, rlk_model_word(c, i + 1), rlk_model_word(c, i + 2))) {
                return;
            }
            i += 2;
        }
    }
    if (c->m->password && !c->s->logged_in) {
        rlk_resp_put_error(c->out, "NOAUTH HELLO must be called with the client already "
                                   "authenticated, otherwise the HELLO <proto> AUTH <user> <pass> "
                                   "option can be used to authenticate the client");
        return;
    }
    say_hello(c);
}

static void do_ping(const struct model_call *c)
{
    rlk_resp_put_status(c->out, "PONG");
}

static void do_select(const struct model_call *c)
{
    long db = strtol(rlk_model_word(c, 1), NULL, 10);

    if (db < 0 || db > 15) {
        rlk_resp_put_error(c->out, "ERR DB index is out of range");
        return;
    }
    c->s->db = db;
    rlk_resp_put_status(c->out, "OK");
}

/* Before 7.0 an id of 0 means every connection. */
static void do_client_kill(const struct model_call *c)
{
    long long id = strtoll(rlk_model_word(c, 3), NULL, 10);

    if (id <= 0 && c->m->major >= 7) {
        rlk_resp_put_error(c->out, "ERR client-id should be greater than 0");
        return;
    }
    c->s->kill_id = id == 0 ? MODEL_KILL_OTHERS : id;
    rlk_resp_put_int(c->out, 1);
}

static void do_client(const struct model_call *c)
{
    if (rlk_resp_is(c->request, 1, "ID")) {
        rlk_resp_put_int(c->out, c->s->id);
    } else if (rlk_resp_is(c->request, 1, "SETNAME")) {
        rlk_resp_put_status(c->out, "OK");
    } else if (rlk_resp_is(c->request, 1, "KILL") && rlk_resp_is(c->request, 2, "ID")) {
        do_client_kill(c);
    } else if (!rlk_model_client_tracking(c)) {
        rlk_resp_put_error(c->out, "ERR unknown subcommand. Try CLIENT HELP.");
    }
}

/* ---- what clients do with locks ---- */

#define TOKEN_DIGITS 40

/* Whether it is the token of a lock: reservations and counters begin differently. */
static bool is_token(const char *value)
{
    return strspn(value, "0123456789abcdef") == TOKEN_DIGITS &&
           (value[TOKEN_DIGITS] == '\0' || value[TOKEN_DIGITS] == ':');
}

static void note_deed(const struct model_call *c, enum model_deed deed)
{
    if (c->m->deed) {
        c->m->deed(c->m->deed_arg, deed, rlk_model_word(c, 1));
    }
}

/* old: before the command; NULL: the key was not there. */
static void note_set(const struct model_call *c, const struct model_key *old, const char *value)
{
    bool was_held = old && is_token(old->value);

    if (is_token(value) && !was_held) {
        note_deed(c, MODEL_GRANTED);
    } else if (was_held && strcmp(old->value, value) == 0) {
        note_deed(c, MODEL_EXTENDED);
    } else if (was_held && !is_token(value)) {
        note_deed(c, MODEL_RELEASED);
    }
}

static void delete_key(const struct model_call *c, struct model_key **at)
{
    if (is_token((*at)->value)) {
        note_deed(c, MODEL_RELEASED);
    }
    rlk_model_remove(c->m, at);
}

/* ---- the commands ---- */

/* SET key value [NX or XX] [GET] [PX ms], in any order. */
static void do_set(const struct model_call *c)
{
    bool nx = false;
    bool xx = false;
    bool get = false;
    uint64_t ttl_ms = 0;
    struct model_key *old = *rlk_model_find(c->m, c->s->db, rlk_model_word(c, 1));
    size_t i;

    for (i = 3; i < c->request->argc; i++) {
        nx = nx || rlk_resp_is(c->request, i, "NX");
        xx = xx || rlk_resp_is(c->request, i, "XX");
        get = get || rlk_resp_is(c->request, i, "GET");
        if (rlk_resp_is(c->request, i, "PX")) {
            ttl_ms = strtoull(rlk_model_word(c, ++i), NULL, 10);
        }
    }
    if (c->request->argc < 3 || (nx && get && c->m->major < 7)) {
        rlk_resp_put_error(c->out, "ERR syntax error");
        return;
    }
    if (get && old) {
        rlk_resp_put_bulk(c->out, old->value, old->value_len);
    } else if (get || (nx && old) || (xx && !old)) {
        rlk_resp_put_nil(c->out);
    } else {
        rlk_resp_put_status(c->out, "OK");
    }
    if ((!nx || !old) && (!xx || old)) {
        note_set(c, old, rlk_model_word(c, 2));
        rlk_model_put(c->m, c->s->db, rlk_model_word(c, 1), rlk_model_word(c, 2),
                      c->request->len[2], ttl_ms);
    }
}

static void do_get(const struct model_call *c)
{
    struct model_key *key = *rlk_model_find(c->m, c->s->db, rlk_model_word(c, 1));

    rlk_model_note_read(c, rlk_model_word(c, 1));
    if (key && !rlk_model_is_string(key)) {
        rlk_resp_put_error(c->out, MODEL_WRONGTYPE);
    } else if (key) {
        rlk_resp_put_bulk(c->out, key->value, key->value_len);
    } else {
        rlk_resp_put_nil(c->out);
    }
}

/* MGET key... : a key that is no string is as one that is not there. */
static void do_mget(const struct model_call *c)
{
    size_t i;

    rlk_resp_put_array(c->out, c->request->argc - 1);
    for (i = 1; i < c->request->argc; i++) {
        struct model_key *key = *rlk_model_find(c->m, c->s->db, rlk_model_word(c, i));

        rlk_model_note_read(c, rlk_model_word(c, i));
        if (key && rlk_model_is_string(key)) {
            rlk_resp_put_bulk(c->out, key->value, key->value_len);
        } else {
            rlk_resp_put_nil(c->out);
        }
    }
}

static void do_pttl(const struct model_call *c)
{
    rlk_resp_put_int(c->out,
                     rlk_model_pttl(c->m, *rlk_model_find(c->m, c->s->db, rlk_model_word(c, 1))));
}

/* DEL key */
static void do_del(const struct model_call *c)
{
    struct model_key **at = rlk_model_find(c->m, c->s->db, rlk_model_word(c, 1));

    rlk_resp_put_int(c->out, *at != NULL);
    if (*at) {
        delete_key(c, at);
    }
}

/* DELEX key IFEQ value, DELIFEQ key value */
static void do_native(const struct model_call *c)
{
    const struct resp_request *r = c->request;
    struct model_key **at = rlk_model_find(c->m, c->s->db, rlk_model_word(c, 1));
    bool equal;

    if (!rlk_resp_is(r, 0, c->m->native)) {
        rlk_resp_put_error(c->out, "ERR unknown command");
    } else if (r->argc != (rlk_resp_is(r, 0, "DELEX") ? 4 : 3)) {
        rlk_resp_put_error(c->out, "ERR wrong number of arguments for the command");
    } else {
        equal = *at && (*at)->value_len == r->len[r->argc - 1] &&
                memcmp((*at)->value, r->argv[r->argc - 1], (*at)->value_len) == 0;
        rlk_resp_put_int(c->out, equal);
        if (equal) {
            delete_key(c, at);
        }
    }
}

/* PEXPIRE key ms [GT]. A key that never expires has the longest ttl. */
static void do_pexpire(const struct model_call *c)
{
    struct model_key *key = *rlk_model_find(c->m, c->s->db, rlk_model_word(c, 1));
    uint64_t until_ms = rlk_model_now_us(c->m) / 1000 + strtoull(rlk_model_word(c, 2), NULL, 10);
    bool set = key && (!rlk_resp_is(c->request, 3, "GT") || until_ms > key->until_ms);

    rlk_resp_put_int(c->out, set);
    if (set) {
        key->until_ms = until_ms;
        if (is_token(key->value)) {
            note_deed(c, MODEL_EXTENDED);
        }
        rlk_model_changed(c->m, key->name);
    }
}

/* ACL WHOAMI */
static void do_acl(const struct model_call *c)
{
    if (c->m->major < 6) {
        rlk_resp_put_error(c->out, "ERR unknown command `ACL`, with args beginning with: ");
    } else {
        rlk_resp_put_text(c->out, c->m->user ? c->m->user : "default");
    }
}

static void do_time(const struct model_call *c)
{
    uint64_t now_us = rlk_model_now_us(c->m);
    char number[24];

    rlk_resp_put_array(c->out, 2);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)(now_us / 1000000));
    rlk_resp_put_text(c->out, number);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)(now_us % 1000000));
    rlk_resp_put_text(c->out, number);
}

/* The name of a key puts it in one of 64 slots, and the cursor is the next slot. So a scan returns
 * each key that exists all the time. */
#define MODEL_PLACES 64

static unsigned place_of(const char *name)
{
    unsigned sum = 0;

    while (*name) {
        sum = 31 * sum + (unsigned char)*name++;
    }
    return sum % MODEL_PLACES;
}

static bool is_scanned(const struct model_call *c, const struct model_key *key, unsigned place)
{
    return key->db == c->s->db && rlk_model_is_string(key) &&
           key->until_ms > rlk_model_now_us(c->m) / 1000 && place_of(key->name) == place &&
           fnmatch(rlk_model_word(c, 3), key->name, 0) == 0;
}

static size_t scan_place(const struct model_call *c, unsigned place, struct evbuffer *out)
{
    const struct model_key *key;
    size_t n = 0;

    for (key = c->m->keys; key; key = key->next) {
        if (is_scanned(c, key, place)) {
            rlk_resp_put_text(out, key->name);
            n++;
        }
    }
    return n;
}

/* SCAN cursor MATCH pattern COUNT n TYPE string */
static void do_scan(const struct model_call *c)
{
    unsigned place = (unsigned)strtoul(rlk_model_word(c, 1), NULL, 10);
    size_t n = 0, most = strtoul(rlk_model_word(c, 5), NULL, 10);
    struct evbuffer *names = evbuffer_new();
    char cursor[24];

    if (!rlk_testing_memory_note(names != NULL)) {
        return;
    }
    for (; place < MODEL_PLACES && n < most; place++) {
        n += scan_place(c, place, names);
    }
    snprintf(cursor, sizeof(cursor), "%u", place < MODEL_PLACES ? place : 0);
    rlk_resp_put_array(c->out, 2);
    rlk_resp_put_text(c->out, cursor);
    rlk_resp_put_array(c->out, n);
    rlk_testing_memory_note(evbuffer_add_buffer(c->out, names) == 0);
    evbuffer_free(names);
}

static void do_flushall(const struct model_call *c)
{
    rlk_model_flush(c->m);
    rlk_resp_put_status(c->out, "OK");
}

struct command {
    const char *name;
    void (*run)(const struct model_call *c);
    bool for_everybody;    /* allowed before the login */
    bool while_subscribed; /* and when the connection has subscribed to a channel */
};

static const struct command commands[] = {
    {"AUTH", do_auth, true, false},
    {"HELLO", do_hello, true, false},
    {"PING", do_ping, false, true},
    {"SELECT", do_select, false, false},
    {"CLIENT", do_client, false, false},
    {"INFO", rlk_model_info, false, false},
    {"CONFIG", rlk_model_config, false, false},
    {"SCRIPT", rlk_model_script_load, false, false},
    {"SET", do_set, false, false},
    {"GET", do_get, false, false},
    {"MGET", do_mget, false, false},
    {"PTTL", do_pttl, false, false},
    {"DEL", do_del, false, false},
    {"DELEX", do_native, false, false},
    {"DELIFEQ", do_native, false, false},
    {"PEXPIRE", do_pexpire, false, false},
    {"ACL", do_acl, false, false},
    {"EVAL", rlk_model_script_eval, false, false},
    {"EVALSHA", rlk_model_script_evalsha, false, false},
    {"TIME", do_time, false, false},
    {"FLUSHALL", do_flushall, false, false},
    {"SCAN", do_scan, false, false},
    {"SUBSCRIBE", rlk_model_subscribe, false, true},
    {"PUBLISH", rlk_model_do_publish, false, false},
    {"EXISTS", rlk_model_exists, false, false},
    {"ZADD", rlk_model_sorted_set, false, false},
    {"ZCARD", rlk_model_sorted_set, false, false},
    {"ZRANGE", rlk_model_sorted_set, false, false},
    {"ZRANK", rlk_model_sorted_set, false, false},
    {"ZREM", rlk_model_sorted_set, false, false},
    {"ZSCORE", rlk_model_sorted_set, false, false},
    {"XADD", rlk_model_stream, false, false},
    {"XLEN", rlk_model_stream, false, false},
    {"XREVRANGE", rlk_model_stream, false, false},
};

void rlk_model_run(struct model *m, struct model_session *s, const struct resp_request *request,
                   struct evbuffer *out)
{
    struct model_call c = {m, s, request, out};
    size_t i;

    s->caching -= s->caching > 0;
    for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!rlk_resp_is(request, 0, commands[i].name)) {
            continue;
        }
        if (m->password && !s->logged_in && !commands[i].for_everybody) {
            rlk_resp_put_error(out, "NOAUTH Authentication required.");
        } else if (s->n_channels > 0 && !commands[i].while_subscribed) {
            rlk_resp_put_error(out, "ERR only SUBSCRIBE and PING are allowed in this context");
        } else {
            commands[i].run(&c);
        }
        return;
    }
    rlk_resp_put_error(out, "ERR unknown command");
}
