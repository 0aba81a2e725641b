/* look.c - the commands of a look, and what becomes of their replies. */
#include "lock/look.h"

#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/mask.h"
#include "lock/manager.h"
#include "lock/trace.h"
#include "node/claim.h"

int rlk_look_claim(struct redlock *rl, const char *key, size_t key_len,
                   struct rlk_claim **ret_claim)
{
    const struct rlk_key prefix = {rl->options.key_prefix, rl->options.key_prefix_len};
    const struct rlk_key only = {key, key_len ? key_len : strlen(key)};
    struct rlk_claim *claim;

    if (only.len == 0 || only.len > REDLOCK_MAX_KEY - prefix.len) {
        return rlk_manager_refuse(
            rl, REDLOCK_EINVAL,
            "the key is %zu bytes long; it must be 1 to %zu (%d with key_prefix)", only.len,
            REDLOCK_MAX_KEY - prefix.len, REDLOCK_MAX_KEY);
    }
    claim = rlk_claim_new(&rl->pool, &prefix, &only, 1, 0, 0);
    if (claim == NULL) {
        return REDLOCK_ENOMEM;
    }
    *ret_claim = claim;
    return 0;
}

/* ---- the commands ---- */

enum when {
    ALWAYS,
    IF_TRACKED,
    IF_WAITERS_COUNT
};

/* The commands, in this order. */
struct part {
    struct rlk_exchange_kind kind;
    enum when when;
    int (*format)(const struct part *p, const struct rlk_claim *key, struct rlk_command *c);
    const char *verb;   /* of format_ask() */
    const char *ending; /* of the name: what stands behind the key */
    void (*take)(struct rlk_look *l, const struct rlk_reply *reply);
    bool last;
};

static int format_caching(const struct part *p, const struct rlk_claim *key, struct rlk_command *c)
{
    static const char *const words[] = {"CLIENT", "CACHING", "YES", NULL};

    (void)p;
    (void)key;
    return rlk_command_words(c, words);
}

static int format_exists(const struct part *p, const struct rlk_claim *key, struct rlk_command *c)
{
    (void)p;
    rlk_command_exist_counted(c, key);
    return 0;
}

static int format_ask(const struct part *p, const struct rlk_claim *key, struct rlk_command *c)
{
    rlk_command_ask(c, p->verb, key, p->ending);
    return 0;
}

/* ---- the replies ---- */

/* The reply to CLIENT CACHING YES, or to the EXISTS after it: the server tracks what that reads. */
static void take_tracked(struct rlk_look *l, const struct rlk_reply *reply)
{
    l->tracked = l->tracked && reply->type != RLK_REPLY_ERROR;
}

static void take_counter(struct rlk_look *l, const struct rlk_reply *reply)
{
    rlk_found_take_counter(&l->found, reply);
}

static void take_waiters(struct rlk_look *l, const struct rlk_reply *reply)
{
    rlk_found_take_waiters(&l->found, reply);
}

static void take_value(struct rlk_look *l, const struct rlk_reply *reply)
{
    rlk_found_take_value(&l->found, reply);
}

static void take_ttl(struct rlk_look *l, const struct rlk_reply *reply)
{
    rlk_found_take_ttl(&l->found, reply);
}

static void trace_found(const struct rlk_look *l, const struct rlk_node *n)
{
    static const enum redlock_trace_reply answers[] = {[REDLOCK_REPLY_NONE] = REDLOCK_SAYS_NOTHING,
                                                       [REDLOCK_REPLY_FREE] = REDLOCK_SAYS_GONE,
                                                       [REDLOCK_REPLY_HELD] = REDLOCK_SAYS_YES};

    RLK_TRACE_CLAIM(n, l->user->key, .kind = REDLOCK_TRACE_REPLIED,
                    .question = REDLOCK_QUESTION_HOLDER, .reply = answers[l->found.public.reply]);
}

static void finish_look(struct rlk_look *l, struct rlk_node *n, uint64_t now_us)
{
    if (l->is_open) {
        l->is_open = false;
        l->user->done(l->user, n, now_us);
    }
}

static void on_look_reply(struct rlk_node *n, const struct rlk_exchange *r,
                          const struct rlk_reply *reply, uint64_t now_us)
{
    const struct part *p = (const void *)r->kind; /* `kind` is the first member */
    struct rlk_look *l = r->context;

    if (l->is_open) {
        p->take(l, reply);
    }
    if (p->last) {
        trace_found(l, n);
        finish_look(l, n, now_us);
    }
}

static void on_look_broken(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us)
{
    struct rlk_look *l = r->context;

    if (l->is_open) {
        rlk_found_lose(&l->found);
    }
    finish_look(l, n, now_us);
}

static void ref_look(void *look)
{
    ((struct rlk_look *)look)->user->refs++;
}

static void unref_look(void *look)
{
    rlk_look_unref(((struct rlk_look *)look)->user);
}

#define KIND                                                                                       \
    {                                                                                              \
        on_look_reply, on_look_broken, ref_look, unref_look, true                                  \
    }

static const struct part parts[] = {
    {KIND, IF_TRACKED, format_caching, NULL, NULL, take_tracked, false},
    {KIND, IF_TRACKED, format_exists, NULL, NULL, take_tracked, false},
    {KIND, ALWAYS, format_ask, "GET", RLK_COMMAND_COUNTER, take_counter, false},
    {KIND, IF_WAITERS_COUNT, format_ask, "ZCARD", RLK_COMMAND_WAITING, take_waiters, false},
    {KIND, ALWAYS, format_ask, "GET", "", take_value, false},
    {KIND, ALWAYS, format_ask, "PTTL", "", take_ttl, true},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* ---- sending ---- */

static bool is_due(const struct rlk_look *l, const struct part *p)
{
    return p->when == ALWAYS || (p->when == IF_TRACKED ? l->tracked : l->user->counts_waiters);
}

static bool send_part(struct rlk_look *l, struct rlk_node *n, const struct part *p, uint64_t now_us)
{
    struct rlk_command c;
    bool sent = p->format(p, l->user->key, &c) == 0 && rlk_node_send(n, &c, &p->kind, l, now_us);

    rlk_command_end(&c);
    return sent;
}

bool rlk_look_begin(struct rlk_look *l, struct rlk_node *n, bool tracks, uint64_t now_us)
{
    size_t i;

    rlk_found_forget(&l->found);
    memset(&l->found, 0, sizeof(l->found));
    l->tracked = tracks;
    l->is_open = true;
    for (i = 0; i < PARTS && l->is_open; i++) {
        l->is_open = !is_due(l, &parts[i]) || send_part(l, n, &parts[i], now_us);
    }
    if (l->is_open) {
        RLK_TRACE_CLAIM(n, l->user->key, .kind = REDLOCK_TRACE_SENT,
                        .question = REDLOCK_QUESTION_HOLDER, .nodes = rlk_mask_bit(n->index));
    }
    return l->is_open;
}

void rlk_look_abandon(struct rlk_look *l)
{
    l->is_open = false;
}

void rlk_look_unref(struct rlk_look_user *user)
{
    if (--user->refs == 0) {
        user->free(user);
    }
}
