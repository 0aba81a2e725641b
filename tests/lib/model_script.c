/* lib/model_script.c - the scripts of a Redlock client, carried out without Lua. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/model_inside.h"
#include "lib/sha1.h"

#define COUNTER ":redlock-fence"
#define COUNTER_TTL_MS 691200000
#define A_WEEK_MS 604800000
#define COUNTER_LIMIT (UINT64_C(1) << 53)
#define HINT_LIMIT (COUNTER_LIMIT / 2)
#define MOST_KEYS 16 /* of one lock */

enum model_script_kind {
    MODEL_SCRIPT_RELEASE = 0,
    MODEL_SCRIPT_KEEP,
    MODEL_SCRIPT_KEEP_ALL,
    MODEL_SCRIPT_SWAP,
    MODEL_SCRIPT_TAKE,
    MODEL_SCRIPT_VOTE,
    MODEL_SCRIPT_ADOPT,
    MODEL_SCRIPT_CONFIRM,
    MODEL_SCRIPT_MARK,
    MODEL_SCRIPT_WAIT,
    MODEL_SCRIPT_LEAVE,
    MODEL_SCRIPT_UPKEEP,
    MODEL_SCRIPT_UNKNOWN
};

struct model_script {
    struct model_script *next;
    char sha[41];
    enum model_script_kind kind;
    bool is_random; /* contains a call of PTTL or TIME, and does not ask for its effects to be
                       replicated */
};

static bool has(const char *text, size_t len, const char *word)
{
    return memmem(text, len, word, strlen(word)) != NULL;
}

static enum model_script_kind kind_of(const char *text, size_t len)
{
    /* The first of the words that the text contains. */
    static const struct {
        const char *word;
        enum model_script_kind kind;
    } signs[] = {{"non deterministic", MODEL_SCRIPT_UPKEEP},
                 {"'DEL'", MODEL_SCRIPT_RELEASE},
                 {"'ZADD'", MODEL_SCRIPT_WAIT},
                 {"'ZREM'", MODEL_SCRIPT_LEAVE},
                 {"'GT'", MODEL_SCRIPT_KEEP_ALL},
                 {"#ours < #KEYS then\nreturn other or 0", MODEL_SCRIPT_ADOPT},
                 {"'PEXPIRE'", MODEL_SCRIPT_KEEP},
                 {"error_reply", MODEL_SCRIPT_VOTE},
                 {"'TIME'", MODEL_SCRIPT_MARK},
                 {"'PX', left", MODEL_SCRIPT_SWAP},
                 {"'PTTL'", MODEL_SCRIPT_TAKE},
                 {COUNTER, MODEL_SCRIPT_CONFIRM},
                 {"'SET'", MODEL_SCRIPT_TAKE}};
    size_t i;

    for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (has(text, len, signs[i].word)) {
            return signs[i].kind;
        }
    }
    return MODEL_SCRIPT_UNKNOWN;
}

/* ---- those that were loaded ---- */

static struct model_script *find_script(struct model *m, const char *sha)
{
    struct model_script *script = m->scripts;

    while (script && strcasecmp(script->sha, sha) != 0) {
        script = script->next;
    }
    return script;
}

static bool is_random(const char *text, size_t len)
{
    return (has(text, len, "'PTTL'") || has(text, len, "'TIME'")) &&
           !has(text, len, "redis.replicate_commands()");
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
        script->is_random = is_random(text, len);
        script->next = m->scripts;
        m->scripts = script;
    }
    return script;
}

void model_forget_scripts(struct model *m)
{
    while (m->scripts) {
        struct model_script *next = m->scripts->next;

        free(m->scripts);
        m->scripts = next;
    }
}

/* ---- their keys ---- */

static struct model_key **key_at(const struct model_call *c, size_t i)
{
    return model_find(c->m, c->s->db, model_word(c, 3 + i));
}

static const char *argument(const struct model_call *c, const struct model_keys *k, size_t i)
{
    return model_word(c, 2 + k->n + i);
}

static uint64_t number(const struct model_call *c, const struct model_keys *k, size_t i)
{
    return strtoull(argument(c, k, i), NULL, 10);
}

static struct model_keys look_at_keys(const struct model_call *c)
{
    struct model_keys k = {.n = strtoul(model_word(c, 2), NULL, 10)};
    const char *token = argument(c, &k, 1);
    size_t i;

    k.n_args = c->request->argc > 3 + k.n ? c->request->argc - 3 - k.n : 0;
    for (i = 0; i < k.n; i++) {
        const struct model_key *key = *key_at(c, i);

        k.ours += key && strcmp(key->value, token) == 0;
        if (key && strcmp(key->value, token) != 0 && !k.taken) {
            k.taken = key->value;
        }
    }
    return k;
}

