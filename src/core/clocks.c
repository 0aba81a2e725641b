#include "core/clocks.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"

/* What the clocks' grain, and a server that looks at its own once a command, may add. */
#define FLOOR_US 2000

/* Over a shorter time drift would be lost in the errors of the two round trips. */
#define BASELINE_US 1000000

/* How much amounts by which clocks got ahead may differ and still be about the same: a tenth of
 * the largest, and this. */
#define AGREE_US 50000

/* Offsets beyond this are as good as it: 36,000 years. Sums of a few are exact. */
#define OFFSET_MAX_US (UINT64_C(1) << 60)

/* What a comparison of two samples shows. */
struct change {
    enum rlk_clock_verdict verdict;
    uint64_t by_us;    /* how much the difference between the clocks has changed */
    uint64_t bound_us; /* up to here it is no wonder */
};

void rlk_clocks_init(struct rlk_clocks *c, unsigned nodes, uint32_t drift_ppm, uint64_t max_ttl_us)
{
    memset(c, 0, sizeof(*c));
    c->nodes = nodes;
    c->drift_ppm = drift_ppm;
    c->forget_us = max_ttl_us;
}

void rlk_clocks_forget(struct rlk_clocks *c, unsigned node)
{
    if (node < c->nodes) {
        memset(&c->clock[node], 0, sizeof(c->clock[node]));
    }
}

/* By how much two clocks may come apart in this time, rounded up. */
static uint64_t drift_us(const struct rlk_clocks *c, uint64_t time_us)
{
    uint64_t whole = time_us / 1000000, part = time_us % 1000000, product;

    if (__builtin_mul_overflow(whole, (uint64_t)c->drift_ppm, &product)) {
        return RLK_NEVER;
    }
    return rlk_time_add(product, (part * c->drift_ppm + 999999) / 1000000);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* How far the difference of two readings can be from the truth. */
static uint64_t bound_us(const struct rlk_clocks *c, const struct rlk_clock *a,
                         const struct rlk_clock *b)
{
    uint64_t errors = rlk_time_add(a->error_us, b->error_us);

    return rlk_time_add(drift_us(c, distance(a->at_us, b->at_us)), rlk_time_add(errors, FLOOR_US));
}

static struct change compare(const struct rlk_clocks *c, const struct rlk_clock *before,
                             const struct rlk_clock *after)
{
    uint64_t ours_us = after->at_us - before->at_us;
    struct change change = {RLK_CLOCK_BEHIND, 0, bound_us(c, before, after)};

    if (after->server_us < before->server_us) {
        change.by_us = rlk_time_add(before->server_us - after->server_us, ours_us);
    } else {
        uint64_t theirs_us = after->server_us - before->server_us;

        change.verdict = theirs_us > ours_us ? RLK_CLOCK_AHEAD : RLK_CLOCK_BEHIND;
        change.by_us = distance(theirs_us, ours_us);
    }
    if (change.by_us <= change.bound_us) {
        change.verdict = RLK_CLOCK_STEADY;
    }
    return change;
}

static bool agree(uint64_t a, uint64_t b)
{
    return distance(a, b) <= rlk_time_max(a, b) / 10 + AGREE_US;
}

/* A standstill that others have shown, and that this node was not asked after until now, is told:
 * leases are shortened already. But for no more than that: what is beyond it is the node's own. */
static struct change excused(struct change change, uint64_t owed_us)
{
    if (change.verdict == RLK_CLOCK_AHEAD && owed_us != 0 && agree(change.by_us, owed_us)) {
        change.by_us = rlk_time_sub(change.by_us, owed_us);
        change.verdict = change.by_us <= change.bound_us ? RLK_CLOCK_STEADY : RLK_CLOCK_AHEAD;
    }
    return change;
}

/* What was unexplained before belongs to it: two standstills in a row show in two amounts to a node
 * that is asked between them, and in one to a node that is not. */
static void remember_ahead(const struct rlk_clocks *c, struct rlk_clock *k, uint64_t by_us,
                           uint64_t now_us)
{
    if (rlk_time_sub(now_us, k->ahead_at_us) > c->forget_us) {
        k->ahead_us = 0;
    }
    k->ahead_us = rlk_time_add(k->ahead_us, by_us);
    k->ahead_at_us = now_us;
}

/* The nodes that got ahead lately by about this amount, and by no more. */
static uint64_t agreeing(const struct rlk_clocks *c, uint64_t most_us, uint64_t now_us)
{
    uint64_t mask = 0;
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        const struct rlk_clock *k = &c->clock[i];
        bool lately = rlk_time_sub(now_us, k->ahead_at_us) <= c->forget_us;

        if (k->ahead_us != 0 && lately && k->ahead_us <= most_us && agree(k->ahead_us, most_us)) {
            mask |= rlk_mask_bit(i);
        }
    }
    return mask;
}

/* The largest amount that a majority agrees on; 0 when there is none. */
static uint64_t standstill_us(const struct rlk_clocks *c, uint64_t now_us, uint64_t *ret_nodes)
{
    uint64_t most_us = 0;
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        uint64_t by_us = c->clock[i].ahead_us;
        uint64_t nodes = agreeing(c, by_us, now_us);

        if (by_us > most_us && rlk_mask_count(nodes) >= rlk_validity_quorum(c->nodes)) {
            most_us = by_us;
            *ret_nodes = nodes;
        }
    }
    return most_us;
}

