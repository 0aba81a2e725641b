/* release.c - counts the replies to a release until they decide. */
#include "core/release.h"

#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/validity.h"

void rlk_release_init(struct rlk_release *r, const struct rlk_voters *voters, uint64_t asked,
                      uint64_t deadline_us)
{
    *r = (struct rlk_release){0};
    r->voters = voters;
    r->asked = asked;
    r->deadline_us = deadline_us;
}

/* Any two majorities share a node. So the first majority that replies tells whether our key was
 * still on a majority. The lock may be valid without that: a node that has lost its data counts for
 * nobody until the lock is over [S11]. */
static int verdict(const struct rlk_release *r)
{
    uint64_t taken = r->taken & r->voters->set, deleted = r->deleted & r->voters->set;

    if (taken != 0 && (deleted == 0 || rlk_voters_are_enough(r->voters, taken))) {
        return REDLOCK_TAKEN;
    }
    return deleted != 0 ? REDLOCK_OK : REDLOCK_GONE;
}

/* A majority has replied. Whether the answers that may still come could change the verdict: our key
 * and another one were found, and neither has a majority (one of them is left over from an expired
 * lock, or from a contender that lost). */
static bool may_still_change(const struct rlk_release *r)
{
    uint64_t set = r->voters->set;

    return (r->unanswered & set) != 0 && (r->deleted & set) != 0 && (r->taken & set) != 0 &&
           !rlk_voters_are_enough(r->voters, r->deleted) &&
           !rlk_voters_are_enough(r->voters, r->taken);
}

static uint64_t answered(const struct rlk_release *r)
{
    return r->deleted | r->gone | r->taken;
}

/* Whether a majority has replied, or still may. */
static bool is_possible(const struct rlk_release *r)
{
    return rlk_voters_are_enough(r->voters, answered(r) | r->unanswered);
}

/* over: nothing more is waited for. */
static void decide(struct rlk_release *r, bool over, struct rlk_actions *out)
{
    bool enough = rlk_voters_are_enough(r->voters, answered(r));

    if (over || (enough && !may_still_change(r))) {
        r->state = RLK_RELEASE_DONE;
        r->status = enough ? verdict(r) : REDLOCK_ENOQUORUM;
        out->report = true;
    }
}

static void on_release_reply(struct rlk_release *r, const struct rlk_event *ev,
                             struct rlk_actions *out)
{
    uint64_t bit = rlk_mask_bit(ev->node) & r->asked & ~(r->deleted | r->gone | r->taken);

    r->unanswered &= ~bit;
    if ((r->unknown & bit) && ev->answer != RLK_ANSWER_OURS) {
        return;
    }
    switch (ev->answer) {
    case RLK_ANSWER_OURS:
        r->deleted |= bit;
        break;
    case RLK_ANSWER_GONE:
        r->gone |= bit;
        break;
    case RLK_ANSWER_TAKEN:
        r->taken |= bit;
        break;
    case RLK_ANSWER_UNKNOWN:
        r->unknown |= bit;
        break;
    }
    decide(r, ev->answer == RLK_ANSWER_UNKNOWN && !is_possible(r), out);
}

static void start_release(struct rlk_release *r, const struct rlk_event *ev,
                          struct rlk_actions *out)
{
    r->state = RLK_RELEASE_ASKING;
    r->unanswered = r->asked & (ev->ready | ev->connecting);
    out->release = r->asked;
    decide(r, !is_possible(r), out);
}

static void step_asking(struct rlk_release *r, const struct rlk_event *ev, struct rlk_actions *out)
{
    if (ev->kind == RLK_EVENT_ANSWER) {
        on_release_reply(r, ev, out);
    } else if (ev->kind == RLK_EVENT_NODE_DOWN) {
        r->unanswered &= ~rlk_mask_bit(ev->node);
        decide(r, !is_possible(r), out);
    } else if (ev->kind == RLK_EVENT_VOTERS) {
        decide(r, !is_possible(r), out);
    } else if (ev->kind == RLK_EVENT_TIMER && ev->now_us >= r->deadline_us) {
        decide(r, true, out);
    }
}

void rlk_release_step(struct rlk_release *r, const struct rlk_event *ev, struct rlk_actions *out)
{
    *out = (struct rlk_actions){0};
    if (r->state == RLK_RELEASE_IDLE && ev->kind == RLK_EVENT_START) {
        start_release(r, ev, out);
    } else if (r->state == RLK_RELEASE_ASKING) {
        step_asking(r, ev, out);
    }
    out->deadline_us = r->state == RLK_RELEASE_ASKING ? r->deadline_us : RLK_NEVER;
}
