/* result.c - finds the value that a majority of the masters has, reports it, and copies it. */
#include "lock/result.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/sized.h"
#include "core/holder.h"
#include "lock/leader_text.h"
#include "lock/manager.h"
#include "net/clock.h"
#include "node/claim.h"
#include "node/node.h"

/* Of long values that were cut, only the beginning and the whole length are compared. */
static bool is_same_value(const struct rlk_found *a, const struct rlk_found *b)
{
    return a->len == b->len && a->full_len == b->full_len &&
           memcmp(a->value, b->value, a->len) == 0;
}

/* The first node that has the same value: this serves as a number for the value. */
static uint64_t number_of(struct rlk_found *const *found, unsigned which)
{
    unsigned i = 0;

    while (found[i]->public.reply != REDLOCK_REPLY_HELD || !is_same_value(found[i], found[which])) {
        i++;
    }
    return i;
}

static struct rlk_holder_view view_of(struct rlk_found *const *found, unsigned n_nodes,
                                      const struct rlk_voters *voters)
{
    struct rlk_holder_view v = {.voters = voters};
    unsigned i;

    for (i = 0; i < n_nodes; i++) {
        const struct redlock_query_node *f = &found[i]->public;
        bool held = f->reply == REDLOCK_REPLY_HELD;

        v.answered |= f->reply != REDLOCK_REPLY_NONE ? rlk_mask_bit(i) : 0;
        v.held |= held ? rlk_mask_bit(i) : 0;
        v.value[i] = held ? number_of(found, i) : 0;
        v.end[i] = f->ttl_ms;
        v.counter[i] = f->counter;
    }
    return v;
}

/* Whether a majority has answered. */
static bool find_holder(const struct redlock *rl, struct rlk_found *const *found,
                        struct redlock_query_result *r)
{
    const struct rlk_voters *voters = &rl->voters;
    struct rlk_holder_view view = view_of(found, rl->options.n_nodes, voters);
    struct rlk_holder holder;

    rlk_holder_find(&view, &holder);
    if (holder.nodes) {
        r->token = found[__builtin_ctzll(holder.nodes)]->token;
    }
    r->owner = rlk_claim_owner(r->token);
    r->answered = rlk_mask_count(view.answered & voters->set);
    r->holding = rlk_mask_count(holder.nodes);
    r->reserved_for = rlk_claim_reserved_for(r->token);
    r->held = holder.held && r->reserved_for[0] == '\0';
    r->unknown = holder.unknown;
    r->ttl_ms = holder.end;
    r->fencing_token = holder.fence;
    return rlk_voters_are_enough(voters, view.answered);
}

/* `text` is where the id is kept. */
static void find_leader(struct redlock_query_result *r, struct rlk_leader_text *text)
{
    rlk_leader_text_read(r->owner, text);
    r->leader = text->id;
    r->value = text->value;
    r->priority = text->priority;
}

/* Say why there is no answer, if nothing was noted yet. */
static void explain_found(struct rlk_found *f, struct rlk_node *n, uint64_t now_us)
{
    if (f->public.reply == REDLOCK_REPLY_NONE && f->error[0] == '\0') {
        const char *trouble = rlk_node_explain(n, now_us);

        snprintf(f->error, sizeof(f->error), "%.150s",
                 trouble[0] ? trouble : rlk_trouble_rows[RLK_TROUBLE_UNANSWERED].sentence);
    }
}

static struct redlock_query_node show(const struct rlk_found *f)
{
    struct redlock_query_node shown = f->public;

    shown.size = sizeof(shown);
    shown.token = f->token;
    shown.error = f->public.reply == REDLOCK_REPLY_NONE ? f->error : "";
    return shown;
}

void rlk_result_report(struct redlock *rl, struct rlk_found *const *found, redlock_query_cb *cb,
                       void *arg)
{
    struct redlock_query_node shown[RLK_MAX_NODES];
    const struct redlock_query_node *list[RLK_MAX_NODES];
    struct rlk_leader_text leader;
    struct redlock_query_result r = {.size = sizeof(r), .nodes = list, .token = ""};
    uint64_t now_us = rlk_clock_us(), left = rlk_options_seen(&rl->options);
    bool enough;
    unsigned i;

    RLK_MASK_EACH (i, left) {
        explain_found(found[i], &rl->nodes[i], now_us);
        shown[i] = show(found[i]);
        list[r.n_nodes++] = &shown[i];
        r.waiters = r.waiters < shown[i].waiters ? shown[i].waiters : r.waiters;
    }
    enough = find_holder(rl, found, &r);
    find_leader(&r, &leader);
    cb(&r, enough ? 0 : REDLOCK_ENOQUORUM, arg);
}

/* ---- the copy ----
 *
 * One block of memory: the struct, the nodes, the list of pointers to them, the texts. The texts
 * are counted first, and then copied, by the same functions. */

struct block {
    struct redlock_query_result result;
    struct redlock_query_node nodes[];
};

struct texts {
    char *room; /* NULL: they are only counted */
    size_t size;
};

static void keep(struct texts *t, const char **text)
{
    size_t size = strlen(*text) + 1;

    if (t->room) {
        memcpy(t->room + t->size, *text, size);
        *text = t->room + t->size;
    }
    t->size += size;
}

/* These two name every pointer of their struct except `nodes`. */
_Static_assert(RLK_SIZED_ENDS_WITH(struct redlock_query_result, reserved_for),
               "keep a new pointer");
_Static_assert(RLK_SIZED_ENDS_WITH(struct redlock_query_node, waiters), "keep a new pointer");

static void keep_result(struct texts *t, struct redlock_query_result *r)
{
    keep(t, &r->token);
    keep(t, &r->owner);
    keep(t, &r->leader);
    keep(t, &r->value);
    keep(t, &r->reserved_for);
}

static void keep_node(struct texts *t, struct redlock_query_node *node)
{
    keep(t, &node->token);
    keep(t, &node->error);
}

static size_t size_of_texts(const struct redlock_query_result *r)
{
    struct redlock_query_result result = *r;
    struct texts counted = {0};
    size_t i;

    keep_result(&counted, &result);
    for (i = 0; i < r->n_nodes; i++) {
        struct redlock_query_node node = *r->nodes[i];

        keep_node(&counted, &node);
    }
    return counted.size;
}

struct redlock_query_result *rlk_result_copy(const struct redlock_query_result *r)
{
    size_t n = r->n_nodes, i;
    size_t of_list = n * sizeof(struct redlock_query_node *);
    struct block *b = rlk_alloc(sizeof(*b) + n * sizeof(b->nodes[0]) + of_list + size_of_texts(r));
    const struct redlock_query_node **list;
    struct texts texts = {0};

    if (b == NULL) {
        return NULL;
    }
    list = (const struct redlock_query_node **)(void *)(b->nodes + n);
    texts.room = (char *)(list + n);
    b->result = *r;
    b->result.nodes = list;
    keep_result(&texts, &b->result);
    for (i = 0; i < n; i++) {
        b->nodes[i] = *r->nodes[i];
        keep_node(&texts, &b->nodes[i]);
        list[i] = &b->nodes[i];
    }
    return &b->result;
}
