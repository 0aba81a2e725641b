/* lib/model.c - see model.h. A table of commands, a function for each. */
#include "lib/model.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/buffer.h>

#include "lib/model_inside.h"

static uint64_t read_us(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* Not the wall clock, which somebody may set while a test runs. */
static uint64_t steady_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

uint64_t model_now_us(const struct model *m)
{
    return m->clock_us + m->steady_us();
}

static uint64_t stopped_us(void)
{
    return 0;
}

void model_stop_clock(struct model *m)
{
    m->clock_us = model_now_us(m);
    m->steady_us = stopped_us;
}

static uint64_t now_ms(const struct model *m)
{
    return model_now_us(m) / 1000;
}

static char *copy(const char *bytes, size_t len)
{
    char *new = malloc(len + 1);

    memcpy(new, bytes, len);
    new[len] = '\0';
    return new;
}

static void new_run_id(struct model *m)
{
    static unsigned started;

    started++;
    snprintf(m->run_id, sizeof(m->run_id), "%032x%08x", 0xfaceu, started);
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;

    while (*name) {
        hash = (hash ^ (unsigned char)*name++) * 16777619u;
    }
    return hash;
}

static void free_key(struct model_key *key)
{
    model_free_members(key);
    model_free_entries(key);
    free(key->name);
    free(key->value);
    free(key);
}

void model_remove(struct model *m, struct model_key **at)
{
    struct model_key *key = *at;

    *at = key->next;
    model_changed(m, key->name);
    free_key(key);
}

struct model_key **model_find(struct model *m, long db, const char *name)
{
    struct model_key **at = &m->keys;
    uint64_t now = now_ms(m);
    uint32_t hash = hash_of(name);

    while (*at) {
        if ((*at)->until_ms <= now) {
            model_remove(m, at);
        } else if ((*at)->hash == hash && (*at)->db == db && strcmp((*at)->name, name) == 0) {
            break;
        } else {
            at = &(*at)->next;
        }
    }
    return at;
}

void model_put(struct model *m, long db, const char *name, const char *value, size_t len,
               uint64_t ttl_ms)
{
    struct model_key **at = model_find(m, db, name);
    struct model_key *key;

    if (*at) {
        model_remove(m, at);
    }
    key = calloc(1, sizeof(*key));
    key->next = m->keys;
    key->db = db;
    key->name = copy(name, strlen(name));
    key->hash = hash_of(name);
    key->value = copy(value, len);
    key->value_len = len;
    key->until_ms = ttl_ms ? now_ms(m) + ttl_ms : MODEL_NEVER;
    m->keys = key;
    model_changed(m, name);
}

const char *model_word(const struct model_call *c, size_t at)
{
    return at < c->request->argc ? c->request->argv[at] : "";
}

static bool log_in(const struct model_call *c, const char *user, const char *password)
{
    const char *right = c->m->user ? c->m->user : "default";

    if (c->m->password && (strcmp(user, right) != 0 || strcmp(password, c->m->password) != 0)) {
        resp_put_error(c->out, "WRONGPASS invalid username-password pair or user is disabled.");
        return false;
    }
    c->s->logged_in = true;
    return true;
}

static void do_auth(const struct model_call *c)
{
    bool both = c->request->argc > 2;

    if (log_in(c, both ? model_word(c, 1) : "default", model_word(c, both ? 2 : 1))) {
        resp_put_status(c->out, "OK");
    }
}

static void say_hello(const struct model_call *c)
{
    char version[16];

    snprintf(version, sizeof(version), "%d.0.15", c->m->major);
    resp_put_array(c->out, 14);
    resp_put_text(c->out, "server");
    resp_put_text(c->out, "redis");
    resp_put_text(c->out, "version");
    resp_put_text(c->out, version);
    resp_put_text(c->out, "proto");
    resp_put_int(c->out, 2);
    resp_put_text(c->out, "id");
    resp_put_int(c->out, c->s->id);
    resp_put_text(c->out, "mode");
    resp_put_text(c->out, c->m->mode);
    resp_put_text(c->out, "role");
    resp_put_text(c->out, c->m->role);
    resp_put_text(c->out, "modules");
    resp_put_array(c->out, 0);
}

static void do_hello(const struct model_call *c)
{
    size_t i;

    if (c->m->major < 6) {
        resp_put_error(c->out, "ERR unknown command `HELLO`, with args beginning with: `2`, ");
        return;
    }
    if (c->request->argc > 1 && !resp_is(c->request, 1, "2")) {
        resp_put_error(c->out, "NOPROTO unsupported protocol version");
        return;
    }
    for (i = 2; i < c->request->argc; i++) {
        if (resp_is(c->request, i, "AUTH")) {
            if (!log_in(c, model_word(c, i + 1), model_word(c, i + 2))) {
                return;
            }
            i += 2;
        }
    }
    if (c->m->password && !c->s->logged_in) {
        resp_put_error(c->out, "NOAUTH HELLO must be called with the client already "
                               "authenticated, otherwise the HELLO <proto> AUTH <user> <pass> "
                               "option can be used to authenticate the client");
        return;
    }
    say_hello(c);
}

static void do_ping(const struct model_call *c)
{
    resp_put_status(c->out, "PONG");
}

static void do_select(const struct model_call *c)
{
    long db = strtol(model_word(c, 1), NULL, 10);

    if (db < 0 || db > 15) {
        resp_put_error(c->out, "ERR DB index is out of range");
        return;
    }
    c->s->db = db;
    resp_put_status(c->out, "OK");
}

/* Before 7.0 an id of 0 is everybody's. */
static void do_client_kill(const struct model_call *c)
{
    long long id = strtoll(model_word(c, 3), NULL, 10);

    if (id <= 0 && c->m->major >= 7) {
        resp_put_error(c->out, "ERR client-id should be greater than 0");
        return;
    }
    c->s->kill_id = id == 0 ? MODEL_KILL_OTHERS : id;
    resp_put_int(c->out, 1);
}

static void do_client(const struct model_call *c)
{
    if (resp_is(c->request, 1, "ID")) {
        resp_put_int(c->out, c->s->id);
    } else if (resp_is(c->request, 1, "SETNAME")) {
        resp_put_status(c->out, "OK");
    } else if (resp_is(c->request, 1, "KILL") && resp_is(c->request, 2, "ID")) {
        do_client_kill(c);
    } else if (!model_client_tracking(c)) {
        resp_put_error(c->out, "ERR unknown subcommand. Try CLIENT HELP.");
    }
}

/* SET key value [NX or XX] [GET] [PX ms], in any order. */
static void do_set(const struct model_call *c)
{
    bool nx = false;
    bool xx = false;
    bool get = false;
    uint64_t ttl_ms = 0;
    struct model_key *old = *model_find(c->m, c->s->db, model_word(c, 1));
    size_t i;

    for (i = 3; i < c->request->argc; i++) {
        nx = nx || resp_is(c->request, i, "NX");
        xx = xx || resp_is(c->request, i, "XX");
        get = get || resp_is(c->request, i, "GET");
        if (resp_is(c->request, i, "PX")) {
            ttl_ms = strtoull(model_word(c, ++i), NULL, 10);
        }
    }
    if (c->request->argc < 3 || (nx && get && c->m->major < 7)) {
        resp_put_error(c->out, "ERR syntax error");
        return;
    }
    if (get && old) {
        resp_put_bulk(c->out, old->value, old->value_len);
    } else if (get || (nx && old) || (xx && !old)) {
        resp_put_nil(c->out);
    } else {
        resp_put_status(c->out, "OK");
    }
    if ((!nx || !old) && (!xx || old)) {
        model_put(c->m, c->s->db, model_word(c, 1), model_word(c, 2), c->request->len[2], ttl_ms);
    }
}

static void do_get(const struct model_call *c)
{
    struct model_key *key = *model_find(c->m, c->s->db, model_word(c, 1));

    model_note_read(c, model_word(c, 1));
    if (key && !model_is_string(key)) {
        resp_put_error(c->out, MODEL_WRONGTYPE);
    } else if (key) {
        resp_put_bulk(c->out, key->value, key->value_len);
    } else {
        resp_put_nil(c->out);
    }
}

long long model_pttl(const struct model *m, const struct model_key *key)
{
    if (!key) {
        return -2;
    }
    return key->until_ms == MODEL_NEVER ? -1 : (long long)(key->until_ms - now_ms(m));
}

static void do_pttl(const struct model_call *c)
{
    resp_put_int(c->out, model_pttl(c->m, *model_find(c->m, c->s->db, model_word(c, 1))));
}

/* DEL key */
static void do_del(const struct model_call *c)
{
    struct model_key **at = model_find(c->m, c->s->db, model_word(c, 1));

    resp_put_int(c->out, *at != NULL);
    if (*at) {
        model_remove(c->m, at);
    }
}

/* DELEX key IFEQ value, DELIFEQ key value */
static void do_native(const struct model_call *c)
{
    const struct resp_request *r = c->request;
    struct model_key **at = model_find(c->m, c->s->db, model_word(c, 1));
    bool equal;

    if (!resp_is(r, 0, c->m->native)) {
        resp_put_error(c->out, "ERR unknown command");
    } else if (r->argc != (resp_is(r, 0, "DELEX") ? 4 : 3)) {
        resp_put_error(c->out, "ERR wrong number of arguments for the command");
    } else {
        equal = *at && (*at)->value_len == r->len[r->argc - 1] &&
                memcmp((*at)->value, r->argv[r->argc - 1], (*at)->value_len) == 0;
        resp_put_int(c->out, equal);
        if (equal) {
            model_remove(c->m, at);
        }
    }
}

/* PEXPIRE key ms [GT]. A key that lives for ever has the longest ttl. */
static void do_pexpire(const struct model_call *c)
{
    struct model_key *key = *model_find(c->m, c->s->db, model_word(c, 1));
    uint64_t until_ms = now_ms(c->m) + strtoull(model_word(c, 2), NULL, 10);
    bool set = key && (!resp_is(c->request, 3, "GT") || until_ms > key->until_ms);

    resp_put_int(c->out, set);
    if (set) {
        key->until_ms = until_ms;
        model_changed(c->m, key->name);
    }
}

/* ACL WHOAMI */
static void do_acl(const struct model_call *c)
{
    if (c->m->major < 6) {
        resp_put_error(c->out, "ERR unknown command `ACL`, with args beginning with: ");
    } else {
        resp_put_text(c->out, c->m->user ? c->m->user : "default");
    }
}

static void do_time(const struct model_call *c)
{
    uint64_t now_us = model_now_us(c->m);
    char number[24];

    resp_put_array(c->out, 2);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)(now_us / 1000000));
    resp_put_text(c->out, number);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)(now_us % 1000000));
    resp_put_text(c->out, number);
}

