/* clocks.c - compares the readings of a clock with earlier ones, and the clocks with each other. */
#include "core/clocks.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"

/* The grain of the clocks, and of servers that read their clock only once per command. */
#define FLOOR_US 2000

/* Within a shorter time the errors of the two round trips hide the drift. */
#define BASELINE_US 1000000

/* Two clocks went ahead by about the same amount if the amounts differ by at most a tenth of the
 * larger one, plus this. */
#define AGREE_US 50000

/* Larger offsets are cut to this, 36,000 years, so that a sum of a few offsets cannot overflow. */
#define OFFSET_MAX_US (UINT64_C(1) << 60)

/* What two readings of one clock show. */
struct change {
    enum rlk_clock_verdict verdict;
    uint64_t by_us;    /* by how much the difference to our clock has changed */
    uint64_t bound_us; /* what drift and round trips can explain */
};

void rlk_clocks_init(struct rlk_clocks *c, unsigned nodes, const struct rlk_voters *voters,
                     uint32_t drift_ppm, uint64_t max_ttl_us)
{
    memset(c, 0, sizeof(*c));
    c->nodes = nodes;
    c->voters = voters;
    c->drift_ppm = drift_ppm;
    c->max_ttl_us = max_ttl_us;
}

void rlk_clocks_add(struct rlk_clocks *c)
{
    memset(&c->clock[c->nodes], 0, sizeof(c->clock[0]));
    c->nodes++;
}

void rlk_clocks_reset(struct rlk_clocks *c, unsigned node)
{
    if (node < c->nodes) {
        memset(&c->clock[node], 0, sizeof(c->clock[node]));
    }
}

/* By how much two clocks may drift apart in this time, rounded up. */
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

/* The error of the difference of two readings, at most. */
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

/* Since this node was last asked, other nodes have shown that we were suspended. That was reported
 * then, and the leases are shortened. What goes beyond it is a step of this node's own clock. */
static struct change without_suspension(struct change change, uint64_t known_suspension_us)
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
    return k->ahead_us != 0 && rlk_time_sub(now_us, k->latest.to_us) <= c->max_ttl_us;
}

/* Add a step to those that nothing has explained yet. Two suspensions in a row are two steps for a
 * node that is asked between them, and one for a node that is not: only the sums agree. */
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

/* The nodes that recently went ahead by about this amount, and by no more. */
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
    return rlk_voters_are_enough(c->voters, nodes);
}

static unsigned count_voters(const struct rlk_clocks *c, uint64_t nodes)
{
    return rlk_mask_count(nodes & c->voters->set);
}

/* Those of `nodes` whose first step, or latest step, may have happened at this instant. */
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

/* A subset of `nodes` with `member` in it whose first steps may have happened at one instant, and
 * whose latest steps may have, too: the one with the most voters. Intervals that have an instant in
 * common have the latest of their beginnings in common: so only beginnings are tried. */
static uint64_t largest_simultaneous(const struct rlk_clocks *c, uint64_t nodes, unsigned member)
{
    uint64_t firsts = nodes, best = 0;
    unsigned first, last;

    RLK_MASK_EACH (first, firsts) {
        uint64_t at_first = possibly_moved_at(c, nodes, false, c->clock[first].first.from_us);
        uint64_t lasts = is_majority(c, at_first) ? at_first : 0;

        RLK_MASK_EACH (last, lasts) {
            uint64_t common = possibly_moved_at(c, at_first, true, c->clock[last].latest.from_us);

            if (common & rlk_mask_bit(member) && count_voters(c, common) > count_voters(c, best)) {
                best = common;
            }
        }
    }
    return best;
}

/* For how long we were suspended: the largest amount that a majority agrees on, or 0.
 * *ret_nodes: that majority; written only when there is one. */
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

/* Compare later readings with this one, and with none before it. */
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

/* A suspension explains the steps of the nodes that showed it. It was over when the first of them
 * replied. A node that was last asked before that will show it later, and must not be blamed then.
 * A node that was asked since has no more to show: if its errors hid the suspension, it must not
 * appear later either. */
