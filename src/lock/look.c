/* look.c - the commands of a look, and what becomes of their replies. */
#include "lock/look.h"

#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/mask.h"
#include "lock/manager.h"
#include "lock/trace.h"
#include "node/claim.h"
#include "node/node.h"
#include "node/talk.h"

int rlk_look_claim(struct redlock *rl, const char *key, size_t key_len, size_t token_len,
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
    claim = rlk_claim_new(&rl->claims, &prefix, &only, 1, token_len, 0);
    if (claim == NULL) {
        return REDLOCK_ENOMEM;
    }
    *ret_claim = claim;
    return 0;
}

/* ---- the commands ---- */

static const struct rlk_look *look_of(const void *context)
{
    return context;
}

static const struct rlk_claim *key_of(const struct rlk_say *say)
{
    return look_of(say->context)->user->key;
}

static bool begins_tracking(const struct rlk_say *say)
{
    return look_of(say->context)->tracked && look_of(say->context)->part != RLK_LOOK_REST;
}

/* One command reads all that is to be tracked: CLIENT CACHING is for the command behind it. */
static bool asks_whether_exists(const struct rlk_say *say)
{
    return look_of(say->context)->part == RLK_LOOK_EXISTS ||
           (begins_tracking(say) && look_of(say->context)->part == RLK_LOOK_ALL);
}

static bool asks_for_value_alone(const struct rlk_say *say)
{
    return look_of(say->context)->part == RLK_LOOK_VALUE;
}

static bool asks_for_all(const struct rlk_say *say)
{
    return look_of(say->context)->part == RLK_LOOK_ALL ||
           look_of(say->context)->part == RLK_LOOK_REST;
}

static bool counts_waiters(const struct rlk_say *say)
{
    return look_of(say->context)->user->counts_waiters;
}

static bool format_exists(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_exist_counted(c, key_of(say));
    return true;
}

static bool format_counter(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_ask(c, "GET", key_of(say), RLK_COMMAND_COUNTER);
    return true;
}

static bool format_waiters(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_ask(c, "ZCARD", key_of(say), RLK_COMMAND_WAITING);
    return true;
}

static bool format_value(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_ask(c, "GET", key_of(say), "");
    return true;
}

static bool format_ttl(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_ask(c, "PTTL", key_of(say), "");
    return true;
}

/* ---- the replies ---- */

/* The reply to CLIENT CACHING YES, or to the command after it: the server tracks what that reads.
 */
static void take_tracked(const struct rlk_heard *h)
{
    struct rlk_look *l = h->context;

    l->tracked = l->tracked && h->reply->type != RLK_REPLY_ERROR;
}

/* 0: there is neither a key nor a counter. */
static void take_exists(const struct rlk_heard *h)
{
    static const struct rlk_reply nil = {.type = RLK_REPLY_NIL};
    struct rlk_look *l = h->context;

    take_tracked(h);
    if (l->part == RLK_LOOK_EXISTS && h->reply->type == RLK_REPLY_INTEGER &&
        h->reply->integer == 0) {
        rlk_found_take_value(&l->found, &nil);
    }
}

static void take_counter(const struct rlk_heard *h)
{
    struct rlk_look *l = h->context;

    rlk_found_take_counter(&l->found, h->reply);
}

static void take_waiters(const struct rlk_heard *h)
{
    struct rlk_look *l = h->context;

    rlk_found_take_waiters(&l->found, h->reply);
}

static void take_value(const struct rlk_heard *h)
{
    struct rlk_look *l = h->context;

    rlk_found_take_value(&l->found, h->reply);
}

static void take_value_alone(const struct rlk_heard *h)
{
    take_tracked(h);
    take_value(h);
}

static void take_ttl(const struct rlk_heard *h)
{
    struct rlk_look *l = h->context;

    rlk_found_take_ttl(&l->found, h->reply);
}