/* A key is in one of 64 places by its name, and the cursor is the next place: so a scan names each
 * key that is there all the time. */
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
    return key->db == c->s->db && model_is_string(key) && key->until_ms > now_ms(c->m) &&
           place_of(key->name) == place && fnmatch(model_word(c, 3), key->name, 0) == 0;
}

static size_t scan_place(const struct model_call *c, unsigned place, struct evbuffer *out)
{
    const struct model_key *key;
    size_t n = 0;

    for (key = c->m->keys; key; key = key->next) {
        if (is_scanned(c, key, place)) {
            resp_put_text(out, key->name);
            n++;
        }
    }
    return n;
}

/* SCAN cursor MATCH pattern COUNT n TYPE string */
static void do_scan(const struct model_call *c)
{
    unsigned place = (unsigned)strtoul(model_word(c, 1), NULL, 10);
    size_t n = 0, most = strtoul(model_word(c, 5), NULL, 10);
    struct evbuffer *names = evbuffer_new();
    char cursor[24];

    for (; place < MODEL_PLACES && n < most; place++) {
        n += scan_place(c, place, names);
    }
    snprintf(cursor, sizeof(cursor), "%u", place < MODEL_PLACES ? place : 0);
    resp_put_array(c->out, 2);
    resp_put_text(c->out, cursor);
    resp_put_array(c->out, n);
    evbuffer_add_buffer(c->out, names);
    evbuffer_free(names);
}

