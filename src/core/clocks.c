/* clocks.c - comparing each time that a master tells with its own before, and with the others'. */
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
static uint64_t bound_us(const struct rlk_clocks *c, const struct rlk_reading *a,
                         const struct rlk_reading *b)
{
    uint64_t errors = rlk_time_add(a->error_us, b->error_us);
    uint64_t between_us = rlk_time_add(distance(a->at_us, b->at_us), errors);

    return rlk_time_add(drift_us(c, between_us), rlk_time_add(errors, FLOOR_US));
}

static struct change compare(const struct rlk_clocks *c, const struct rlk_reading *before,
                             const struct rlk_reading *after)
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

/* A suspension that others have shown, and that this node was not asked after until now, is told:
 * leases are shortened already. But for no more than that: what is beyond it is the node's own. */
static struct change excused(struct change change, uint64_t known_suspension_us)
{
    if (change.verdict == RLK_CLOCK_AHEAD && known_suspension_us != 0 &&
        agree(change.by_us, known_suspension_us)) {
        change.by_us = rlk_time_sub(change.by_us, known_suspension_us);
        change.verdict = change.by_us <= change.bound_us ? RLK_CLOCK_STEADY : RLK_CLOCK_AHEAD;
    }
    return change;
}

static bool is_unexplained(const struct rlk_clocks *c, const struct rlk_clock *k, uint64_t now_us)
{
    return k->ahead_us != 0 && rlk_time_sub(now_us, k->latest.to_us) <= c->forget_us;
}

/* What was unexplained before belongs to it: two suspensions in a row show in two amounts to a node
 * that is asked between them, and in one to a node that is not. */
static void remember_ahead(const struct rlk_clocks *c, struct rlk_clock *k, uint64_t by_us,
                           const struct rlk_span *when)
{
    if (!is_unexplained(c, k, when->to_us)) {
        k->ahead_us = 0;
        k->first = *when;
    }
    k->ahead_us = rlk_time_add(k->ahead_us, by_us);
    k->latest = *when;
    k->latest_us = by_us;
    k->witnesses = 0;
}

/* The nodes that got ahead lately by about this amount, and by no more. */
static uint64_t agreeing(const struct rlk_clocks *c, uint64_t most_us, uint64_t now_us)
{
    uint64_t mask = 0;
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        const struct rlk_clock *k = &c->clock[i];

        if (is_unexplained(c, k, now_us) && k->ahead_us <= most_us && agree(k->ahead_us, most_us)) {
            mask |= rlk_mask_bit(i);
        }
    }
    return mask;
}

static bool is_majority(const struct rlk_clocks *c, uint64_t nodes)
{
    return rlk_mask_count(nodes) >= rlk_validity_quorum(c->nodes);
}

/* Those of the nodes whose first part, or last part, may have happened at this instant. One that
 * was steady after it, or before it, is not among them. */
static uint64_t possibly_moved_at(const struct rlk_clocks *c, uint64_t nodes, bool latest,
                                  uint64_t at_us)
{
    uint64_t mask = 0;
    unsigned i;

    RLK_MASK_EACH (i, nodes) {
        const struct rlk_span *span = latest ? &c->clock[i].latest : &c->clock[i].first;

        if (span->from_us <= at_us && at_us <= span->to_us) {
            mask |= rlk_mask_bit(i);
        }
    }
    return mask;
}

/* The most of the nodes, this one included, that have an instant in common for their first parts,
 * and one for their last: whoever has any has those at which the last of each begins. */
static uint64_t largest_simultaneous(const struct rlk_clocks *c, uint64_t nodes, unsigned with)
{
    uint64_t firsts = nodes, best = 0;
    unsigned first, last;

    RLK_MASK_EACH (first, firsts) {
        uint64_t some = possibly_moved_at(c, nodes, false, c->clock[first].first.from_us);
        uint64_t lasts = is_majority(c, some) ? some : 0;

        RLK_MASK_EACH (last, lasts) {
            uint64_t met = possibly_moved_at(c, some, true, c->clock[last].latest.from_us);

            if (met & rlk_mask_bit(with) && rlk_mask_count(met) > rlk_mask_count(best)) {
                best = met;
            }
        }
    }
    return best;
}

/* The largest amount that a majority agrees on; 0 when there is none. */
static uint64_t suspension_us(const struct rlk_clocks *c, uint64_t now_us, uint64_t *ret_nodes)
{
    uint64_t most_us = 0;
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        uint64_t by_us = c->clock[i].ahead_us;
        uint64_t nodes = agreeing(c, by_us, now_us);

        if (by_us <= most_us || !is_majority(c, nodes)) {
            continue;
        }
        nodes = largest_simultaneous(c, nodes, i);
        if (is_majority(c, nodes)) {
            most_us = by_us;
            *ret_nodes = nodes;
        }
    }
    return most_us;
}

/* Nothing from before it is compared with any more. */
static void reset_baselines(struct rlk_clock *k, const struct rlk_reading *reading)
{
    k->base = *reading;
    k->far = *reading;
    k->known_suspension_us = 0;
}

