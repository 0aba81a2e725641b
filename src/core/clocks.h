/* clocks.h - compare the masters' clocks with ours, and find out which one moved [S3, S11].
 *
 * Keys expire by the masters' wall clocks, leases by our boot clock, so all of them must run at the
 * same rate. Each reply to TIME is a sample, which is compared with earlier samples of the same
 * master. Its clock may differ from ours by any amount, but that difference may change by no more
 * than
 *
 *     drift × (time between the samples + e) + e + 2 ms        e: half of both round trips
 *
 * (A server may read its clock at either end of a round trip, so its own two readings may be that
 * much further apart.) A sample is compared with two baselines: one that is about a second old, and
 * one that is much older. The older one shows a clock that runs too fast, but by so little that the
 * round trips hide it within a second.
 *
 *     AHEAD               The master's clock went too far: it was set forward, or it runs too fast.
 *                         Keys may have expired there before their time.
 *     WE_WERE_SUSPENDED   A majority went ahead by about the same amount, and may have done so at
 *                         the same instant: so this client was suspended, and its own clock did not
 *                         count that time. Every lease has to be shortened by that amount at once.
 *     BEHIND              The master's clock fell behind. Its keys live longer, which is safe.
 *
 * Not all masters show a suspension at the same time: one whose last sample is from before it shows
 * the same jump with its next sample. That one is steady, unless it went further ahead than the
 * suspension explains. In doubt the verdict is
 * that the masters' clocks moved: then no lease and no vote of these masters counts. */
#ifndef RLK_CORE_CLOCKS_H
#define RLK_CORE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/validity.h"

enum rlk_clock_verdict {
    RLK_CLOCK_STEADY = 0, /* or there is nothing to compare with yet */
    RLK_CLOCK_AHEAD,
    RLK_CLOCK_BEHIND,
    RLK_CLOCK_WE_WERE_SUSPENDED
};

/* One reply to TIME. */
struct rlk_clock_sample {
    uint64_t sent_us, received_us; /* by our boot clock */
    uint64_t server_us;            /* by the server's wall clock, since 1970 */
};

/* A sample as a point in time, with its error. */
struct rlk_reading {
    uint64_t sent_us;   /* when TIME was sent, by our clock */
    uint64_t at_us;     /* when the server read its clock, by ours: the middle of the round trip */
    uint64_t server_us; /* what the server's clock showed */
    uint64_t error_us;  /* of at_us, at most: half of the round trip */
};

/* Something happened between these two times, by our clock. */
struct rlk_span {
    uint64_t from_us, to_us;
};

/* How many samples of a node are kept. A witness needs a sample that was asked for before the step
 * of another node. Nodes are asked at slightly different times, and once more when one of them went
 * ahead, so that may be the third sample back. The fourth is a reserve: a sample may be asked for
 * in between for another reason. The last sample stays as long as some other node has not been
 * asked since it: masters that do not vote yet are asked more often than those that nobody relies
 * on. */
#define RLK_CLOCK_RECENT 4

struct rlk_clock {
    bool known;                                  /* there is a sample */
    struct rlk_reading recent[RLK_CLOCK_RECENT]; /* the last samples, the latest first */
    struct rlk_reading base;                     /* the near baseline, about a second old */
    struct rlk_reading far; /* the far baseline, up to a quarter of the longest ttl old */
    uint64_t ahead_us;      /* how far it went ahead in all, less what a suspension explains */
    struct rlk_span first;  /* ahead_us != 0: when the first step happened */
    struct rlk_span latest; /* ahead_us != 0: when the latest one did; it may be the first */
    uint64_t latest_us;     /* how far the latest step was */
    uint64_t witnesses; /* nodes that kept time over the latest step: we were not suspended then */
    uint64_t known_suspension_us; /* for how long we were suspended, as other nodes have shown since
                                     this one was asked */
};

struct rlk_clocks {
    const struct rlk_voters *voters; /* they may change between two calls */
    unsigned nodes;
    uint32_t drift_ppm;
    uint64_t max_ttl_us;      /* the longest ttl: a step that is older takes part in no majority */
    uint64_t suspended_at_us; /* when the last suspension was over */
    struct rlk_clock clock[RLK_MAX_NODES];
};

/* voters: a majority of them decides about all nodes. */
void rlk_clocks_init(struct rlk_clocks *c, unsigned nodes, const struct rlk_voters *voters,
                     uint32_t drift_ppm, uint64_t max_ttl_us);

/* There is one node more. */
void rlk_clocks_add(struct rlk_clocks *c);

/* A different server replies at this node now: there is nothing to compare its clock with. */
void rlk_clocks_reset(struct rlk_clocks *c, unsigned node);

/* Take a sample of a node and compare it. Each change is reported once. A sample that is older than
 * the last one is ignored, and so is one of a node that does not exist: both are STEADY.
 *
 * *ret_by_us: AHEAD, BEHIND: how far; WE_WERE_SUSPENDED: for how long, which is the largest of the
 * amounts that agree. *ret_nodes: WE_WERE_SUSPENDED: the nodes that agree; the clock of none of
 * them has moved. Both are always written, 0 where they mean nothing. */
enum rlk_clock_verdict rlk_clocks_sample(struct rlk_clocks *c, unsigned node,
                                         const struct rlk_clock_sample *sample, uint64_t *ret_by_us,
                                         uint64_t *ret_nodes);

/* Whether it is certain that a node's clock went ahead, and that we were not suspended instead. A
 * witness is another node that kept time over the step, with round trips too short to hide a
 * suspension of that length. It is certain when so many voters are witnesses that the others are no
 * majority, or when there is one and a second has passed.
 * Only a step that is certain is put on record for other clients: a process that was suspended
 * would otherwise put every master in quarantine for all of them. */
bool rlk_clocks_is_certain(const struct rlk_clocks *c, unsigned node, uint64_t now_us);

/* The nodes that may become witnesses: those that were not asked for the time since that node's
 * clock went ahead. */
uint64_t rlk_clocks_to_ask(const struct rlk_clocks *c, unsigned node);

/* How far a node's clock is ahead of the others, with its error bound: the difference between its
 * offset and the median of the offsets of all known nodes. False when there is no sample of this
 * node: then nothing is written. */
bool rlk_clocks_offset(const struct rlk_clocks *c, unsigned node, int64_t *ret_offset_us,
                       uint64_t *ret_error_us);

#endif
