/* lib/model.c - see model.h. A table of commands, a function for each. */
#include "lib/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <event2/buffer.h>

#include "lib/sha1.h"

#define NEVER UINT64_MAX

struct model_key {
    struct model_key *next;
    long db;
    char *name;
    char *value;
    size_t value_len;
    uint64_t until_ms;
};

enum script_kind {
    SCRIPT_RELEASE = 0,
    SCRIPT_KEEP,
    SCRIPT_TAKE
};

struct model_script {
    struct model_script *next;
    char sha[41];
    enum script_kind kind;
};

static uint64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
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

static void remove_key(struct model_key **at)
{
    struct model_key *key = *at;

    *at = key->next;
    free(key->name);
    free(key->value);
    free(key);
}

/* Where the pointer to the key is, or to the end of the list. Expired keys go on the way. */
static struct model_key **find(struct model *m, long db, const char *name)
{
    struct model_key **at = &m->keys;
    uint64_t now = now_ms();

    while (*at) {
        if ((*at)->until_ms <= now) {
            remove_key(at);
        } else if ((*at)->db == db && strcmp((*at)->name, name) == 0) {
            break;
        } else {
            at = &(*at)->next;
        }
    }
    return at;
}

static void put(struct model *m, long db, const char *name, const char *value, size_t len,
                uint64_t ttl_ms)
{
    struct model_key **at = find(m, db, name);
    struct model_key *key;

    if (*at) {
        remove_key(at);
    }
    key = calloc(1, sizeof(*key));
    key->next = m->keys;
    key->db = db;
    key->name = copy(name, strlen(name));
    key->value = copy(value, len);
    key->value_len = len;
    key->until_ms = ttl_ms ? now_ms() + ttl_ms : NEVER;
    m->keys = key;
}

static struct model_script *find_script(struct model *m, const char *sha)
{
    struct model_script *script = m->scripts;

    while (script && strcasecmp(script->sha, sha) != 0) {
        script = script->next;
    }
    return script;
}

static enum script_kind kind_of(const char *text, size_t len)
{
    if (memmem(text, len, "'DEL'", 5)) {
        return SCRIPT_RELEASE;
    }
    return memmem(text, len, "'PEXPIRE'", 9) ? SCRIPT_KEEP : SCRIPT_TAKE;
}

static const struct model_script *add_script(struct model *m, const char *text, size_t len)
{
    struct model_script *script;
    char sha[41];

    sha1_hex(text, len, sha);
    script = find_script(m, sha);
    if (!script) {
        script = calloc(1, sizeof(*script));
        memcpy(script->sha, sha, sizeof(script->sha));
        script->kind = kind_of(text, len);
        script->next = m->scripts;
        m->scripts = script;
    }
    return script;
}

/* One command in hand: everything that its function needs. */
struct call {
    struct model *m;
    struct model_session *s;
    const struct resp_request *request;
    struct evbuffer *out;
};

static const char *word(const struct call *c, size_t at)
{
    return at < c->request->argc ? c->request->argv[at] : "";
}

static bool log_in(const struct call *c, const char *user, const char *password)
{
    const char *right = c->m->user ? c->m->user : "default";

    if (c->m->password && (strcmp(user, right) != 0 || strcmp(password, c->m->password) != 0)) {
        resp_put_error(c->out, "WRONGPASS invalid username-password pair or user is disabled.");
        return false;
    }
    c->s->logged_in = true;
    return true;
}

static void do_auth(const struct call *c)
{
    bool both = c->request->argc > 2;

    if (log_in(c, both ? word(c, 1) : "default", word(c, both ? 2 : 1))) {
        resp_put_status(c->out, "OK");
    }
}

static void say_hello(const struct call *c)
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