static void explain_steps(struct rlk_clocks *c, uint64_t nodes, uint64_t by_us)
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

/* Whether the far baseline has to be replaced: it is too old, or this reading is much more exact.
 * Not for a slightly better one: the time that it covers is lost with it. */
static bool is_far_due(const struct rlk_clocks *c, const struct rlk_reading *far,
                       const struct rlk_reading *now)
{
    return now->at_us - far->at_us >= c->max_ttl_us / 4 ||
           rlk_time_add(now->error_us, FLOOR_US) <= far->error_us / 2;
}

/* When the other nodes were last asked: the earliest of these times. A step older than the longest
 * ttl needs no witness, so nodes that were not asked for that long are ignored. */
static uint64_t others_asked_us(const struct rlk_clocks *c, const struct rlk_clock *k,
                                uint64_t now_us)
{
    uint64_t asked_us = RLK_NEVER;
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        const struct rlk_clock *other = &c->clock[i];

        if (other != k && other->known &&
            rlk_time_sub(now_us, other->recent[0].sent_us) <= c->max_ttl_us) {
            asked_us = rlk_time_min(asked_us, other->recent[0].sent_us);
        }
    }
    return asked_us;
}

/* Drop the last reading once the one before it is old enough to replace it. */
static void keep_reading(const struct rlk_clocks *c, struct rlk_clock *k,
                         const struct rlk_reading *now)
{
    unsigned last = RLK_CLOCK_RECENT - 1;

    if (k->recent[last - 1].sent_us <= others_asked_us(c, k, now->at_us)) {
        k->recent[last] = k->recent[last - 1];
    }
    memmove(&k->recent[1], &k->recent[0], (last - 1) * sizeof(k->recent[0]));
    k->recent[0] = *now;
}

/* This reading becomes a baseline when the present one is old enough. It does so at once when it
 * showed a change, which the next reading must not show again. The same holds for a suspension that
 * other nodes have shown, once this node was asked after it: its errors may have hidden it. */
static void move_baselines(const struct rlk_clocks *c, struct rlk_clock *k,
                           const struct rlk_reading *now, bool showed)
{
    if (showed || (k->known_suspension_us != 0 && now->sent_us > c->suspended_at_us)) {
        reset_baselines(k, now);
    }
    if (now->at_us - k->base.at_us >= BASELINE_US) {
        k->base = *now;
    }
    if (is_far_due(c, &k->far, now)) {
        k->far = *now;
    }
    keep_reading(c, k, now);
}

static struct rlk_reading reading(const struct rlk_clock_sample *sample)
{
    uint64_t trip_us = sample->received_us - sample->sent_us;

    return (struct rlk_reading){.sent_us = sample->sent_us,
                                .at_us = sample->sent_us + trip_us / 2,
                                .server_us = sample->server_us,
                                .error_us = trip_us - trip_us / 2};
}

/* One more clock went ahead: do enough of them agree now? */
static enum rlk_clock_verdict judge_ahead(struct rlk_clocks *c, uint64_t now_us,
                                          uint64_t *ret_by_us, uint64_t *ret_nodes)
{
    uint64_t nodes, suspended_us = suspension_us(c, now_us, &nodes);

    if (suspended_us == 0) {
        return RLK_CLOCK_AHEAD;
    }
    explain_steps(c, nodes, suspended_us);
    *ret_by_us = suspended_us;
    *ret_nodes = nodes;
    return RLK_CLOCK_WE_WERE_SUSPENDED;
}

/* Compare a reading with the near baseline, which is the more exact one, and then with the far one.
 * The comparison with the last reading only narrows the time of a step.
 * *ret_since_us: the step happened after this, which is when the latest of the three readings that
 * show it was asked for; 0: there is no step. It need not be the last reading, whose error may hide
 * half of the step. */