/* Every key gets this ttl, unless it has a longer one. Keys that are missing are set. */
static void let_live(const struct model_call *c, const struct model_keys *k)
{
    const char *token = argument(c, k, 1);
    uint64_t ttl_ms = number(c, k, 2);
    size_t i;

    for (i = 0; i < k->n; i++) {
        struct model_key *key = *key_at(c, i);

        if (!key || key->until_ms < model_now_us(c->m) / 1000 + ttl_ms) {
            model_put(c->m, c->s->db, model_word(c, 3 + i), token, strlen(token), ttl_ms);
        }
    }
}

/* ---- their counters ---- */

static void counter_name(const struct model_call *c, size_t i, char out[2048])
{
    snprintf(out, 2048, "%s%s", model_word(c, 3 + i), COUNTER);
}

static uint64_t counter(const struct model_call *c, size_t i)
{
    const struct model_key *key;
    char name[2048];

    counter_name(c, i, name);
    key = *model_find(c->m, c->s->db, name);
    return key ? strtoull(key->value, NULL, 10) : 0;
}

static void set_counter(const struct model_call *c, size_t i, uint64_t value)
{
    char name[2048], text[24];

    counter_name(c, i, name);
    snprintf(text, sizeof(text), "%" PRIu64, value);
    model_put(c->m, c->s->db, name, text, strlen(text), COUNTER_TTL_MS);
}

/* One that is not lower is set again when it ends within a week, and a larger one to itself. */
static void raise_counter(const struct model_call *c, size_t i, uint64_t fence)
{
    char name[2048];

    counter_name(c, i, name);
    if (counter(c, i) < fence) {
        set_counter(c, i, fence);
    } else if (model_pttl(c->m, *model_find(c->m, c->s->db, name)) < A_WEEK_MS) {
        set_counter(c, i, counter(c, i));
    }
}

/* With a third argument the counters become at least that. */
static void raise_counters(const struct model_call *c, const struct model_keys *k)
{
    size_t i;

    for (i = 0; k->n_args > 2 && i < k->n; i++) {
        raise_counter(c, i, number(c, k, 3));
    }
}

/* ---- what they do ---- */

/* 2 or 1: all deleted; 0: some were missing; -1: some have another value. With argument 2 the first
 * who waits for a key that is free now is woken: 2, if somebody was. */
static void run_release(const struct model_call *c, const struct model_keys *k)
{
    long long answer = k->taken ? -1 : k->ours == k->n;
    bool woken = false;
    size_t i;

    for (i = 0; i < k->n; i++) {
        struct model_key **at = key_at(c, i);

        if (*at && strcmp((*at)->value, argument(c, k, 1)) == 0) {
            model_remove(c->m, at);
        }
        if (k->n_args > 1) {
            woken |= model_leave(c, model_word(c, 3 + i), argument(c, k, 2));
        }
    }
    resp_put_int(c->out, answer == 1 && woken ? 2 : answer);
}

static void run_keep(const struct model_call *c, const struct model_keys *k)
{
    if (k->taken) {
        resp_put_text(c->out, k->taken);
    } else if (k->ours < k->n) {
        resp_put_int(c->out, 0);
    } else {
        let_live(c, k);
        raise_counters(c, k);
        resp_put_int(c->out, 1);
    }
}

/* What run_keep() would be called with for one lock of the call: each words of KEYS, and of ARGV
 * its token, the ttl, and its fence if there is one. */
static void pick_lock(const struct model_call *c, const struct model_keys *k, size_t lock,
                      struct resp_request *ret_one)
{
    size_t each = (size_t)number(c, k, 2), locks = k->n / each, i;
    bool fenced = k->n_args > locks + 2;

    ret_one->argc = 0;
    ret_one->argv[ret_one->argc++] = c->request->argv[0];
    ret_one->argv[ret_one->argc++] = c->request->argv[1];
    ret_one->argv[ret_one->argc++] = c->request->argv[3 + k->n + 1]; /* how many keys */
    for (i = 0; i < each; i++) {
        ret_one->argv[ret_one->argc++] = c->request->argv[3 + lock * each + i];
    }
    ret_one->argv[ret_one->argc++] = c->request->argv[3 + k->n + 2 + lock];
    ret_one->argv[ret_one->argc++] = c->request->argv[3 + k->n];
    if (fenced) {
        ret_one->argv[ret_one->argc++] = c->request->argv[3 + k->n + 2 + locks + lock];
    }
}