static void start_clock(struct rlk_clock *k, const struct rlk_reading *reading)
{
    unsigned i;

    memset(k, 0, sizeof(*k));
    k->known = true;
    reset_baselines(k, reading);
    for (i = 0; i < RLK_CLOCK_RECENT; i++) {
        k->recent[i] = *reading;
    }
}

/* It is explained for those that showed it, and for those that were asked before it only. It was
 * over when the first of the former had answered. Whoever was asked since has had its say, and if
 * that was hidden in an error it is not to come up later. */
static void explain(struct rlk_clocks *c, uint64_t nodes, uint64_t by_us)
{
    uint64_t left = nodes;
    unsigned i;

    c->suspended_at_us = RLK_NEVER;
    RLK_MASK_EACH (i, left) {
        c->suspended_at_us = rlk_time_min(c->suspended_at_us, c->clock[i].latest.to_us);
        c->clock[i].ahead_us = 0;
    }
    left = rlk_mask_all(c->nodes) & ~nodes;
    RLK_MASK_EACH (i, left) {
        struct rlk_clock *k = &c->clock[i];

        if (k->recent[0].sent_us > c->suspended_at_us) {
            reset_baselines(k, &k->recent[0]);
        } else {
            k->known_suspension_us = rlk_time_add(k->known_suspension_us, by_us);
        }
    }
}

/* The far one is too old, or much worse than this one: not a trifle, for what it has seen so far is
 * lost with it. */
static bool is_due(const struct rlk_clocks *c, const struct rlk_reading *far,
                   const struct rlk_reading *now)
{
    return now->at_us - far->at_us >= c->forget_us / 4 ||
           rlk_time_add(now->error_us, FLOOR_US) <= far->error_us / 2;
}

/* The sample is what the next one is compared with, unless that would come too soon; but what it
 * showed, if anything, the next one is not to show again. Neither is a suspension that others have
 * shown, once this node was asked after it: its error may have hidden it. */
static void move_baselines(const struct rlk_clocks *c, struct rlk_clock *k,
                           const struct rlk_reading *now, bool showed)
{
    if (showed || (k->known_suspension_us != 0 && now->sent_us > c->suspended_at_us)) {
        reset_baselines(k, now);
    }
    if (now->at_us - k->base.at_us >= BASELINE_US) {
        k->base = *now;
    }
    if (is_due(c, &k->far, now)) {
        k->far = *now;
    }
    memmove(&k->recent[1], &k->recent[0], sizeof(k->recent) - sizeof(k->recent[0]));
    k->recent[0] = *now;
}

static struct rlk_reading reading(const struct rlk_clock_sample *sample)
{
    uint64_t trip_us = sample->received_us - sample->sent_us;

    return (struct rlk_reading){.sent_us = sample->sent_us,
                                .at_us = sample->sent_us + trip_us / 2,
                                .server_us = sample->server_us,
                                .error_us = trip_us - trip_us / 2};
}

/* What a sample that got ahead makes of all of them. */
static enum rlk_clock_verdict judge_ahead(struct rlk_clocks *c, uint64_t now_us,
                                          uint64_t *ret_by_us, uint64_t *ret_nodes)
{
    uint64_t nodes, suspended_us = suspension_us(c, now_us, &nodes);

    if (suspended_us == 0) {
        return RLK_CLOCK_AHEAD;
    }
    explain(c, nodes, suspended_us);
    *ret_by_us = suspended_us;
    *ret_nodes = nodes;
    return RLK_CLOCK_WE_WERE_SUSPENDED;
}

/* What this reading of a clock shows against the two baselines: the closer one is the more exact.
 * *ret_since_us: when it got ahead, if it did: after the latest of the readings that it shows
 * against. The last one may have been steady only because it hid the half of it in its error. */
static struct change compare_with_baselines(const struct rlk_clocks *c, struct rlk_clock *k,
                                            const struct rlk_reading *now, uint64_t *ret_since_us)
{
    const struct rlk_reading *before[] = {&k->base, &k->far, &k->recent[0]};
    struct change told = {RLK_CLOCK_STEADY, 0, 0};
    bool showed = false;
    unsigned i;

    *ret_since_us = 0;
    for (i = 0; i < 3; i++) {
        bool is_last = i == 2;
        struct change change = compare(c, before[i], now);

        showed = showed || (!is_last && change.verdict != RLK_CLOCK_STEADY);
        change = excused(change, k->known_suspension_us);
        if (change.verdict == RLK_CLOCK_AHEAD) {
            *ret_since_us = rlk_time_max(*ret_since_us, before[i]->sent_us);
        }
        told = is_last || told.verdict != RLK_CLOCK_STEADY ? told : change;
    }
    move_baselines(c, k, now, showed);
    return told;
}

/* By how much a clock may have got ahead between two readings, at most. */
static uint64_t most_us(const struct rlk_clocks *c, const struct rlk_reading *before,
                        const struct rlk_reading *after)
{
    uint64_t theirs_us = rlk_time_sub(after->server_us, before->server_us);

    return rlk_time_sub(rlk_time_add(theirs_us, bound_us(c, before, after)),
                        after->at_us - before->at_us);
}

