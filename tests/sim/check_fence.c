/* check_fence.c - [S12] A fence grows from each holder of a key to the next, in the order in
 * which they are reported; a majority has its counter at exactly that value while it has the
 * key; and without contention a fence takes one question to each node.
 *
 * Everything is computed a second time from the votes: the fence is the largest counter among
 * the first majority of votes that count. */
#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/process.h"
#include "sim/server.h"
#include "sim/trace.h"

static uint64_t largest_counter(const struct world *w, unsigned claim)
{
    uint64_t keys = w->claims[claim].keys, largest = 0;
    unsigned server, key;

    RLK_MASK_EACH (key, keys) {
        for (server = 0; server < w->o.servers; server++) {
            largest = rlk_time_max(largest, w->servers[server].counters[key]);
        }
    }
    return largest;
}

/* No server has lost its counters since then. */
static bool kept_since(const struct world *w, uint64_t since_us)
{
    unsigned server;

    for (server = 0; server < w->o.servers; server++) {
        const struct server *s = &w->servers[server];

        if (rlk_time_max(s->forgot_us, s->flushed_us) >= since_us) {
            return false;
        }
    }
    return !w->o.forgetful;
}

/* Some servers may take another number than others. */
static bool is_cut(const struct world *w, uint64_t hint)
{
    unsigned server;

    for (server = 0; server < w->o.servers; server++) {
        if (server_hint(w, server, hint) != hint) {
            return true;
        }
    }
    return false;
}

void check_fence_asked(struct world *w, unsigned claim)
{
    struct claim *c = world_claim(w, claim);

    c->asked_us = w->now_us;
    c->ahead = c->fenced && c->hint > largest_counter(w, claim) && !is_cut(w, c->hint);
}

/* The votes may be a majority, also because others decide by theirs from now on. */
void check_fence_recount(struct world *w, unsigned claim)
{
    struct claim *c = world_claim(w, claim);
    uint64_t left = c->granted & c->voted & world_voters(w, c->client).set;
    unsigned node;

    if (c->due == 0 && world_is_majority(w, c->client, left)) {
        RLK_MASK_EACH (node, left) {
            c->due = rlk_time_max(c->due, c->counter[node]);
        }
    }
}

void check_fence_voted(struct world *w, unsigned claim, unsigned node, uint64_t counter)
{
    struct claim *c = world_claim(w, claim);

    c->counter[node] = counter;
    c->voted |= rlk_mask_bit(node);
    check_fence_recount(w, claim);
}

uint64_t check_fence_agreed(const struct world *w, unsigned claim)
{
    const struct claim *c = &w->claims[claim];
    uint64_t left = c->granted & c->voted, agreed = left & c->confirmed;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        agreed |= c->due != 0 && c->counter[node] == c->due ? rlk_mask_bit(node) : 0;
    }
    return agreed;
}

/* The nodes whose votes make it a lock: with a fence, those that agree on it. */
uint64_t check_counted(const struct world *w, unsigned claim)
{
    const struct claim *c = &w->claims[claim];

    return c->fenced ? check_fence_agreed(w, claim) : c->granted;
}

/* Before there is a fence, any node may agree; then only those that can be raised to it. */
uint64_t check_fence_hoped(const struct world *w, unsigned claim)
{
    const struct claim *c = &w->claims[claim];
    uint64_t left = c->granted, hoped = 0;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        hoped |= c->due == 0 || c->counter[node] <= c->due ? rlk_mask_bit(node) : 0;
    }
    return hoped;
}

void check_confirm_sent(struct world *w, unsigned claim, unsigned node, uint64_t fence)
{
    struct claim *c = world_claim(w, claim);
    uint64_t bit = rlk_mask_bit(node);

    w->confirms++;
    if (fence != c->due || !(c->granted & bit) || c->counter[node] >= fence) {
        check_violated(w, "fence",
                       "n%u is asked to confirm %llu for t%08x, and did not vote for less", node,
                       (unsigned long long)fence, claim);
    }
    if (c->confirming & bit) {
        check_violated(w, "work", "n%u is asked twice to confirm the fence of t%08x", node, claim);
    }
    if (world_is_majority(w, c->client, check_fence_agreed(w, claim))) {
        check_violated(w, "work", "n%u is asked to confirm the fence of t%08x, which is agreed on",
                       node, claim);
    }
    if (c->ahead && kept_since(w, c->asked_us) && largest_counter(w, claim) <= c->hint &&
        !is_cut(w, c->hint)) {
        check_violated(w, "work", "t%08x takes a second round trip without contention", claim);
    }
    c->confirming |= bit;
}

void check_confirmed(struct world *w, unsigned claim, unsigned node, bool agrees)
{
    struct claim *c = world_claim(w, claim);
    const struct worker *k = world_worker(w, c->client, c->worker);
    uint64_t bit = rlk_mask_bit(node);

    if (k->claim != claim || !process_may_win(k)) {
        return; /* the lock is already given up or decided */
    }
    if (!agrees && (c->granted & bit)) {
        c->granted &= ~bit;
        c->voted &= ~bit;
        c->doubt |= bit;
    }
    c->confirmed |= agrees ? bit : 0;
}

/* A fence reported to a client that is exposed is no measure for others. */
static void check_grows(struct world *w, unsigned client, unsigned worker, uint64_t fence)
{
    const struct worker *k = world_worker(w, client, worker);
    uint64_t left = w->claims[k->claim].exposed ? 0 : k->keys;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        if (fence <= w->fences[key] && w->o.ordered) {
            check_violated(w, "fence",
                           "k%u: c%u.%u gets fence %llu (t%08x) after somebody got %llu", key,
                           client, worker, (unsigned long long)fence, k->claim,
                           (unsigned long long)w->fences[key]);
        }
        w->fences[key] = rlk_time_max(w->fences[key], fence);
    }
}

void check_fence_reported(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    const struct claim *c = world_claim(w, k->claim);

    if (!k->fenced) {
        return;
    }
    w->fenced++;
    if (c->fence == 0 || c->fence != c->due ||
        !world_is_majority(w, client, check_fence_agreed(w, k->claim))) {
        check_violated(w, "fence", "c%u.%u gets fence %llu, on which only %s agree", client, worker,
                       (unsigned long long)c->fence, trace_nodes(check_fence_agreed(w, k->claim)));
    }
    check_grows(w, client, worker, c->fence);
}
