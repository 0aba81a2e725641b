/* operator.c - the replies as a view of the core, and what the core finds in it. */
#include "broken/operator.h"

#include <redlock/error.h>

#include "base/mask.h"
#include "core/broken.h"
#include "lib/voters.h"

static void note_reply(struct rlk_broken_view *v, const struct world *w, unsigned m)
{
    const struct master *x = &w->masters[m];
    bool slips = config.slips & SLIP_GONE_COUNTS && x->o_said == SAID_GONE;
    uint64_t bit = rlk_mask_bit(m);

    v->replaced |= x->o_said == SAID_YES || slips ? bit : 0;
    v->gone |= x->o_said == SAID_GONE ? bit : 0;
    v->taken |= x->o_said == SAID_OTHER ? bit : 0;
    v->left_us[m] = slips ? world_ttl_us() : (uint64_t)x->o_left_ms * 1000;
    v->sent_us[m] = v->heard_us[m] = NOW_US - (uint64_t)x->o_ticks * TICK_US;
}

/* The quorum-th largest. */
static uint64_t all_keys_us(const struct rlk_broken_view *v)
{
    uint64_t ends[MASTERS];
    unsigned m;

    for (m = 0; m < MASTERS; m++) {
        ends[m] = v->heard_us[m] + rlk_validity_gone_us(v->left_us[m], DRIFT_PPM);
    }
    return rlk_validity_until(ends, v->replaced, QUORUM);
}

static void ask_for_release(struct world *w)
{
    unsigned m;

    for (m = 0; m < MASTERS; m++) {
        w->masters[m].o_release = 1;
    }
}

/* What the replies prove at this moment. */
static void find(const struct world *w, struct rlk_broken *ret_broken)
{
    struct rlk_broken_view v = {
        .voters = all_voters(MASTERS), .max_ttl_us = world_ttl_us(), .drift_ppm = DRIFT_PPM};
    unsigned m;

    for (m = 0; m < MASTERS; m++) {
        note_reply(&v, w, m);
    }
    rlk_broken_find(&v, NOW_US, ret_broken);
    if (config.slips & SLIP_ALL_KEYS) {
        ret_broken->until_us = all_keys_us(&v);
    }
}

bool operator_may_tell(const struct world *w)
{
    struct rlk_broken broken;

    find(w, &broken);
    return w->told == TOLD_NOTHING && (broken.status == REDLOCK_OK || config.slips & SLIP_NEW_TTL);
}

/* In the control, what follows later is what has to be found. */
static bool is_true(const struct world *w)
{
    unsigned m, n = 0;

    for (m = 0; m < MASTERS; m++) {
        n += w->masters[m].owner == OWNER_O;
    }
    return n >= QUORUM || config.slips & SLIP_GONE_COUNTS;
}

/* Rounded up to a millisecond, as src/lock/break.c does. */
void operator_tell(struct world *w)
{
    struct rlk_broken broken;

    find(w, &broken);
    if (broken.status == REDLOCK_OK) {
        w->wrong = is_true(w) ? WRONG_NOTHING : WRONG_UNTRUE;
        w->told = TOLD_BROKEN;
        w->until_us = (uint16_t)((broken.until_us - NOW_US + 999) / 1000 * 1000);
        return;
    }
    w->told = TOLD_FAILED;
    if (config.slips & SLIP_NEW_TTL) {
        ask_for_release(w);
    }
}
