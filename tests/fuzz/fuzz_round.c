/* fuzz_round.c - sequences of events into a round.
 *
 * The script begins with five numbers: nodes, lease, least validity, timeout and the limit of
 * the round, in microseconds from its start. Then each letter is a step:
 *
 *     f                with a fence, from the start on
 *     s READY COMING   start; two sets in hexadecimal    y N, n N, ? N   a vote of node N
 *     Y N FENCE        a yes with a number               b N             a yes that is quarantined
 *     C N, X N         node N confirms, or does not      m N             its clock went forward
 *     S TIME           we stood still for so long
 *     u N, d N         node N is up, is down             a N             an answer to a release
 *     t, c, D          timer, cancel, deliver
 *     +TIME            time goes by                      @, <            to the deadline, or to
 *     e, E             to the last moment at which a                     just before it
 *                      win leaves enough, or just behind
 *
 * Ends with a timer at the deadline, which must decide a round that is still asking. */
#include <string.h>

#include "base/time.h"
#include "core/round.h"
#include "fuzz.h"
#include "round_model.h"

struct world {
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
    rlk_round_step(&w->round, &w->terms, w->limit_us, &ev, &out);
    FUZZ_CHECK(!out.fresh && !out.report, "a round neither begins one nor tells");
    round_model_follow(&w->model, w->limit_us, &ev, &before, &w->round, &out);
    w->deadline_us = out.deadline_us;
}

/* The last moment at which the round, if it is won, leaves enough. */
static uint64_t edge(const struct world *w)
{
    return rlk_time_sub(w->round.valid_until_us, w->terms.min_validity_us);
}

static void of_node(struct world *w, enum rlk_event_kind kind, unsigned node, enum rlk_vote vote)
{
    step(w, (struct rlk_event){.kind = kind, .node = node, .vote = vote});
}

static void numbered(struct world *w, struct fuzz_script *s)
{
    struct rlk_event ev = {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_YES};

    ev.node = fuzz_node(s);
    ev.fence = fuzz_number(s);
    step(w, ev);
}

static void confirm(struct world *w, unsigned node, enum rlk_answer answer)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_CONFIRM, .node = node, .answer = answer});
}

static void start(struct world *w, struct fuzz_script *s)
{
    struct rlk_event ev = {.kind = RLK_EVENT_START};

    ev.ready = fuzz_mask(s);
    ev.connecting = fuzz_mask(s);
    step(w, ev);
}

/* What has to do with fences, and with servers that cannot be relied on. */
static bool play_doubt(struct world *w, struct fuzz_script *s, int letter)
{
    switch (letter) {
    case 'f':
        w->terms.fenced = w->terms.fenced || w->round.state == RLK_ROUND_IDLE;
        return true;
    case 'Y':
        numbered(w, s);
        return true;
    case 'b':
        of_node(w, RLK_EVENT_VOTE, fuzz_node(s), RLK_VOTE_QUARANTINED);
        return true;
    case 'C':
        confirm(w, fuzz_node(s), RLK_ANSWER_OURS);
        return true;
    case 'X':
        confirm(w, fuzz_node(s), RLK_ANSWER_GONE);
        return true;
    case 'm':
        of_node(w, RLK_EVENT_CLOCK_SUSPECT, fuzz_node(s), RLK_VOTE_UNKNOWN);
        return true;
    case 'S':
        step(w, (struct rlk_event){.kind = RLK_EVENT_SUSPENDED, .by_us = fuzz_number(s)});
        return true;
    default:
        return false;
    }
}

static void play(struct world *w, struct fuzz_script *s, int letter)
{
    switch (letter) {
    case 's':
        start(w, s);
        break;
    case 'u':
        of_node(w, RLK_EVENT_NODE_UP, fuzz_node(s), RLK_VOTE_UNKNOWN);
        break;
    case 'd':
        of_node(w, RLK_EVENT_NODE_DOWN, fuzz_node(s), RLK_VOTE_UNKNOWN);
        break;
    case 'y':
        of_node(w, RLK_EVENT_VOTE, fuzz_node(s), RLK_VOTE_YES);
        break;
    case 'n':
        of_node(w, RLK_EVENT_VOTE, fuzz_node(s), RLK_VOTE_NO);
        break;
    case '?':
        of_node(w, RLK_EVENT_VOTE, fuzz_node(s), RLK_VOTE_UNKNOWN);
        break;
    case 'a':
        of_node(w, RLK_EVENT_ANSWER, fuzz_node(s), RLK_VOTE_UNKNOWN);
        break;
    case 't':
        of_node(w, RLK_EVENT_TIMER, 0, RLK_VOTE_UNKNOWN);
        break;
    case 'c':
        of_node(w, RLK_EVENT_CANCEL, 0, RLK_VOTE_UNKNOWN);
        break;
    case 'D':
        of_node(w, RLK_EVENT_DELIVER, 0, RLK_VOTE_UNKNOWN);
        break;
    case 'e':
        fuzz_move_to(&w->now_us, edge(w));
        break;
    case 'E':
        fuzz_move_to(&w->now_us, edge(w) + 1);
        break;
    default:
        if (!play_doubt(w, s, letter)) {
            fuzz_time(s, letter, &w->now_us, w->deadline_us);
        }
        break;
    }
}

/* A round that is asking ends at its deadline, if it has one. */
static void come_to_an_end(struct world *w)
{
    if (w->deadline_us != RLK_NEVER) {
        fuzz_move_to(&w->now_us, w->deadline_us);
        of_node(w, RLK_EVENT_TIMER, 0, RLK_VOTE_UNKNOWN);
        FUZZ_CHECK(w->round.state != RLK_ROUND_ASKING, "a timer at the deadline decides");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_script s = {data, data + size};
    struct world w;
    int letter;

    memset(&w, 0, sizeof(w));
    w.terms.nodes = fuzz_count(&s);
    w.terms.lease_us = rlk_time_max(fuzz_number(&s), 1);
    w.terms.min_validity_us = fuzz_number(&s) % w.terms.lease_us;
    w.terms.timeout_us = fuzz_number(&s);
    w.now_us = 1000000;
    w.limit_us = rlk_time_add(w.now_us, fuzz_number(&s));
    w.deadline_us = RLK_NEVER;
    rlk_round_init(&w.round);
    round_model_init(&w.model, &w.terms);
    while ((letter = fuzz_letter(&s)) >= 0) {
        play(&w, &s, letter);
    }
    come_to_an_end(&w);
    return 0;
}
