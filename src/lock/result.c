/* result.c - finds the value that a majority of the masters has, and reports it. */
#include "lock/result.h"

#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/mask.h"
#include "core/validity.h"
#include "net/clock.h"
#include "node/claim.h"
#include "node/node.h"

/* Of long values that were cut, only the beginning and the whole length are compared. */
static bool is_same(const struct rlk_found *a, const struct rlk_found *b)
{
    return a->len == b->len && a->full_len == b->full_len &&
           memcmp(a->value, b->value, a->len) == 0;
}

/* The nodes on which the key has the same value as on node `which`. */
static uint64_t same_value(const struct rlk_found *found, unsigned n_nodes, unsigned which)
{
    uint64_t nodes = 0;
    unsigned i;

    for (i = 0; i < n_nodes; i++) {
        if (found[i].public.answer == REDLOCK_ANSWER_HELD && is_same(&found[i], &found[which])) {
            nodes |= rlk_mask_bit(i);
        }
    }
    return nodes;
}

static void find_holder(const struct rlk_found *found, const uint64_t *ttl_ms,
                        struct redlock_query_result *r)
{
    unsigned n_nodes = (unsigned)r->n_nodes, quorum = rlk_validity_quorum(n_nodes), i;
    unsigned unanswered = n_nodes - (unsigned)r->answered;
    uint64_t best = 0, nodes;

    for (i = 0; i < n_nodes; i++) {
        if (found[i].public.answer != REDLOCK_ANSWER_HELD) {
            continue;
        }
        nodes = same_value(found, n_nodes, i);
        if (rlk_mask_count(nodes) > rlk_mask_count(best)) {
            best = nodes;
            r->token = found[i].token;
        }
    }
    r->owner = rlk_claim_owner(r->token);
    r->holding = rlk_mask_count(best);
    r->held = r->holding >= quorum;
    r->unknown = !r->held && (r->answered < quorum || r->holding + unanswered >= quorum);
    r->ttl_ms = rlk_validity_until(ttl_ms, best, quorum);
}

/* Say why there is no answer, if nothing was noted yet. */
static void explain(struct rlk_found *f, struct rlk_node *n, uint64_t now_us)
{
    if (f->public.answer == REDLOCK_ANSWER_NONE && f->error[0] == '\0') {
        const char *trouble = rlk_node_explain(n, now_us);

        snprintf(f->error, sizeof(f->error), "%.150s",
                 trouble[0] ? trouble : rlk_trouble_plain(RLK_TROUBLE_UNANSWERED));
    }
}

static struct redlock_query_node show(const struct rlk_found *f)
{
    struct redlock_query_node shown = f->public;

    shown.size = sizeof(shown);
    shown.token = f->token;
    shown.error = f->public.answer == REDLOCK_ANSWER_NONE ? f->error : "";
    return shown;
}

void rlk_result_report(struct rlk_found *found, struct rlk_node *nodes, unsigned n_nodes,
                       redlock_query_cb *cb, void *arg)
{
    struct redlock_query_node shown[RLK_MAX_NODES];
    const struct redlock_query_node *list[RLK_MAX_NODES];
    uint64_t ttl_ms[RLK_MAX_NODES], counters[RLK_MAX_NODES];
    struct redlock_query_result r = {
        .size = sizeof(r), .nodes = list, .n_nodes = n_nodes, .token = "", .owner = ""};
    uint64_t now_us = rlk_clock_us();
    unsigned quorum = rlk_validity_quorum(n_nodes), i;

    for (i = 0; i < n_nodes; i++) {
        explain(&found[i], &nodes[i], now_us);
        shown[i] = show(&found[i]);
        list[i] = &shown[i];
        ttl_ms[i] = shown[i].ttl_ms;
        counters[i] = shown[i].counter;
        r.waiters = r.waiters < shown[i].waiters ? shown[i].waiters : r.waiters;
        r.answered += shown[i].answer != REDLOCK_ANSWER_NONE;
    }
    find_holder(found, ttl_ms, &r);
    r.fence = rlk_validity_until(counters, rlk_mask_all(n_nodes), quorum);
    cb(&r, r.answered >= quorum ? 0 : REDLOCK_ENOQUORUM, arg);
}