/* It was asked before and after, and so long a suspension would have shown in between. */
static bool has_kept_time(const struct rlk_clocks *c, const struct rlk_reading *before,
                          const struct rlk_reading *now, const struct rlk_clock *ahead)
{
    return before->sent_us <= ahead->latest.from_us && now->sent_us >= ahead->latest.to_us &&
           most_us(c, before, now) < ahead->latest_us;
}

static bool kept_time(const struct rlk_clocks *c, const struct rlk_clock *k,
                      const struct rlk_reading *now, const struct rlk_clock *ahead)
{
    bool kept = has_kept_time(c, &k->base, now, ahead) || has_kept_time(c, &k->far, now, ahead);
    unsigned i;

    for (i = 0; !kept && i < RLK_CLOCK_RECENT; i++) {
        kept = has_kept_time(c, &k->recent[i], now, ahead);
    }
    return kept;
}

/* Whose getting ahead was no suspension of ours, by this reading of another node. */
static void record_witness(struct rlk_clocks *c, unsigned node, const struct rlk_reading *now)
{
    const struct rlk_clock *k = &c->clock[node];
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        struct rlk_clock *ahead = &c->clock[i];

        if (i != node && is_unexplained(c, ahead, now->at_us) && kept_time(c, k, now, ahead)) {
            ahead->witnesses |= rlk_mask_bit(node);
        }
    }
}

enum rlk_clock_verdict rlk_clocks_sample(struct rlk_clocks *c, unsigned node,
                                         const struct rlk_clock_sample *sample, uint64_t *ret_by_us,
                                         uint64_t *ret_nodes)
{
    struct rlk_span when = {.to_us = sample->received_us};
    struct rlk_reading now;
    struct rlk_clock *k;
    struct change change;

    *ret_by_us = 0;
    *ret_nodes = 0;
    if (node >= c->nodes || sample->received_us < sample->sent_us) {
        return RLK_CLOCK_STEADY;
    }
    k = &c->clock[node];
    now = reading(sample);
    if (!k->known) {
        start_clock(k, &now);
        return RLK_CLOCK_STEADY;
    }
    if (now.at_us < k->recent[0].at_us) {
        return RLK_CLOCK_STEADY;
    }
    record_witness(c, node, &now);
    change = compare_with_baselines(c, k, &now, &when.from_us);
    if (change.verdict == RLK_CLOCK_STEADY) {
        return RLK_CLOCK_STEADY;
    }
    *ret_by_us = change.by_us;
    if (change.verdict == RLK_CLOCK_BEHIND) {
        return RLK_CLOCK_BEHIND;
    }
    remember_ahead(c, k, change.by_us, &when);
    return judge_ahead(c, when.to_us, ret_by_us, ret_nodes);
}

/* The nodes that have kept time over it, and did not get ahead themselves since. */
static uint64_t witnesses(const struct rlk_clocks *c, const struct rlk_clock *ahead,
                          uint64_t now_us)
{
    uint64_t mask = ahead->witnesses;
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        const struct rlk_clock *k = &c->clock[i];

        if (is_unexplained(c, k, now_us) && k->latest.to_us > ahead->latest.from_us) {
            mask &= ~rlk_mask_bit(i);
        }
    }
    return mask;
}

bool rlk_clocks_is_certain(const struct rlk_clocks *c, unsigned node, uint64_t now_us)
{
    const struct rlk_clock *k = &c->clock[node];
    unsigned steady;

    if (!is_unexplained(c, k, now_us)) {
        return false;
    }
    steady = rlk_mask_count(witnesses(c, k, now_us));
    return c->nodes - steady < rlk_validity_quorum(c->nodes) ||
           (steady > 0 && now_us >= rlk_time_add(k->latest.to_us, BASELINE_US));
}

uint64_t rlk_clocks_to_ask(const struct rlk_clocks *c, unsigned node)
{
    uint64_t mask = 0;
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        const struct rlk_clock *k = &c->clock[i];

        if (i != node && k->known && k->recent[0].sent_us < c->clock[node].latest.to_us) {
            mask |= rlk_mask_bit(i);
        }
    }
    return mask;
}

/* Server's clock less ours, within what can be reckoned with. */
static int64_t offset(const struct rlk_reading *k)
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
    const struct rlk_reading *own;
    int64_t ahead_us[RLK_MAX_NODES];
    uint64_t error_us = 0;
    unsigned i, n = 0;

    if (node >= c->nodes || !c->clock[node].known) {
        return false;
    }
    own = &c->clock[node].base;
    for (i = 0; i < c->nodes; i++) {
        const struct rlk_reading *k = &c->clock[i].base;

        if (c->clock[i].known) {
            insert(ahead_us, n++, offset(own) - offset(k));
            /* A median is off by no more than the worst of what it is made of. */
            error_us = i == node ? error_us : rlk_time_max(error_us, bound_us(c, own, k));
        }
    }
    *ret_offset_us = median(ahead_us, n);
    *ret_error_us = error_us;
    return true;
}
