/* clocks.h - whether the masters' clocks go as ours does, and whether ours went at all.
 *
 * Keys end by the masters' wall clocks, leases by our boot clock. Each TIME that a master tells is
 * compared with the one before: its clock may differ from ours by any amount, but the difference
 * may change by no more than
 *
 *     drift × (time between + half of both round trips) + half of both round trips + 2 ms
 *
 * (a server may have looked at its clock at either end of a round trip, so the time between its own
 * two looks may be that much longer). There are two samples to compare with: one that is about a
 * second old, and one that is much older. The latter shows clocks that go too fast, but in a second
 * by less than two round trips hide.
 *
 * A master whose clock got ahead by more than that has ended keys before their time. When a
 * majority got ahead by about the same amount, and may have done so at the same instant, it was we
 * who stood still, in a way that our clock did not count: every lease is to be shortened by that
 * amount at once. Those that were last asked before it and show it later are steady, unless they
 * are further ahead than that explains. In doubt it is they who moved: then they are not believed,
 * and no lease rests on them.
 *
 * A clock that fell behind makes keys live longer, which nobody is hurt by. */
#ifndef RLK_CORE_CLOCKS_H
#define RLK_CORE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/validity.h"

enum rlk_clock_verdict {
    RLK_CLOCK_STEADY = 0,       /* or nothing to compare with yet */
    RLK_CLOCK_AHEAD,            /* it got ahead: it was set forward, or is too fast */
    RLK_CLOCK_BEHIND,           /* it fell behind */
    RLK_CLOCK_WE_WERE_SUSPENDED /* our own stood still, for *ret_by_us */
};

/* One answer to TIME. */
struct rlk_clock_sample {
    uint64_t sent_us, received_us; /* by our boot clock */
    uint64_t server_us;            /* since 1970, by its wall clock */
};

/* What a sample says. */
struct rlk_reading {
    uint64_t sent_us;   /* when by our clock it was asked for */
    uint64_t at_us;     /* and read: the middle of the round trip */
    uint64_t server_us; /* and then by its own */
    uint64_t error_us;  /* half of the round trip */
};

/* From when to when something happened, by our clock. */
struct rlk_span {
    uint64_t from_us, to_us;
};

/* A node is asked a little before or after another, and once more when that one got ahead: so the
 * third sample before may be the latest that came ahead of it. One more, for another that is asked
 * for in between. */
#define RLK_CLOCK_RECENT 4

struct rlk_clock {
    bool known;
    struct rlk_reading recent[RLK_CLOCK_RECENT]; /* the samples before, the latest first */
    struct rlk_reading base;                     /* the one to compare with: some second old */
    struct rlk_reading far; /* another, kept for up to a quarter of the longest ttl */
    uint64_t ahead_us;      /* by how much it got ahead in all, unexplained; 0: it did not */
    struct rlk_span first;  /* when it did so, unless that is forgotten: the first part of it, */
    struct rlk_span latest; /* and the last, which may be the same */
    uint64_t latest_us;     /* by how much it got ahead in the last part */
    uint64_t witnesses;     /* the others that have shown that we did not stand still for so long */
    uint64_t
        known_suspension_us; /* what others have shown that we stood still, since it was asked */
};

struct rlk_clocks {
    unsigned nodes;
    uint32_t drift_ppm;
    uint64_t forget_us;       /* what is longer ago has no part in a majority: the longest ttl */
    uint64_t suspended_at_us; /* when the last suspension was over */
    struct rlk_clock clock[RLK_MAX_NODES];
};

void rlk_clocks_init(struct rlk_clocks *c, unsigned nodes, uint32_t drift_ppm, uint64_t max_ttl_us);

/* Another server answers at this node now: nothing to compare with. */
void rlk_clocks_forget(struct rlk_clocks *c, unsigned node);

/* Each movement is told once. A sample that is older than the one before is passed over.
 * *ret_by_us: how far ahead or behind, or how long we stood still: then the largest of the amounts
 * that agree, and *ret_nodes is whose (none of them has moved). Both are written always. */
enum rlk_clock_verdict rlk_clocks_sample(struct rlk_clocks *c, unsigned node,
                                         const struct rlk_clock_sample *sample, uint64_t *ret_by_us,
                                         uint64_t *ret_nodes);

/* Whether it is certain that a node got ahead, and not that we stood still: so many others have
 * kept time over it that no majority of suspensions is left; or one has, and a second has passed.
 * Only those count whose round trips cannot hide a suspension of that length.
 * What is not certain is not put on record for others: a process that stood still would bar every
 * master. */
bool rlk_clocks_is_certain(const struct rlk_clocks *c, unsigned node, uint64_t now_us);

/* Who may show that: the others that were not asked for the time since that node got ahead. */
uint64_t rlk_clocks_to_ask(const struct rlk_clocks *c, unsigned node);

/* How far the clock of a node is ahead of that of the others: the difference of its offset to the
 * median of all that are known, and the error bound of that. False when it is not known. */
bool rlk_clocks_offset(const struct rlk_clocks *c, unsigned node, int64_t *ret_offset_us,
                       uint64_t *ret_error_us);

#endif
