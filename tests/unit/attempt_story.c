/* attempt_story.c - see attempt_story.h. */
#include "attempt_story.h"

#include "base/mask.h"
#include "base/time.h"
#include "lib/events.h"
#include "lib/voters.h"

struct rlk_attempt_config attempt_config(void)
{
    return (struct rlk_attempt_config){.terms = {.voters = all_voters(3),
                                                 .lease_us = LEASE,
                                                 .min_validity_us = MIN_LEFT,
                                                 .timeout_us = TIMEOUT},
                                       .wait_us = 0,
                                       .retry_max_us = 250000,
                                       .max_retries = UINT32_MAX,
                                       .seed = 7};
}

static void step(struct world *w, struct rlk_event ev)
{
    if (event_has_nodes(&ev)) {
        ev.ready = (w->voters.set & ~w->down) | w->others;
        ev.full = w->full;
        ev.subscribable = w->subscribable;
        ev.subscribed = w->subscribed;
        ev.behind = ev.behind || (w->behind && ev.kind == RLK_EVENT_START);
        ev.yield = w->yield;
    } else if ((ev.kind == RLK_EVENT_VOTE || ev.kind == RLK_EVENT_CONFIRM) && ev.round == 0) {
        ev.round = w->a.tries;
    }
    rlk_attempt_step(&w->a, &ev, &w->out);
}

void attempt_begin(struct world *w, const struct step *s)
{
    (void)s;
    w->voters = w->voters.size ? w->voters : *w->c.terms.voters;
    w->c.terms.voters = &w->voters;
    rlk_attempt_init(&w->a, &w->c);
    step(w, (struct rlk_event){.kind = RLK_EVENT_START, .now_us = T0});
}

void attempt_event(struct world *w, const struct step *s)
{
    step(w, s->ev);
}

void attempt_event_of_each(struct world *w, const struct step *s)
{
    struct rlk_event ev = s->ev;
    uint64_t nodes = s->nodes;

    RLK_MASK_EACH (ev.node, nodes) {
        if (ev.kind == RLK_EVENT_VOTE) {
            ev.fence = 3 + ev.node;
        }
        step(w, ev);
    }
}

void attempt_wake(struct world *w, const struct step *s)
{
    (void)s;
    step(w, (struct rlk_event){.kind = RLK_EVENT_TIMER, .now_us = w->out.deadline_us});
}

void attempt_set(struct world *w, const struct step *s)
{
    story_set(w, &s->field, s->value);
}

void attempt_expect(struct world *w, const struct step *s)
{
    story_expect(w, &s->field, s->value, w->step);
}

void attempt_play(struct world *w, const struct step *steps)
{
    STORY_PLAY(w, steps);
}

void attempt_tell(const struct story *story)
{
    struct world w = {.c = attempt_config()};

    attempt_play(&w, story->steps);
}
