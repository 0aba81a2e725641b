/* fuzz_hold.c - sequences of events into a lock that is held.
 *
 * The script begins with eight numbers and three sets: nodes, ttl in milliseconds, drift in parts
 * per million, timeout in microseconds, flags (1: renewed by itself, 2: only when had_heartbeat, 4:
 * who said neither yes nor no was quarantined), longest time to hold it in microseconds, most
 * renewals, the seed of the jitter; the nodes that were asked, those that said yes and those that
 * said no (hexadecimal; more yes than these when they are no majority). Then each letter is a step:
 * an event (see `events` below), or
 *
 *     r READY     from now on these nodes can be asked
 *     F           the nodes have no room, or have some again
 *     = SET N     these nodes (hexadecimal) have a vote from now on, and there are so many voters
 *     x TTL       extend for so many milliseconds
 *     +TIME       time goes by
 *     @, <        to the deadline, or to just before it
 *
 * Ends with a driver whose nodes are silent, which must end in the loss. */
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/hold.h"
#include "fuzz.h"
#include "hold_model.h"
#include "lib/events.h"
#include "lib/voters.h"

#define MAX_TTL_MS 86400000
#define MAX_TIMEOUT_US 60000000
/* After so many steps of the driver the machine seems to have been suspended. */
#define PATIENCE 200

struct world {
    struct rlk_voters voters;
    struct rlk_hold h;
    uint64_t room[RLK_LEASES_ROOM(RLK_MAX_NODES)]; /* of h */
    struct hold_model model;
    uint64_t ready, now_us, deadline_us;
    bool full;
};

static void step(struct world *w, struct rlk_event ev)
{
    struct rlk_actions out;
    struct rlk_hold before;

    memcpy(&before, &w->h, sizeof(before));
    memset(&out, 0xff, sizeof(out)); /* every field must be written */
    ev.now_us = w->now_us;
    if (event_has_nodes(&ev)) {
        ev.ready = w->ready;
        ev.full = w->full && ev.kind != RLK_EVENT_DEQUEUED;
    }
    rlk_hold_step(&w->h, &ev, &out);
    hold_model_follow(&w->model, &ev, &before, &w->h, &out);
    w->deadline_us = out.deadline_us;
}

/* ---- the script ---- */

/* Some events do not concern a held lock: they must change nothing. */
static const struct fuzz_event events[] = {
    {'y', "n", {.kind = RLK_EVENT_KEPT, .answer = RLK_ANSWER_OURS}},
    {'Y', "n", {.kind = RLK_EVENT_KEPT, .answer = RLK_ANSWER_OURS, .clock_suspect = true}},
    {'g', "n", {.kind = RLK_EVENT_KEPT, .answer = RLK_ANSWER_GONE}},
    {'G', "n", {.kind = RLK_EVENT_KEPT, .answer = RLK_ANSWER_GONE, .clock_suspect = true}},
    {'k', "n", {.kind = RLK_EVENT_KEPT, .answer = RLK_ANSWER_TAKEN}},
    {'?', "n", {.kind = RLK_EVENT_KEPT, .answer = RLK_ANSWER_UNKNOWN}},
    {'v', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_YES}},
    {'b', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_QUARANTINED}},
    {'X', "n", {.kind = RLK_EVENT_QUARANTINED, .data_replaced = true}},
    {'m', "n", {.kind = RLK_EVENT_CLOCK_SUSPECT}},
    {'S', "b", {.kind = RLK_EVENT_SUSPENDED}},
    {'p', "", {.kind = RLK_EVENT_HEARTBEAT}},
    {'t', "", {.kind = RLK_EVENT_TIMER}},
    {'R', "", {.kind = RLK_EVENT_DEQUEUED}},
    {'c', "", {.kind = RLK_EVENT_CANCEL}},
    {'D', "", {.kind = RLK_EVENT_DELIVER}},
    {'u', "", {.kind = RLK_EVENT_NODE_UP}},
    {0},
};

/* What a node says answers the question that it was asked: to keep the key, or to set it again. A
 * vote does not answer the former, and is ignored. */
static void hear(struct world *w, struct rlk_event ev)
{
    static const enum rlk_vote votes[] = {RLK_VOTE_UNKNOWN, RLK_VOTE_YES, RLK_VOTE_NO, RLK_VOTE_NO};
    const struct hold_model_node *n = &w->model.node[ev.node];

    if (ev.kind == RLK_EVENT_KEPT && n->open && !n->keep) {
        ev.kind = RLK_EVENT_VOTE;
        ev.vote = votes[ev.answer];
    } else if (ev.kind == RLK_EVENT_VOTE && n->open && n->keep) {
        return;
    }
    step(w, ev);
}

static uint64_t ttl_us(struct fuzz_script *s)
{
    return 1000 * rlk_time_max(10, rlk_time_min(fuzz_number(s), MAX_TTL_MS));
}

