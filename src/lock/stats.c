/* stats.c - counts what is rare. What is frequent is a plain increment where it happens. */
#include "lock/stats.h"

#include <redlock/error.h>

#include "base/time.h"

static uint64_t *counter_of(struct rlk_stats *s, int status)
{
    switch (status) {
    case REDLOCK_EHELD:
        return &s->held_by_others;
    case REDLOCK_ETOOSLOW:
        return &s->too_slow;
    case REDLOCK_EDEADLINE:
        return &s->deadlines;
    case REDLOCK_ECANCELED:
        return &s->canceled;
    case REDLOCK_ENOQUORUM:
        return &s->no_quorum;
    default:
        return &s->failed;
    }
}

void rlk_stats_failed(struct rlk_stats *s, int status)
{
    ++*counter_of(s, status);
}

void rlk_stats_released(struct rlk_stats *s, int status)
{
    s->released += status == REDLOCK_OK;
    s->unreleased += status != REDLOCK_OK;
}

/* The success of a renewal or an extension, because the hold begins with one. */
void rlk_stats_count_change(struct rlk_stats *s, const struct rlk_stats_view *before,
                            const struct rlk_hold *now, uint64_t now_us)
{
    if (now->leases.success && !before->success) {
        s->renewed++;
        rlk_histogram_add(&s->margin, rlk_time_sub(before->valid_until_us, now_us));
    }
    s->unrenewed += now->failures > before->failures;
    s->restored += (now->leases.present & ~before->present & now->leases.restored) != 0;
    s->lost += now->state == RLK_HOLD_LOST && before->state != RLK_HOLD_LOST;
}
