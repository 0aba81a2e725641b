/* round_story.c - see round_story.h. */
#include "round_story.h"

#include "base/mask.h"
#include "base/time.h"
#include "lib/voters.h"

static void step(struct world *w, struct rlk_event ev)
{
    ev.now_us = ev.now_us ? ev.now_us : T0 + 100;
    w->out = (struct rlk_actions){0};
    rlk_round_step(&w->round, &w->terms, &ev, &w->out);
}

void round_vote(struct world *w, unsigned node, enum rlk_vote v)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_VOTE, .node = node, .vote = v});
}

void round_begin(struct world *w, const struct step *s)
{
    w->voters = *all_voters((unsigned)s->nodes);
    w->terms = (struct rlk_round_terms){&w->voters, LEASE, MIN_LEFT, TIMEOUT, false, false};
    rlk_round_init(&w->round, RLK_NEVER);
}

void round_start(struct world *w, unsigned n)
{
    round_begin(w, &(struct step){.nodes = n});
    step(w, (struct rlk_event){.kind = RLK_EVENT_START, .now_us = T0, .ready = rlk_mask_all(n)});
}

void round_event(struct world *w, const struct step *s)
{
    step(w, s->ev);
}

void round_event_of_each(struct world *w, const struct step *s)
{
    struct rlk_event ev = s->ev;
    uint64_t nodes = s->nodes;

    RLK_MASK_EACH (ev.node, nodes) {
        step(w, ev);
    }
}

void round_set(struct world *w, const struct step *s)
{
    story_set(w, &s->field, s->value);
}

void round_expect(struct world *w, const struct step *s)
{
    w->counted = rlk_round_counted(&w->round);
    w->refused = rlk_round_is_refused(&w->round, &w->voters);
    w->split = rlk_round_is_split(&w->round, &w->voters);
    story_expect(w, &s->field, s->value, w->step);
}

void round_play(struct world *w, const struct step *steps)
{
    STORY_PLAY(w, steps);
}

void round_tell(const struct story *story)
{
    struct world w;

    round_play(&w, story->steps);
}
