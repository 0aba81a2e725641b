/* fuzz_round.c - sequences of events into a round.
 *
 * The script begins with five numbers: nodes, lease, least validity, timeout and the limit of
 * the round, in microseconds from its start. Then each letter is a step: an event (see `events`
 * below), or
 *
 *     f           with a fence, from the start on
 *     k           keeps its votes if it leads a split vote, from the start on
 *     = SET N     these nodes (hexadecimal) have a vote from now on, and there are so many voters
 *     +TIME       time goes by
 *     @, <        to the deadline, or to just before it
 *     e, E        to the last moment at which a win leaves enough, or just behind
 *
 * Ends with a timer at the deadline, which must decide a round that is still asking. */
#include <string.h>

#include "base/time.h"
#include "core/round.h"
#include "fuzz.h"
#include "lib/voters.h"
#include "round_model.h"

struct world {
    struct rlk_voters voters;
    struct rlk_round_terms terms;
    struct rlk_round round;
    struct round_model model;
    uint64_t now_us, limit_us, deadline_us;
};

static void step(struct world *w, struct rlk_event ev)
{
    struct rlk_actions out = {0};
    struct rlk_round before;

    memcpy(&before, &w->round, sizeof(before));
    ev.now_us = w->now_us;
    rlk_round_step(&w->round, &w->terms, &ev, &out);
    w->deadline_us = out.deadline_us = w->round.deadline_us;
    FUZZ_CHECK(!out.fresh && !out.report, "no round begins and nothing is reported");
    round_model_follow(&w->model, w->limit_us, &ev, &before, &w->round, &out);
}

/* The last moment at which a win would leave enough validity. */
static uint64_t edge(const struct world *w)
{
    return rlk_time_sub(w->round.valid_until_us, w->terms.min_validity_us);
}

/* ---- the script ---- */

/* Some events do not concern a round: they must change nothing. */
static const struct fuzz_event events[] = {
    {'s', "rc", {.kind = RLK_EVENT_START}},
    {'y', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_YES}},
    {'Y', "nf", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_YES}},
    {'n', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_NO}},
    {'N', "nh", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_NO}},
    {'?', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_UNKNOWN}},
    {'b', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_QUARANTINED}},
    {'C', "n", {.kind = RLK_EVENT_CONFIRM, .answer = RLK_ANSWER_OURS}},
    {'X', "n", {.kind = RLK_EVENT_CONFIRM, .answer = RLK_ANSWER_GONE}},
    {'m', "n", {.kind = RLK_EVENT_CLOCK_SUSPECT}},
    {'S', "b", {.kind = RLK_EVENT_SUSPENDED}},
    {'u', "n", {.kind = RLK_EVENT_NODE_UP}},
    {'d', "n", {.kind = RLK_EVENT_NODE_DOWN}},
    {'a', "n", {.kind = RLK_EVENT_ANSWER}},
    {'t', "", {.kind = RLK_EVENT_TIMER}},
    {'c', "", {.kind = RLK_EVENT_CANCEL}},
    {'D', "", {.kind = RLK_EVENT_DELIVER}},
    {0},
};

static void play(struct world *w, struct fuzz_script *s, int letter)
{
    struct rlk_event ev;

    if (letter == 'f') {
        w->terms.fenced = w->terms.fenced || w->round.state == RLK_ROUND_IDLE;
    } else if (letter == 'k') {
        w->terms.keeps_votes = w->terms.keeps_votes || w->round.state == RLK_ROUND_IDLE;
    } else if (letter == '=') {
        w->voters = fuzz_voters(s);
        step(w, (struct rlk_event){.kind = RLK_EVENT_VOTERS});
    } else if (letter == 'e' || letter == 'E') {
        fuzz_move_to(&w->now_us, edge(w) + (letter == 'E'));
    } else if (fuzz_event(s, events, letter, &ev)) {
        step(w, ev);
    } else {
        fuzz_time(s, letter, &w->now_us, w->deadline_us);
    }
}

/* A round that is asking ends at its deadline, if it has one. There may be one before that, for
 * nodes that are being connected. */
static void run_to_the_end(struct world *w)
{
    uint64_t before_us;

    while (w->deadline_us != RLK_NEVER) {
        before_us = w->deadline_us;
        fuzz_move_to(&w->now_us, w->deadline_us);
        step(w, (struct rlk_event){.kind = RLK_EVENT_TIMER});
        FUZZ_CHECK(w->round.state != RLK_ROUND_ASKING || w->deadline_us > before_us,
                   "a timer at the deadline decides");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_script s = {data, data + size};
    struct world w;
    int letter;

    memset(&w, 0, sizeof(w));
    w.voters = *all_voters(fuzz_count(&s));
    w.terms.voters = &w.voters;
    w.terms.lease_us = rlk_time_max(fuzz_number(&s), 1);
    w.terms.min_validity_us = fuzz_number(&s) % w.terms.lease_us;
    w.terms.timeout_us = fuzz_number(&s);
    w.now_us = 1000000;
    w.limit_us = rlk_time_add(w.now_us, fuzz_number(&s));
    w.deadline_us = RLK_NEVER;
    rlk_round_init(&w.round, w.limit_us);
    round_model_init(&w.model, &w.terms);
    while ((letter = fuzz_letter(&s)) >= 0) {
        play(&w, &s, letter);
    }
    run_to_the_end(&w);
    return 0;
}