static void do_hello(const struct call *c)
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
            if (!log_in(c, word(c, i + 1), word(c, i + 2))) {
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

static void do_ping(const struct call *c)
{
    resp_put_status(c->out, "PONG");
}

static void do_select(const struct call *c)
{
    long db = strtol(word(c, 1), NULL, 10);

    if (db < 0 || db > 15) {
        resp_put_error(c->out, "ERR DB index is out of range");
        return;
    }
    c->s->db = db;
    resp_put_status(c->out, "OK");
}

static void do_client(const struct call *c)
{
    if (resp_is(c->request, 1, "ID")) {
        resp_put_int(c->out, c->s->id);
    } else if (resp_is(c->request, 1, "SETNAME")) {
        resp_put_status(c->out, "OK");
    } else if (resp_is(c->request, 1, "KILL") && resp_is(c->request, 2, "ID")) {
        c->s->kill_id = strtoll(word(c, 3), NULL, 10);
        resp_put_int(c->out, 1);
    } else {
        resp_put_error(c->out, "ERR unknown subcommand. Try CLIENT HELP.");
    }
}

static void do_info(const struct call *c)
{
    struct timespec ts;
    char text[1024];

    clock_gettime(CLOCK_REALTIME, &ts);
    snprintf(text, sizeof(text),
             "# Server\r\nredis_version:%d.0.15\r\nredis_mode:%s\r\nprocess_id:%d\r\n"
             "run_id:%s\r\nserver_time_usec:%lld\r\nuptime_in_seconds:86400\r\n\r\n"
             "# Persistence\r\nloading:0\r\nasync_loading:0\r\naof_enabled:0\r\n\r\n"
             "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n\r\n"
             "# Replication\r\nrole:%s\r\nconnected_slaves:0\r\nsecond_repl_offset:-1\r\n",
             c->m->major, c->m->mode, 4711, c->m->run_id,
             (long long)ts.tv_sec * 1000000 + ts.tv_nsec / 1000,
             strcmp(c->m->role, "replica") == 0 ? "slave" : c->m->role);
    resp_put_text(c->out, text);
}

static void do_script(const struct call *c)
{
    if (!resp_is(c->request, 1, "LOAD") || c->request->argc != 3) {
        resp_put_error(c->out, "ERR unknown subcommand. Try SCRIPT HELP.");
        return;
    }
    resp_put_text(c->out, add_script(c->m, c->request->argv[2], c->request->len[2])->sha);
}

/* SET key value [NX] [GET] [PX ms], in any order. */
static void do_set(const struct call *c)
{
    bool nx = false;
    bool get = false;
    uint64_t ttl_ms = 0;
    struct model_key *old = *find(c->m, c->s->db, word(c, 1));
    size_t i;

    for (i = 3; i < c->request->argc; i++) {
        nx = nx || resp_is(c->request, i, "NX");
        get = get || resp_is(c->request, i, "GET");
        if (resp_is(c->request, i, "PX")) {
            ttl_ms = strtoull(word(c, ++i), NULL, 10);
        }
    }
    if (c->request->argc < 3 || (nx && get && c->m->major < 7)) {
        resp_put_error(c->out, "ERR syntax error");
        return;
    }
    if (get && old) {
        resp_put_bulk(c->out, old->value, old->value_len);
    } else if (get || (nx && old)) {
        resp_put_nil(c->out);
    } else {
        resp_put_status(c->out, "OK");
    }
    if (!nx || !old) {
        put(c->m, c->s->db, word(c, 1), word(c, 2), c->request->len[2], ttl_ms);
    }
}

static void do_get(const struct call *c)
{
    struct model_key *key = *find(c->m, c->s->db, word(c, 1));

    if (key) {
        resp_put_bulk(c->out, key->value, key->value_len);
    } else {
        resp_put_nil(c->out);
    }
}

static void do_pttl(const struct call *c)
{
    struct model_key *key = *find(c->m, c->s->db, word(c, 1));

    if (!key) {
        resp_put_int(c->out, -2);
    } else if (key->until_ms == NEVER) {
        resp_put_int(c->out, -1);
    } else {
        resp_put_int(c->out, (long long)(key->until_ms - now_ms()));
    }
}

/* The keys of a script: words 3 and on, as many as word 2 says; then its arguments. */
struct keys {
    size_t n;
    size_t ours;       /* have the token */
    const char *taken; /* the first other value; NULL for none */
};

static struct keys look_at_keys(const struct call *c)
{
    struct keys k = {.n = strtoul(word(c, 2), NULL, 10)};
    const char *token = word(c, 3 + k.n);
    size_t i;

    for (i = 0; i < k.n; i++) {
        const struct model_key *key = *find(c->m, c->s->db, word(c, 3 + i));

        k.ours += key && strcmp(key->value, token) == 0;
        if (key && strcmp(key->value, token) != 0 && !k.taken) {
            k.taken = key->value;
        }
    }
    return k;
}

/* 1 all deleted, 0 some not there, -1 some with another value. */
static void run_release(const struct call *c, const struct keys *k)
{
    long long answer = k->taken ? -1 : k->ours == k->n;
    size_t i;

    for (i = 0; i < k->n; i++) {
        struct model_key **at = find(c->m, c->s->db, word(c, 3 + i));

        if (*at && strcmp((*at)->value, word(c, 3 + k->n)) == 0) {
            remove_key(at);
        }
    }
    resp_put_int(c->out, answer);
}

/* Every key lives for so long, if it does not live longer: those that are not there are set. */
static void let_live(const struct call *c, const struct keys *k)
{
    uint64_t ttl_ms = strtoull(word(c, 4 + k->n), NULL, 10);
    const char *token = word(c, 3 + k->n);
    size_t i;

    for (i = 0; i < k->n; i++) {
        struct model_key *key = *find(c->m, c->s->db, word(c, 3 + i));

        if (!key || key->until_ms < now_ms() + ttl_ms) {
            put(c->m, c->s->db, word(c, 3 + i), token, strlen(token), ttl_ms);
        }
    }
}

static void run_keep(const struct call *c, const struct keys *k)
{
    if (k->taken) {
        resp_put_text(c->out, k->taken);
    } else if (k->ours < k->n) {
        resp_put_int(c->out, 0);
    } else {
        let_live(c, k);
        resp_put_int(c->out, 1);
    }
}

static void run_take(const struct call *c, const struct keys *k)
{
    if (k->taken) {
        resp_put_text(c->out, k->taken);
        return;
    }
    let_live(c, k);
    resp_put_int(c->out, k->ours == k->n ? 2 : 1);
}

static void run_script(const struct call *c, const struct model_script *script)
{
    static void (*const runs[])(const struct call *, const struct keys *) = {
        [SCRIPT_RELEASE] = run_release, [SCRIPT_KEEP] = run_keep, [SCRIPT_TAKE] = run_take};
    struct keys k = look_at_keys(c);

    if (c->request->argc != 4 + k.n + (script->kind != SCRIPT_RELEASE)) {
        resp_put_error(c->out, "ERR this fake knows no script with so many arguments");
        return;
    }
    runs[script->kind](c, &k);
}

static void do_eval(const struct call *c)
{
    if (c->request->argc > 1) {
        run_script(c, add_script(c->m, c->request->argv[1], c->request->len[1]));
    }
}

static void do_evalsha(const struct call *c)
{
    const struct model_script *script = find_script(c->m, word(c, 1));

    if (script) {
        run_script(c, script);
    } else {
        resp_put_error(c->out, "NOSCRIPT No matching script. Please use EVAL.");
    }
}

static void do_time(const struct call *c)
{
    struct timespec ts;
    char number[24];

    clock_gettime(CLOCK_REALTIME, &ts);
    resp_put_array(c->out, 2);
    snprintf(number, sizeof(number), "%lld", (long long)ts.tv_sec);
    resp_put_text(c->out, number);
    snprintf(number, sizeof(number), "%ld", ts.tv_nsec / 1000);
    resp_put_text(c->out, number);
}

struct command {
    const char *name;
    void (*run)(const struct call *c);
    bool for_everybody; /* allowed before the login */
};

static const struct command commands[] = {
    {"AUTH", do_auth, true},      {"HELLO", do_hello, true},    {"PING", do_ping, false},
    {"SELECT", do_select, false}, {"CLIENT", do_client, false}, {"INFO", do_info, false},
    {"SCRIPT", do_script, false}, {"SET", do_set, false},       {"GET", do_get, false},
    {"PTTL", do_pttl, false},     {"EVAL", do_eval, false},     {"EVALSHA", do_evalsha, false},
    {"TIME", do_time, false},
};

void model_run(struct model *m, struct model_session *s, const struct resp_request *request,
               struct evbuffer *out)
{
    struct call c = {m, s, request, out};
    size_t i;

    for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!resp_is(request, 0, commands[i].name)) {
            continue;
        }
        if (m->password && !s->logged_in && !commands[i].for_everybody) {
            resp_put_error(out, "NOAUTH Authentication required.");
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
    m->role = "master";
    m->mode = "standalone";
    new_run_id(m);
}

void model_restart(struct model *m)
{
    model_free(m);
    new_run_id(m);
}

void model_forget_scripts(struct model *m)
{
    while (m->scripts) {
        struct model_script *next = m->scripts->next;

        free(m->scripts);
        m->scripts = next;
    }
}

void model_free(struct model *m)
{
    model_forget_scripts(m);
    while (m->keys) {
        remove_key(&m->keys);
    }
}

const char *model_get(struct model *m, const char *key)
{
    struct model_key *found = *find(m, 0, key);

    return found ? found->value : NULL;
}

void model_set(struct model *m, const char *key, const char *value, uint64_t ttl_ms)
{
    put(m, 0, key, value, strlen(value), ttl_ms);
}

void model_del(struct model *m, const char *key)
{
    struct model_key **at = find(m, 0, key);

    if (*at) {
        remove_key(at);
    }
}

uint64_t model_ttl(struct model *m, const char *key)
{
    const struct model_key *found = *find(m, 0, key);

    return found && found->until_ms != NEVER ? found->until_ms - now_ms() : 0;
}

size_t model_count(struct model *m)
{
    struct model_key *key;
    size_t n = 0;

    find(m, -1, "");
    for (key = m->keys; key; key = key->next) {
        n++;
    }
    return n;
}