static void trace_found(const struct rlk_look *l, const struct rlk_node *n)
{
    static const enum redlock_trace_reply answers[] = {[REDLOCK_REPLY_NONE] = REDLOCK_SAYS_NOTHING,
                                                       [REDLOCK_REPLY_FREE] = REDLOCK_SAYS_GONE,
                                                       [REDLOCK_REPLY_HELD] = REDLOCK_SAYS_YES};

    RLK_TRACE_CLAIM(n, l->user->key, .kind = REDLOCK_TRACE_REPLIED,
                    .question = REDLOCK_QUESTION_HOLDER, .reply = answers[l->found.public.reply]);
}

static bool ask_for_rest(struct rlk_look *l, struct rlk_node *n, uint64_t now_us);

static bool is_known(const struct rlk_look *l)
{
    const struct rlk_found *f = &l->found, *k = l->known;

    return f->public.reply == REDLOCK_REPLY_HELD && k->public.reply == REDLOCK_REPLY_HELD &&
           f->full_len == k->full_len && f->len == k->len &&
           memcmp(f->value, k->value, f->len) == 0;
}

/* What the part that was asked first tells about the rest. */
static bool is_complete(struct rlk_look *l)
{
    bool is_free = l->found.public.reply == REDLOCK_REPLY_FREE;

    if (l->part == RLK_LOOK_VALUE && (is_free || is_known(l))) {
        l->found.public.counter = l->known->public.counter;
        l->found.public.ttl_ms = is_free ? 0 : l->known->public.ttl_ms;
        return true;
    }
    return is_free || l->part == RLK_LOOK_ALL || l->part == RLK_LOOK_REST;
}

static void on_look_done(const struct rlk_heard *h)
{
    struct rlk_look *l = h->context;

    if (!is_complete(l) && ask_for_rest(l, h->node, h->now_us)) {
        return;
    }
    trace_found(l, h->node);
    l->user->done(l->user, h->node, h->now_us);
}

static void on_look_broken(const struct rlk_heard *h)
{
    struct rlk_look *l = h->context;

    rlk_found_lose(&l->found);
    l->user->done(l->user, h->node, h->now_us);
}

static void end_look(void *look)
{
    rlk_look_unref(((struct rlk_look *)look)->user);
}

static const struct rlk_talk look_talk = {
    RLK_LINES({.words = RLK_WORDS("CLIENT", "CACHING", "YES"),
               .when = begins_tracking,
               .take = take_tracked},
              {.format = format_exists, .when = asks_whether_exists, .take = take_exists},
              {.format = format_value, .when = asks_for_value_alone, .take = take_value_alone},
              {.format = format_counter, .when = asks_for_all, .take = take_counter},
              {.format = format_waiters, .when = counts_waiters, .take = take_waiters},
              {.format = format_value, .when = asks_for_all, .take = take_value},
              {.format = format_ttl, .when = asks_for_all, .take = take_ttl}),
    .free = end_look, .done = on_look_done, .broken = on_look_broken};

static bool ask_for_rest(struct rlk_look *l, struct rlk_node *n, uint64_t now_us)
{
    l->part = RLK_LOOK_REST;
    return rlk_talk_begin(&n->link, &look_talk, l, now_us);
}

/* The user may look again while it is told the result: until that call returns, the look before has
 * a reference, too. Both together stand for one reference to the user. */
bool rlk_look_begin(struct rlk_look *l, struct rlk_node *n, bool tracks, enum rlk_look_part part,
                    uint64_t now_us)
{
    bool is_first = l->refs == 0;

    rlk_found_clear(&l->found);
    memset(&l->found, 0, sizeof(l->found));
    l->tracked = tracks;
    l->part = part;
    if (!rlk_talk_begin(&n->link, &look_talk, l, now_us)) {
        return false;
    }
    l->user->refs += is_first;
    RLK_TRACE_CLAIM(n, l->user->key, .kind = REDLOCK_TRACE_SENT,
                    .question = REDLOCK_QUESTION_HOLDER, .nodes = rlk_mask_bit(n->index));
    return true;
}

void rlk_look_abandon(struct rlk_look *l, struct rlk_node *n)
{
    rlk_talk_abandon(&n->link, l);
}

void rlk_look_unref(struct rlk_look_user *user)
{
    if (--user->refs == 0) {
        user->free(user);
    }
}
