/* stats.h - what a manager counts. The nodes count for themselves (node/stats.h). */
#ifndef RLK_LOCK_STATS_H
#define RLK_LOCK_STATS_H

#include <stdint.h>

#include "base/histogram.h"
#include "base/rare.h"
#include "core/hold.h"

struct rlk_stats {
    uint64_t rounds;
    uint64_t acquired, held_by_others, too_slow, deadlines, canceled, no_quorum, failed;
    uint64_t renewed, unrenewed, restored, lost;
    uint64_t released, unreleased;
    uint64_t limited;
    uint64_t suspended_us;
    struct rlk_histogram wait, margin;
};

/* An attempt or a release was reported. */
void rlk_stats_failed(struct rlk_stats *s, int status);

static inline void rlk_stats_acquired(struct rlk_stats *s, uint64_t took_us)
{
    s->acquired++;
    rlk_histogram_add(&s->wait, took_us);
}

void rlk_stats_released(struct rlk_stats *s, int status);

/* The part of a hold whose changes are counted, or traced. */
struct rlk_stats_view {
    enum rlk_hold_state state;
    bool success;
    int trouble;
    uint32_t failures;
    uint64_t present, valid_until_us;
};

static inline struct rlk_stats_view rlk_stats_view_of(const struct rlk_hold *h)
{
    return (struct rlk_stats_view){h->state,    h->leases.success, rlk_hold_trouble(h),
                                   h->failures, h->leases.present, h->leases.valid_until_us};
}

RLK_RARE void rlk_stats_count_change(struct rlk_stats *s, const struct rlk_stats_view *before,
                                     const struct rlk_hold *now, uint64_t now_us);

/* A hold was stepped. */
static inline void rlk_stats_stepped(struct rlk_stats *s, const struct rlk_stats_view *before,
                                     const struct rlk_hold *now, uint64_t now_us)
{
    if (now->leases.success != before->success || now->failures != before->failures ||
        now->leases.present != before->present || now->state != before->state) {
        rlk_stats_count_change(s, before, now, now_us);
    }
}

#endif