static void do_flushall(const struct model_call *c)
{
    model_flush(c->m);
    resp_put_status(c->out, "OK");
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
    {"INFO", model_info, false, false},
    {"CONFIG", model_config, false, false},
    {"SCRIPT", model_script_load, false, false},
    {"SET", do_set, false, false},
    {"GET", do_get, false, false},
    {"PTTL", do_pttl, false, false},
    {"DEL", do_del, false, false},
    {"DELEX", do_native, false, false},
    {"DELIFEQ", do_native, false, false},
    {"PEXPIRE", do_pexpire, false, false},
    {"ACL", do_acl, false, false},
    {"EVAL", model_script_eval, false, false},
    {"EVALSHA", model_script_evalsha, false, false},
    {"TIME", do_time, false, false},
    {"FLUSHALL", do_flushall, false, false},
    {"SCAN", do_scan, false, false},
    {"SUBSCRIBE", model_subscribe, false, true},
    {"PUBLISH", model_do_publish, false, false},
    {"EXISTS", model_exists, false, false},
    {"ZADD", model_sorted_set, false, false},
    {"ZCARD", model_sorted_set, false, false},
    {"ZRANGE", model_sorted_set, false, false},
    {"ZRANK", model_sorted_set, false, false},
    {"ZREM", model_sorted_set, false, false},
    {"ZSCORE", model_sorted_set, false, false},
    {"XADD", model_stream, false, false},
    {"XLEN", model_stream, false, false},
    {"XREVRANGE", model_stream, false, false},
};