static bool keep_one(const struct model_call *c, struct resp_request *one)
{
    struct model_call part = {c->m, c->s, one, c->out};
    struct model_keys k = look_at_keys(&part);
    bool ours = !k.taken && k.ours == k.n;

    if (ours) {
        let_live(&part, &k);
        raise_counters(&part, &k);
    }
    return ours;
}

static void run_keep_all(const struct model_call *c, const struct model_keys *k)
{
    char *words[MOST_KEYS + 6], answers[256];
    struct resp_request one = {.argv = words};
    size_t locks = k->n / (size_t)number(c, k, 2), i;

    for (i = 0; i < locks; i++) {
        pick_lock(c, k, i, &one);
        answers[i] = keep_one(c, &one) ? '1' : '0';
    }
    answers[locks] = '\0';
    resp_put_text(c->out, answers);
}

static void run_take(const struct model_call *c, const struct model_keys *k)
{
    if (k->taken) {
        resp_put_text(c->out, k->taken);
        return;
    }
    let_live(c, k);
    raise_counters(c, k);
    resp_put_int(c->out, k->ours == k->n ? 2 : 1);
}

/* Argument 1 takes the place of argument 2, and the ttl stays. */
static void run_swap(const struct model_call *c, const struct model_keys *k)
{
    const struct model_key *key = *key_at(c, 0);
    uint64_t now_ms = model_now_us(c->m) / 1000, left_ms;

    if (!key || strcmp(key->value, argument(c, k, 2)) != 0) {
        if (key) {
            resp_put_text(c->out, key->value);
        } else {
            resp_put_int(c->out, 0);
        }
        return;
    }
    left_ms = key->until_ms > now_ms ? key->until_ms - now_ms : 0;
    if (key->until_ms == MODEL_NEVER || left_ms == 0) {
        resp_put_int(c->out, key->until_ms == MODEL_NEVER ? -1 : 0);
        return;
    }
    model_put(c->m, c->s->db, model_word(c, 3), argument(c, k, 1), strlen(argument(c, k, 1)),
              left_ms);
    resp_put_int(c->out, (long long)left_ms);
}

/* Whether the key that argument 4 names begins as argument 5 says. */
static bool is_as_expected(const struct model_call *c, const struct model_keys *k)
{
    const char *start = argument(c, k, 5);
    const struct model_key *key = *model_find(c->m, c->s->db, argument(c, k, 4));

    return *start == '\0' || (key && strncmp(key->value, start, strlen(start)) == 0);
}

/* The hint, at most a minute ahead of this master's clock, in whole seconds. */
static uint64_t hint(const struct model_call *c, const struct model_keys *k)
{
    uint64_t most = (model_now_us(c->m) / 1000000 + 60) * 1000000, wanted = number(c, k, 3);

    most = most < HINT_LIMIT ? most : HINT_LIMIT - 1;
    return wanted < most ? wanted : most;
}

static uint64_t next_fence(const struct model_call *c, const struct model_keys *k)
{
    uint64_t fence = hint(c, k);
    size_t i;

    for (i = 0; i < k->n; i++) {
        fence = counter(c, i) >= fence ? counter(c, i) + 1 : fence;
    }
    return fence;
}

/* {counter, as expected}: the keys live on, or are set, and have that counter. */
static void grant(const struct model_call *c, const struct model_keys *k)
{
    uint64_t fence = next_fence(c, k);
    size_t i;

    if (fence >= COUNTER_LIMIT) {
        resp_put_error(c->out, "FENCE the counter has no numbers left: delete "
                               "KEY:redlock-fence when nothing remembers its fences");
        return;
    }
    resp_put_array(c->out, 2);
    resp_put_int(c->out, (long long)fence);
    resp_put_int(c->out, is_as_expected(c, k));
    let_live(c, k);
    for (i = 0; i < k->n; i++) {
        set_counter(c, i, fence);
    }
}

static void run_vote(const struct model_call *c, const struct model_keys *k)
{
    if (k->taken) {
        resp_put_text(c->out, k->taken);
    } else if (k->ours > 0) {
        resp_put_int(c->out, 2);
    } else {
        grant(c, k);
    }
}

static void run_adopt(const struct model_call *c, const struct model_keys *k)
{
    if (k->taken) {
        resp_put_text(c->out, k->taken);
    } else if (k->ours < k->n) {
        resp_put_int(c->out, 0);
    } else {
        grant(c, k);
    }
}

static void run_confirm(const struct model_call *c, const struct model_keys *k)
{
    uint64_t fence = number(c, k, 2);
    bool agrees = k->ours == k->n;
    size_t i;

    for (i = 0; i < k->n; i++) {
        agrees = agrees && counter(c, i) <= fence;
    }
    for (i = 0; agrees && i < k->n; i++) {
        set_counter(c, i, fence);
    }
    resp_put_int(c->out, agrees);
}