/* When the request left to whose answer the reading belongs. */
static uint64_t sent_us(const struct rlk_clock *k)
{
    return rlk_time_sub(k->at_us, k->error_us);
}

/* It is explained for those that showed it, and for those that were asked before it only. It was
 * over when the first of the former had answered. */
static void explain(struct rlk_clocks *c, uint64_t nodes, uint64_t by_us)
{
    uint64_t left = nodes;
    unsigned i;

    c->stood_at_us = RLK_NEVER;
    RLK_MASK_EACH (i, left) {
        c->stood_at_us = rlk_time_min(c->stood_at_us, c->clock[i].ahead_at_us);
        c->clock[i].ahead_us = 0;
    }
    for (i = 0; i < c->nodes; i++) {
        struct rlk_clock *k = &c->clock[i];

        if (k->known && !(nodes & rlk_mask_bit(i)) && sent_us(k) <= c->stood_at_us) {
            k->owed_us = rlk_time_add(k->owed_us, by_us);
        }
    }
}

/* The sample is what the next one is compared with, unless that would come too soon; but what it
 * showed, if anything, the next one is not to show again. */
static void rebase(const struct rlk_clocks *c, struct rlk_clock *k, const struct rlk_clock *now,
                   bool showed)
{
    if (showed || sent_us(now) > c->stood_at_us) {
        k->owed_us = 0;
    }
    if (showed || now->at_us - k->at_us >= BASELINE_US) {
        k->at_us = now->at_us;
        k->server_us = now->server_us;
        k->error_us = now->error_us;
    }
}

static struct rlk_clock reading(const struct rlk_clock_sample *sample)
{
    uint64_t trip_us = sample->received_us - sample->sent_us;

    return (struct rlk_clock){.known = true,
                              .at_us = sample->sent_us + trip_us / 2,
                              .server_us = sample->server_us,
                              .error_us = trip_us - trip_us / 2};
}

/* What a sample that got ahead makes of all of them. */
static enum rlk_clock_verdict judge_ahead(struct rlk_clocks *c, uint64_t now_us,
                                          uint64_t *ret_by_us, uint64_t *ret_nodes)
{
    uint64_t nodes, stood_us = standstill_us(c, now_us, &nodes);

    if (stood_us == 0) {
        return RLK_CLOCK_AHEAD;
    }
    explain(c, nodes, stood_us);
    *ret_by_us = stood_us;
    *ret_nodes = nodes;
    return RLK_CLOCK_WE_STOOD;
}

enum rlk_clock_verdict rlk_clocks_sample(struct rlk_clocks *c, unsigned node,
                                         const struct rlk_clock_sample *sample, uint64_t *ret_by_us,
                                         uint64_t *ret_nodes)
{
    struct rlk_clock now, *k;
    struct change change;
    bool showed;

    *ret_by_us = 0;
    *ret_nodes = 0;
    if (node >= c->nodes || sample->received_us < sample->sent_us) {
        return RLK_CLOCK_STEADY;
    }
    k = &c->clock[node];
    now = reading(sample);
    if (!k->known) {
        *k = now;
    }
    if (now.at_us < k->at_us) {
        return RLK_CLOCK_STEADY;
    }
    change = compare(c, k, &now);
    showed = change.verdict != RLK_CLOCK_STEADY;
    change = excused(change, k->owed_us);
    rebase(c, k, &now, showed);
    if (change.verdict == RLK_CLOCK_STEADY) {
        return RLK_CLOCK_STEADY;
    }
    *ret_by_us = change.by_us;
    if (change.verdict == RLK_CLOCK_BEHIND) {
        return RLK_CLOCK_BEHIND;
    }
    remember_ahead(c, k, change.by_us, sample->received_us);
    return judge_ahead(c, sample->received_us, ret_by_us, ret_nodes);
}

/* Server's clock less ours, within what can be reckoned with. */
static int64_t offset(const struct rlk_clock *k)
{
    uint64_t far_us = rlk_time_min(distance(k->server_us, k->at_us), OFFSET_MAX_US);

    return k->server_us > k->at_us ? (int64_t)far_us : -(int64_t)far_us;
}

/* Put it in its place among `n` that are sorted. */
static void insert(int64_t *sorted, unsigned n, int64_t value)
{
    for (; n > 0 && sorted[n - 1] > value; n--) {
        sorted[n] = sorted[n - 1];
    }
    sorted[n] = value;
}

/* The middle one; of an even number, the middle of the middle two. */
static int64_t median(const int64_t *sorted, unsigned n)
{
    int64_t low = sorted[(n - 1) / 2], high = sorted[n / 2];

    return low + (high - low) / 2;
}

bool rlk_clocks_offset(const struct rlk_clocks *c, unsigned node, int64_t *ret_offset_us,
                       uint64_t *ret_error_us)
{
    const struct rlk_clock *own;
    int64_t ahead_us[RLK_MAX_NODES];
    uint64_t error_us = 0;
    unsigned i, n = 0;

    if (node >= c->nodes || !c->clock[node].known) {
        return false;
    }
    own = &c->clock[node];
    for (i = 0; i < c->nodes; i++) {
        const struct rlk_clock *k = &c->clock[i];

        if (k->known) {
            insert(ahead_us, n++, offset(own) - offset(k));
            /* A median is off by no more than the worst of what it is made of. */
            error_us = i == node ? error_us : rlk_time_max(error_us, bound_us(c, own, k));
        }
    }
    *ret_offset_us = median(ahead_us, n);
    *ret_error_us = error_us;
    return true;
}