void model_run(struct model *m, struct model_session *s, const struct resp_request *request,
               struct evbuffer *out)
{
    struct model_call c = {m, s, request, out};
    size_t i;

    s->caching -= s->caching > 0;
    for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!resp_is(request, 0, commands[i].name)) {
            continue;
        }
        if (m->password && !s->logged_in && !commands[i].for_everybody) {
            resp_put_error(out, "NOAUTH Authentication required.");
        } else if (s->n_channels > 0 && !commands[i].while_subscribed) {
            resp_put_error(out, "ERR only SUBSCRIBE and PING are allowed in this context");
        } else {
            commands[i].run(&c);
        }
        return;
    }
    resp_put_error(out, "ERR unknown command");
}

void model_init(struct model *m)
{
    memset(m, 0, sizeof(*m));
    m->major = 7;
    m->native = "";
    m->role = "master";
    m->mode = "standalone";
    m->uptime_s = 86400;
    m->policy = "noeviction";
    m->fsync = "everysec";
    m->steady_us = steady_us;
    m->clock_us = read_us(CLOCK_REALTIME) - steady_us();
    new_run_id(m);
}

void model_make_old(struct model *m)
{
    char value[128];

    snprintf(value, sizeof(value), "%s 0000feed%s %" PRIu64, m->run_id, m->run_id + 32,
             model_now_us(m) - UINT64_C(86400000000));
    model_set(m, "redlock:incarnation", value, 0);
}

void model_restart(struct model *m)
{
    model_free(m);
    new_run_id(m);
    m->uptime_s = 0;
    m->flushes = 0;
    m->promoted = false;
}

void model_restart_durably(struct model *m)
{
    model_forget_scripts(m);
    new_run_id(m);
    m->uptime_s = 0;
    m->flushes = 0;
}

void model_promote(struct model *m)
{
    new_run_id(m);
    m->promoted = true;
}

static void forget_keys(struct model *m)
{
    struct model_key *key;

    while ((key = m->keys) != NULL) {
        m->keys = key->next;
        free_key(key);
    }
}

void model_flush(struct model *m)
{
    forget_keys(m);
    model_all_changed(m);
    m->flushes++;
}

void model_free(struct model *m)
{
    model_forget_scripts(m);
    model_forget_tracked(m);
    forget_keys(m);
}

const char *model_get(struct model *m, const char *key)
{
    struct model_key *found = *model_find(m, 0, key);

    return found ? found->value : NULL;
}

void model_set(struct model *m, const char *key, const char *value, uint64_t ttl_ms)
{
    model_put(m, 0, key, value, strlen(value), ttl_ms);
}

void model_del(struct model *m, const char *key)
{
    struct model_key **at = model_find(m, 0, key);

    if (*at) {
        model_remove(m, at);
    }
}

uint64_t model_ttl(struct model *m, const char *key)
{
    const struct model_key *found = *model_find(m, 0, key);

    return found && found->until_ms != MODEL_NEVER ? found->until_ms - now_ms(m) : 0;
}

size_t model_count(struct model *m)
{
    struct model_key *key;
    size_t n = 0;

    model_find(m, -1, "");
    for (key = m->keys; key; key = key->next) {
        n += model_is_string(key);
    }
    return n;
}