static struct change compare_with_baselines(const struct rlk_clocks *c, struct rlk_clock *k,
                                            const struct rlk_reading *now, uint64_t *ret_since_us)
{
    const struct rlk_reading *before[] = {&k->base, &k->far, &k->recent[0]};
    struct change result = {RLK_CLOCK_STEADY, 0, 0};
    bool showed = false;
    unsigned i;

    *ret_since_us = 0;
    for (i = 0; i < 3; i++) {
        bool is_last = i == 2;
        struct change change = compare(c, before[i], now);

        showed = showed || (!is_last && change.verdict != RLK_CLOCK_STEADY);
        change = without_suspension(change, k->known_suspension_us);
        if (change.verdict == RLK_CLOCK_AHEAD) {
            *ret_since_us = rlk_time_max(*ret_since_us, before[i]->sent_us);
        }
        result = is_last || result.verdict != RLK_CLOCK_STEADY ? result : change;
    }
    move_baselines(c, k, now, showed);
    return result;
}

/* By how much a clock may have gone ahead between two readings, at most. */
static uint64_t max_ahead_us(const struct rlk_clocks *c, const struct rlk_reading *before,
                             const struct rlk_reading *after)
{
    uint64_t theirs_us = rlk_time_sub(after->server_us, before->server_us);

    return rlk_time_sub(rlk_time_add(theirs_us, bound_us(c, before, after)),
                        after->at_us - before->at_us);
}

/* Whether a clock kept time over the latest step of `ahead`: it was asked before and after the
 * step, and a suspension of that length would show in between. */
static bool kept_time_between(const struct rlk_clocks *c, const struct rlk_reading *before,
                              const struct rlk_reading *now, const struct rlk_clock *ahead)
{
    return before->sent_us <= ahead->latest.from_us && now->sent_us >= ahead->latest.to_us &&
           max_ahead_us(c, before, now) < ahead->latest_us;
}

static bool kept_time_over(const struct rlk_clocks *c, const struct rlk_clock *k,
                           const struct rlk_reading *now, const struct rlk_clock *ahead)
{
    bool kept =
        kept_time_between(c, &k->base, now, ahead) || kept_time_between(c, &k->far, now, ahead);
    unsigned i;

    for (i = 0; !kept && i < RLK_CLOCK_RECENT; i++) {
        kept = kept_time_between(c, &k->recent[i], now, ahead);
    }
    return kept;
}

/* Record this node as a witness of each step, of another node, that it kept time over. */
static void record_witness(struct rlk_clocks *c, unsigned node, const struct rlk_reading *now)
{
    const struct rlk_clock *k = &c->clock[node];
    unsigned i;

    for (i = 0; i < c->nodes; i++) {
        struct rlk_clock *ahead = &c->clock[i];

        if (i != node && is_unexplained(c, ahead, now->at_us) && kept_time_over(c, k, now, ahead)) {
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

/* The witnesses of the latest step of `ahead`. A node whose own clock went ahead since does not
 * count. */
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
    uint64_t steady;

    if (!is_unexplained(c, k, now_us)) {
        return false;
    }
    steady = witnesses(c, k, now_us);
    return rlk_voters_can_block(c->voters, steady) ||
           (steady != 0 && now_us >= rlk_time_add(k->latest.to_us, BASELINE_US));
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

/* The server's clock minus ours, cut to what can be added up. */
static int64_t offset(const struct rlk_reading *k)
{
    uint64_t far_us = rlk_time_min(distance(k->server_us, k->at_us), OFFSET_MAX_US);

    return k->server_us > k->at_us ? (int64_t)far_us : -(int64_t)far_us;
}

/* Insert a value into `n` sorted ones. */
static void insert(int64_t *sorted, unsigned n, int64_t value)
{
    for (; n > 0 && sorted[n - 1] > value; n--) {
        sorted[n] = sorted[n - 1];
    }
    sorted[n] = value;
}

/* Of an even number of values: the middle between the middle two. */
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
            /* The error of a median is at most the largest error of its values. */
            error_us = i == node ? error_us : rlk_time_max(error_us, bound_us(c, own, k));
        }
    }
    *ret_offset_us = median(ahead_us, n);
    *ret_error_us = error_us;
    return true;
}
