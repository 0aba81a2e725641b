/* fuzz_release.c - sequences of events into the count of a release.
 *
 * The script begins with two numbers and a set: nodes, the time until the deadline in
 * microseconds, and the nodes that may have the key. Then each letter is a step: an event (see
 * `events` below), or
 *
 *     +TIME       time goes by
 *     @, <        to the deadline, or to just before it
 *
 * Ends with a timer at the deadline, which must end it. */
#include <string.h>

#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/release.h"
#include "fuzz.h"
#include "lib/voters.h"
#include "round_model.h"

struct world {
    struct rlk_release r;
    unsigned nodes;
    uint64_t now_us, deadline_us;

    /* The answers that the release was given, counted once more. */
    uint64_t asked, open;
    uint64_t said[4]; /* by enum rlk_answer */
    enum rlk_release_state state;
    unsigned told;
};

static uint64_t heard(const struct world *w)
{
    return w->said[RLK_ANSWER_OURS] | w->said[RLK_ANSWER_GONE] | w->said[RLK_ANSWER_TAKEN];
}

/* ---- what a step must do ---- */

static void take_in(struct world *w, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    if (w->state == RLK_RELEASE_IDLE) {
        w->open = w->asked & (ev->ready | ev->connecting);
    } else if (ev->kind == RLK_EVENT_NODE_DOWN) {
        w->open &= ~bit;
    } else if (ev->kind == RLK_EVENT_ANSWER && (w->asked & ~heard(w) & bit)) {
        w->open &= ~bit;
        if (ev->answer == RLK_ANSWER_OURS || ev->answer == RLK_ANSWER_UNKNOWN ||
            !(w->said[RLK_ANSWER_UNKNOWN] & bit)) {
            w->said[ev->answer] |= bit;
        }
    }
}

/* Our key and another's were found, neither on a majority, and a node has not answered yet. */
static bool is_mixed(const struct world *w, unsigned majority)
{
    unsigned ours = rlk_mask_count(w->said[RLK_ANSWER_OURS]),
             theirs = rlk_mask_count(w->said[RLK_ANSWER_TAKEN]);

    return w->open != 0 && ours > 0 && theirs > 0 && ours < majority && theirs < majority;
}

static bool has_to_end(const struct world *w, const struct rlk_event *ev)
{
    unsigned majority = round_model_majority(w->nodes);

    if (ev->kind == RLK_EVENT_TIMER && w->now_us >= w->deadline_us) {
        return true;
    }
    if (rlk_mask_count(heard(w)) >= majority) {
        return !is_mixed(w, majority);
    }
    return rlk_mask_count(heard(w) | w->open) < majority;
}

static int verdict(const struct world *w)
{
    unsigned majority = round_model_majority(w->nodes);
    unsigned ours = rlk_mask_count(w->said[RLK_ANSWER_OURS]),
             theirs = rlk_mask_count(w->said[RLK_ANSWER_TAKEN]);

    if (rlk_mask_count(heard(w)) < majority) {
        return REDLOCK_ENOQUORUM;
    }
    if (theirs >= majority || (theirs > 0 && ours == 0)) {
        return REDLOCK_TAKEN;
    }
    return ours > 0 ? REDLOCK_OK : REDLOCK_GONE;
}

static void check_end(struct world *w, const struct rlk_event *ev, const struct rlk_actions *out)
{
    bool ends = has_to_end(w, ev);

    FUZZ_CHECK(w->r.state == (ends ? RLK_RELEASE_DONE : RLK_RELEASE_ASKING),
               "over when a majority answered or no longer can, or with its time");
    FUZZ_CHECK(out->report == ends, "its end is reported");
    FUZZ_CHECK(!ends || w->r.status == verdict(w), "what is told is what was answered");
    w->state = w->r.state;
    w->told += out->report;
}

static void check_step(struct world *w, const struct rlk_event *ev,
                       const struct rlk_release *before, const struct rlk_actions *out)
{
    bool starts = w->state == RLK_RELEASE_IDLE && ev->kind == RLK_EVENT_START;

    FUZZ_CHECK(!out->fresh && out->acquire == 0, "a release asks for no lock");
    FUZZ_CHECK(out->release == (starts ? w->asked : 0),
               "[S5] released at the start, on every node that may have the key");
    if (starts || w->state == RLK_RELEASE_ASKING) {
        take_in(w, ev);
        check_end(w, ev, out);
    } else {
        FUZZ_CHECK(memcmp(before, &w->r, sizeof(*before)) == 0, "an end is final");
        FUZZ_CHECK(!out->report, "the end is reported once");
    }
    FUZZ_CHECK(w->told <= 1, "reported once");
    FUZZ_CHECK(out->deadline_us == (w->state == RLK_RELEASE_ASKING ? w->deadline_us : RLK_NEVER),
               "a deadline for as long as it asks");
}

static void step(struct world *w, struct rlk_event ev)
{
    struct rlk_release before;
    struct rlk_actions out;

    memcpy(&before, &w->r, sizeof(before));
    memset(&out, 0xff, sizeof(out)); /* every field must be written */
    ev.now_us = w->now_us;
    rlk_release_step(&w->r, &ev, &out);
    check_step(w, &ev, &before, &out);
}

/* ---- the script ---- */

/* Some events do not concern a release: they must change nothing. */
static const struct fuzz_event events[] = {
    {'s', "rc", {.kind = RLK_EVENT_START}},
    {'x', "n", {.kind = RLK_EVENT_ANSWER, .answer = RLK_ANSWER_OURS}},
    {'g', "n", {.kind = RLK_EVENT_ANSWER, .answer = RLK_ANSWER_GONE}},
    {'k', "n", {.kind = RLK_EVENT_ANSWER, .answer = RLK_ANSWER_TAKEN}},
    {'?', "n", {.kind = RLK_EVENT_ANSWER, .answer = RLK_ANSWER_UNKNOWN}},
    {'d', "n", {.kind = RLK_EVENT_NODE_DOWN}},
    {'u', "n", {.kind = RLK_EVENT_NODE_UP}},
    {'t', "", {.kind = RLK_EVENT_TIMER}},
    {'c', "", {.kind = RLK_EVENT_CANCEL}},
    {'D', "", {.kind = RLK_EVENT_DELIVER}},
    {'v', "", {.kind = RLK_EVENT_VOTE}},
    {0},
};

static void play(struct world *w, struct fuzz_script *s, int letter)
{
    struct rlk_event ev;

    if (fuzz_event(s, events, letter, &ev)) {
        step(w, ev);
    } else {
        fuzz_time(s, letter, &w->now_us, w->deadline_us);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_script s = {data, data + size};
    struct world w;
    int letter;

    memset(&w, 0, sizeof(w));
    w.now_us = 1000000;
    w.nodes = fuzz_count(&s);
    w.deadline_us = rlk_time_add(w.now_us, fuzz_number(&s));
    w.asked = fuzz_mask(&s) & rlk_mask_all(w.nodes);
    rlk_release_init(&w.r, all_voters(w.nodes), w.asked, w.deadline_us);
    while ((letter = fuzz_letter(&s)) >= 0) {
        play(&w, &s, letter);
    }
    if (w.state == RLK_RELEASE_ASKING && w.deadline_us != RLK_NEVER) {
        fuzz_move_to(&w.now_us, w.deadline_us);
        step(&w, (struct rlk_event){.kind = RLK_EVENT_TIMER});
        FUZZ_CHECK(w.state == RLK_RELEASE_DONE, "a timer at the deadline ends it");
    }
    return 0;
}