/* The incarnation key: "run mark born". Its value afterwards: data that are kept (argument 3, or
 * the same run) get no older, begin at least when argument 4 says, and never later than now. */
static const char *mark(const struct model_call *c, const struct model_keys *k, uint64_t now_us)
{
    const struct model_key *key = *key_at(c, 0);
    const char *run = argument(c, k, 1);
    char value[256], old_run[64] = "", old_mark[32] = "";
    uint64_t born_us = 0;
    bool known = key && sscanf(key->value, "%63s %31s %" SCNu64, old_run, old_mark, &born_us) == 3;
    bool same = known && strcmp(old_run, run) == 0;

    if (same || (known && strcmp(argument(c, k, 3), "1") == 0)) {
        born_us = born_us > number(c, k, 4) ? born_us : number(c, k, 4);
        born_us = born_us < now_us ? born_us : now_us;
    } else {
        born_us = now_us;
    }
    snprintf(value, sizeof(value), "%s %s %" PRIu64, run, known ? old_mark : argument(c, k, 2),
             born_us);
    model_put(c->m, c->s->db, model_word(c, 3), value, strlen(value), 0);
    return (*key_at(c, 0))->value;
}

static void run_mark(const struct model_call *c, const struct model_keys *k)
{
    uint64_t now_us = model_now_us(c->m);
    char now[24];

    snprintf(now, sizeof(now), "%" PRIu64, now_us);
    resp_put_array(c->out, 2);
    resp_put_text(c->out, mark(c, k, now_us));
    resp_put_text(c->out, now);
}

static void run_upkeep(const struct model_call *c, const struct model_keys *k)
{
    (void)k;
    resp_put_int(c->out, 0);
}

static void run_script(const struct model_call *c, const struct model_script *script)
{
    static const struct {
        void (*run)(const struct model_call *, const struct model_keys *);
        size_t least, most; /* arguments */
    } runs[] = {[MODEL_SCRIPT_RELEASE] = {run_release, 1, 2},
                [MODEL_SCRIPT_KEEP] = {run_keep, 2, 3},
                [MODEL_SCRIPT_KEEP_ALL] = {run_keep_all, 3, SIZE_MAX},
                [MODEL_SCRIPT_SWAP] = {run_swap, 2, 2},
                [MODEL_SCRIPT_TAKE] = {run_take, 2, 3},
                [MODEL_SCRIPT_VOTE] = {run_vote, 5, 5},
                [MODEL_SCRIPT_ADOPT] = {run_adopt, 5, 5},
                [MODEL_SCRIPT_CONFIRM] = {run_confirm, 2, 2},
                [MODEL_SCRIPT_MARK] = {run_mark, 4, 4},
                [MODEL_SCRIPT_WAIT] = {model_run_wait, 4, 4},
                [MODEL_SCRIPT_LEAVE] = {model_run_leave, 1, 1},
                [MODEL_SCRIPT_UPKEEP] = {run_upkeep, 0, 0}};
    struct model_keys k;

    if (script->kind == MODEL_SCRIPT_UNKNOWN) {
        resp_put_error(c->out, "ERR this fake knows no such script");
        return;
    }
    k = look_at_keys(c);
    if (k.n_args < runs[script->kind].least || k.n_args > runs[script->kind].most) {
        resp_put_error(c->out, "ERR this fake knows no script with so many arguments");
        return;
    }
    if (c->m->whole_scripts && script->is_random) {
        resp_put_error(c->out, "ERR Error running script: Write commands not allowed after non "
                               "deterministic commands.");
        return;
    }
    runs[script->kind].run(c, &k);
}

/* ---- the commands ---- */

void model_script_load(const struct model_call *c)
{
    if (!resp_is(c->request, 1, "LOAD") || c->request->argc != 3) {
        resp_put_error(c->out, "ERR unknown subcommand. Try SCRIPT HELP.");
        return;
    }
    resp_put_text(c->out, add_script(c->m, c->request->argv[2], c->request->len[2])->sha);
}

void model_script_eval(const struct model_call *c)
{
    if (c->request->argc > 1) {
        run_script(c, add_script(c->m, c->request->argv[1], c->request->len[1]));
    }
}

void model_script_evalsha(const struct model_call *c)
{
    const struct model_script *script = find_script(c->m, model_word(c, 1));

    if (script) {
        run_script(c, script);
    } else {
        resp_put_error(c->out, "NOSCRIPT No matching script. Please use EVAL.");
    }
}
