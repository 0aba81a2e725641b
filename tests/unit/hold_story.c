/* hold_story.c - see hold_story.h. */
#include "hold_story.h"

#include <inttypes.h>

#include "base/mask.h"
#include "lib/voters.h"

void hold_win(struct world *w, const struct step *s)
{
    struct rlk_hold_config c = w->c;

    start_with(w, &c, w->voters.size ? w->voters : *all_voters(c.nodes),
               s->yes & rlk_mask_all(c.nodes), s->no, s->quarantined);
}

void hold_event(struct world *w, const struct step *s)
{
    struct rlk_event ev = s->ev;

    ev.now_us += w->at_us;
    step(w, ev);
}

void hold_event_of_each(struct world *w, const struct step *s)
{
    struct step one = *s;
    uint64_t nodes = s->nodes;

    RLK_MASK_EACH (one.ev.node, nodes) {
        hold_event(w, &one);
    }
}

void hold_wake(struct world *w, const struct step *s)
{
    (void)s;
    timer(w, due(w));
}

void hold_begin_renewal(struct world *w, const struct step *s)
{
    (void)s;
    w->at_us = renewal(w);
}

void hold_renew(struct world *w, const struct step *s)
{
    (void)s;
    w->at_us = renewed(w);
}

void hold_queue_up(struct world *w, const struct step *s)
{
    w->full = true;
    hold_wake(w, s);
    ck_assert(w->out.queue && w->h.queued);
    ck_assert_uint_eq(w->out.extend | w->out.restore, 0);
}

void hold_be_silent(struct world *w, const struct step *s)
{
    ck_assert_uint_eq(silence(w), w->at_us + s->value);
}

void hold_set(struct world *w, const struct step *s)
{
    story_set(w, &s->field, s->value);
}

void hold_expect(struct world *w, const struct step *s)
{
    uint64_t until_us = rlk_hold_valid_until_us(&w->h);

    w->is_valid = until_us != 0;
    w->valid_us = until_us - w->at_us;
    story_expect(w, &s->field, s->value, w->step);
}

void hold_expect_valid(struct world *w, const struct step *s)
{
    ck_assert_uint_ge(rlk_hold_valid_until_us(&w->h), w->at_us + s->value);
}

void hold_expect_due(struct world *w, const struct step *s)
{
    uint64_t later_us = due(w) - w->at_us;

    ck_assert_msg(later_us >= s->value && later_us <= s->up_to,
                  "step %u: due %" PRIu64 ", not %" PRIu64 " to %" PRIu64 " us later", w->step,
                  later_us, s->value, s->up_to);
}

void hold_play(struct world *w, const struct step *steps)
{
    STORY_PLAY(w, steps);
}

void hold_tell(const struct story *story)
{
    struct world w = {.c = config()};

    hold_play(&w, story->steps);
}
