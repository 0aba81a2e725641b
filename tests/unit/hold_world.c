/* hold_world.c - makes a lock that was won, and gives it the events of a story. */
#include "hold_world.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "lib/events.h"
#include "lib/voters.h"

struct rlk_hold_config config(void)
{
    struct rlk_hold_config c = {.nodes = 5,
                                .drift_ppm = 10000,
                                .ttl_us = TTL,
                                .timeout_us = TIMEOUT,
                                .renew = true,
                                .max_hold_us = RLK_NEVER,
                                .max_renewals = UINT32_MAX,
                                .prng = {7}};

    return c;
}

void start_won(struct world *w, const struct rlk_hold_config *c, uint64_t yes, uint64_t no,
               uint64_t quarantined)
{
    start_with(w, c, *all_voters(c->nodes), yes, no, quarantined);
}

void start_with(struct world *w, const struct rlk_hold_config *c, struct rlk_voters voters,
                uint64_t yes, uint64_t no, uint64_t quarantined)
{
    struct rlk_round won;
    unsigned node;

    *w = (struct world){.voters = voters, .c = *c, .at_us = T0};
    rlk_round_init(&won, RLK_NEVER);
    won.state = RLK_ROUND_WON;
    won.asked = rlk_mask_all(c->nodes);
    won.yes = yes;
    won.no = no;
    won.unknown = won.quarantined = quarantined;
    won.started_us = T0;
    for (node = 0; node < c->nodes; node++) {
        won.end_us[node] = T0 + LEASE;
    }
    won.valid_until_us = T0 + LEASE;
    w->ready = rlk_mask_all(c->nodes);
    memset(&w->h, 0xff, sizeof(w->h)); /* every field must be written */
    rlk_hold_init(&w->h, c, &w->voters, w->room);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w->h), 0);
    memset(&w->out, 0xff, sizeof(w->out));
    rlk_hold_start(&w->h, &won, T0, &w->out);
}

void start(struct world *w, const struct rlk_hold_config *c)
{
    start_won(w, c, rlk_mask_all(c->nodes), 0, 0);
}

void step(struct world *w, struct rlk_event ev)
{
    if (event_has_nodes(&ev)) {
        ev.ready = w->ready;
        ev.full = w->full;
    }
    memset(&w->out, 0xff, sizeof(w->out)); /* every field must be written */
    rlk_hold_step(&w->h, &ev, &w->out);
    w->reported += w->out.report;
    w->extended += w->out.report_extended;
}

void timer(struct world *w, uint64_t now_us)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_TIMER, .now_us = now_us});
}

void answer(struct world *w, uint64_t nodes, enum rlk_answer a, uint64_t now_us)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        step(w, (struct rlk_event){
                    .kind = RLK_EVENT_KEPT, .node = node, .answer = a, .now_us = now_us});
    }
}

void vote(struct world *w, uint64_t nodes, enum rlk_vote v, uint64_t now_us)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        step(w,
             (struct rlk_event){.kind = RLK_EVENT_VOTE, .node = node, .vote = v, .now_us = now_us});
    }
}

uint64_t due(const struct world *w)
{
    return w->out.deadline_us;
}

uint64_t renewal(struct world *w)
{
    uint64_t at_us = due(w);

    timer(w, at_us);
    ck_assert_uint_ne(w->out.extend, 0);
    return at_us;
}

uint64_t renewed(struct world *w)
{
    uint64_t at_us = renewal(w);

    answer(w, w->out.extend, RLK_ANSWER_OURS, at_us + 10);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w->h), at_us + LEASE);
    return at_us;
}

uint64_t silence(struct world *w)
{
    uint64_t at_us = 0;

    w->ready = 0;
    while (w->h.state == RLK_HOLD_HELD) {
        ck_assert_uint_ne(due(w), RLK_NEVER);
        at_us = rlk_time_max(at_us, due(w));
        timer(w, at_us);
    }
    return at_us;
}