/* The driver allows one extension at a time. */
static void extend(struct world *w, struct fuzz_script *s)
{
    struct rlk_event ev = {.kind = RLK_EVENT_EXTEND, .ttl_us = ttl_us(s)};

    if (!w->h.extension) {
        step(w, ev);
    }
}

static void play(struct world *w, struct fuzz_script *s, int letter)
{
    struct rlk_event ev;

    if (letter == 'r') {
        w->ready = fuzz_mask(s);
    } else if (letter == 'F') {
        w->full = !w->full;
    } else if (letter == '=') {
        w->voters = fuzz_voters(s);
        step(w, (struct rlk_event){.kind = RLK_EVENT_VOTERS});
    } else if (letter == 'x') {
        extend(w, s);
    } else if (fuzz_event(s, events, letter, &ev)) {
        hear(w, ev);
    } else {
        fuzz_time(s, letter, &w->now_us, w->deadline_us);
    }
}

static void run_to_the_end(struct world *w)
{
    unsigned i;

    for (i = 0; i < PATIENCE && w->h.state == RLK_HOLD_HELD; i++) {
        fuzz_move_to(&w->now_us, w->deadline_us);
        step(w, (struct rlk_event){.kind = RLK_EVENT_TIMER});
    }
    if (w->h.state == RLK_HOLD_HELD) {
        fuzz_move_to(&w->now_us, hold_model_until(&w->model));
        step(w, (struct rlk_event){.kind = RLK_EVENT_TIMER});
    }
    FUZZ_CHECK(w->h.state == RLK_HOLD_LOST && w->model.reported_lost == 1,
               "[S3, S9] without any answer it is lost when its time is over");
    FUZZ_CHECK(w->model.reported_extended == w->model.asked_extended,
               "every extension is reported");
}

static void configure(struct rlk_hold_config *c, struct fuzz_script *s, bool *ret_quarantined)
{
    uint64_t flags;

    c->nodes = (uint8_t)fuzz_count(s);
    c->ttl_us = ttl_us(s);
    c->drift_ppm = (uint32_t)rlk_time_min(fuzz_number(s), 500000);
    c->timeout_us = (uint32_t)rlk_time_max(1, rlk_time_min(fuzz_number(s), MAX_TIMEOUT_US));
    flags = fuzz_number(s);
    c->renew = flags & 1;
    c->needs_heartbeat = flags & 2;
    *ret_quarantined = flags & 4;
    c->together = flags & 8;
    c->max_hold_us = fuzz_number(s);
    c->max_renewals = (uint32_t)rlk_time_min(fuzz_number(s), UINT32_MAX);
    c->prng.state = fuzz_number(s);
}

/* A round that was just won, as round.h leaves it. */
static void win(struct rlk_round *r, const struct rlk_hold_config *c, bool quarantined,
                uint64_t now_us, struct fuzz_script *s)
{
    uint64_t all = rlk_mask_all(c->nodes), lease_us;
    unsigned node, quorum = rlk_validity_quorum(c->nodes);

    rlk_round_init(r, RLK_NEVER);
    r->state = RLK_ROUND_WON;
    r->started_us = now_us;
    r->asked = fuzz_mask(s) & all;
    r->yes = fuzz_mask(s) & all;
    for (node = 0; rlk_mask_count(r->yes) < quorum; node++) {
        r->yes |= rlk_mask_bit(node);
    }
    r->asked |= r->yes;
    r->no = fuzz_mask(s) & r->asked & ~r->yes;
    r->quarantined = r->unknown = quarantined ? r->asked & ~(r->yes | r->no) : 0;
    lease_us = rlk_time_max(1, rlk_validity_lease_us(c->ttl_us, c->drift_ppm));
    for (node = 0; node < c->nodes; node++) {
        r->end_us[node] = now_us + lease_us;
    }
    r->valid_until_us = now_us + lease_us;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_script s = {data, data + size};
    struct rlk_hold_config config;
    struct rlk_actions out;
    struct rlk_round won;
    struct world w;
    bool quarantined;
    int letter;

    memset(&w, 0, sizeof(w));
    memset(&config, 0, sizeof(config));
    memset(&won, 0, sizeof(won));
    memset(&out, 0xff, sizeof(out));
    configure(&config, &s, &quarantined);
    w.now_us = 1000000;
    w.ready = UINT64_MAX;
    win(&won, &config, quarantined, w.now_us, &s);
    w.voters = *all_voters(config.nodes);
    rlk_hold_init(&w.h, &config, &w.voters, w.room);
    rlk_hold_start(&w.h, &won, w.now_us, &out);
    hold_model_start(&w.model, &config, &w.voters, &won, w.now_us, &w.h, &out);
    w.deadline_us = out.deadline_us;
    while ((letter = fuzz_letter(&s)) >= 0) {
        play(&w, &s, letter);
    }
    run_to_the_end(&w);
    return 0;
}
