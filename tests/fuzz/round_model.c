/* round_model.c - see round_model.h. */
#include "round_model.h"

#include <string.h>

#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "fuzz.h"

/* [S1] */
unsigned round_model_majority(unsigned n)
{
    unsigned k = 1;

    while (2 * k <= n) {
        k++;
    }
    return k;
}

static unsigned majority(const struct round_model *m)
{
    return round_model_majority(m->terms->voters->size);
}

/* How many of these nodes have a vote. */
static unsigned votes(const struct round_model *m, uint64_t nodes)
{
    return rlk_mask_count(nodes & m->terms->voters->set);
}

/* How many voters may be missing. */
static unsigned spare(const struct round_model *m)
{
    return m->terms->voters->size - majority(m);
}

/* How many voters are not among these nodes: also those for which there is no node. */
static unsigned others(const struct round_model *m, uint64_t nodes)
{
    return m->terms->voters->size - votes(m, nodes);
}

void round_model_init(struct round_model *m, const struct rlk_round_terms *terms)
{
    memset(m, 0, sizeof(*m));
    m->terms = terms;
    m->deadline_us = m->patience_us = RLK_NEVER;
}

/* Nodes that could still say yes. */
static uint64_t open_nodes(const struct round_model *m)
{
    return (m->asked & ~m->voted) | m->coming;
}

static uint64_t agreeing(const struct round_model *m);

/* [S2] The majority-th largest lease end of the nodes that count, by sorting them. */
static uint64_t majority_end(const struct round_model *m)
{
    uint64_t ends[64], left = agreeing(m) & m->terms->voters->set;
    unsigned n = 0, node, i;

    RLK_MASK_EACH (node, left) {
        uint64_t end = rlk_time_sub(rlk_time_add(m->asked_us[node], m->terms->lease_us),
                                    m->suspended_us[node]);

        for (i = n++; i > 0 && ends[i - 1] < end; i--) {
            ends[i] = ends[i - 1];
        }
        ends[i] = end;
    }
    return n >= majority(m) ? ends[majority(m) - 1] : 0;
}

/* An end that never comes always leaves enough. */
bool round_model_enough(const struct round_model *m, uint64_t now_us)
{
    return m->until_us > now_us &&
           (m->until_us == RLK_NEVER || m->until_us - now_us >= m->terms->min_validity_us);
}

/* Until when a yes is of use: a later one leaves less than the minimum. */
static uint64_t useful_us(const struct round_model *m)
{
    return m->terms->lease_us - m->terms->min_validity_us;
}

/* When it needs a timer. */
static uint64_t due_us(const struct round_model *m)
{
    return rlk_time_min(m->deadline_us, m->patience_us);
}

/* Whether the event matters to the round in its present state. */
static bool concerns(const struct round_model *m, const struct rlk_event *ev)
{
    bool asking = m->state == RLK_ROUND_ASKING, won = m->state == RLK_ROUND_WON;
    const bool means[RLK_EVENT_KINDS] = {
        [RLK_EVENT_START] = m->state == RLK_ROUND_IDLE,
        [RLK_EVENT_NODE_UP] = asking && (m->coming & rlk_mask_bit(ev->node)),
        [RLK_EVENT_NODE_DOWN] = asking && (m->coming & rlk_mask_bit(ev->node)),
        [RLK_EVENT_VOTE] = (m->asked & ~m->voted & rlk_mask_bit(ev->node)) != 0,
        [RLK_EVENT_TIMER] = asking && ev->now_us >= due_us(m),
        [RLK_EVENT_CANCEL] = asking || won,
        [RLK_EVENT_DELIVER] =
            won && (votes(m, agreeing(m)) < majority(m) || !round_model_enough(m, ev->now_us)),
        [RLK_EVENT_CONFIRM] = (asking || won) && (m->unconfirmed & rlk_mask_bit(ev->node)),
        /* Events that are recorded for all nodes that were asked. */
        [RLK_EVENT_CLOCK_SUSPECT] = (asking || won) && (m->asked & rlk_mask_bit(ev->node)),
        [RLK_EVENT_QUARANTINED] = (asking || won) && (m->yes & rlk_mask_bit(ev->node)),
        [RLK_EVENT_SUSPENDED] = m->asked != 0,
        [RLK_EVENT_VOTERS] = asking || won,
    };

    return means[ev->kind];
}

/* ---- who must be asked ---- */

static void asked_now(struct round_model *m, uint64_t nodes, uint64_t now_us,
                      const struct rlk_actions *out)
{
    unsigned node;

    FUZZ_CHECK((out->acquire & m->asked & ~m->no) == 0,
               "[S4] no node is asked again in a round, unless it has refused");
    FUZZ_CHECK(out->acquire == nodes, "exactly the nodes that can be asked are asked");
    m->asked |= nodes;
    m->coming &= ~nodes;
    m->voted &= ~nodes;
    m->no &= ~nodes;
    RLK_MASK_EACH (node, nodes) {
        m->asked_us[node] = now_us;
        m->suspended_us[node] = 0;
    }
}

static void start(struct round_model *m, uint64_t limit_us, const struct rlk_event *ev,
                  const struct rlk_actions *out)
{
    uint64_t all = rlk_mask_all(RLK_MAX_NODES), ready = ev->ready & all;
    uint64_t coming = ev->connecting & all & ~ready;
    uint64_t patience = rlk_time_min(m->terms->timeout_us, useful_us(m));

    m->state = RLK_ROUND_ASKING;
    m->started_us = ev->now_us;
    m->deadline_us = rlk_time_min(limit_us, rlk_time_add(ev->now_us, patience));
    m->coming = coming;
    if (votes(m, ready | coming) < majority(m)) {
        ready = 0; /* asking is of no use */
        m->coming = 0;
    }
    asked_now(m, ready, ev->now_us, out);
}

/* ---- split votes ---- */

/* At most four times, in the first quarter of the lease, and before the deadline. */
static bool may_repeat(const struct round_model *m, uint64_t at_us)
{
    return m->repeats < 4 && at_us < m->deadline_us &&
           rlk_time_sub(at_us, m->started_us) < m->terms->lease_us / 4;
}

static bool is_taken(const struct round_model *m, unsigned node)
{
    return m->taken >> node & m->terms->voters->set >> node & 1;
}

/* Whether the value that refused at `node` is ahead of our votes: it has more, or as many and a
 * lower one. */
static bool is_behind(const struct round_model *m, uint64_t ours, unsigned node)
{
    unsigned other, theirs = 0, first = 64;

    for (other = 0; other < 64; other++) {
        if (is_taken(m, other) && m->holder[other] == m->holder[node]) {
            theirs++;
            first = first < other ? first : other;
        }
    }
    return theirs > rlk_mask_count(ours) ||
           (theirs == rlk_mask_count(ours) && (ours & (rlk_mask_bit(first) - 1)) == 0);
}

static bool leads(const struct round_model *m, uint64_t ours)
{
    unsigned node;

    for (node = 0; node < RLK_MAX_NODES; node++) {
        if (is_taken(m, node) && is_behind(m, ours, node)) {
            return false;
        }
    }
    return ours != 0;
}

/* Whether the refusals are the reason, and not the nodes that did not answer. */
static bool is_refused(const struct round_model *m)
{
    unsigned silent = others(m, m->yes | m->no | open_nodes(m)), refused = votes(m, m->no);

    return refused > spare(m) || (refused > 0 && silent <= spare(m));
}

/* Too few are left. Whether the round keeps these votes, and asks those that refused again. */
static bool repeats(const struct round_model *m, uint64_t ours, uint64_t now_us)
{
    return m->terms->keeps_votes && may_repeat(m, now_us) && is_refused(m) &&
           leads(m, ours & m->terms->voters->set) &&
           votes(m, ours | open_nodes(m) | m->no) >= majority(m);
}

/* ---- the fence [S12] ---- */

/* Those of these nodes that gave less than the fence, the same, or more: sign -1, 0 or 1. */
static uint64_t that_gave(const struct round_model *m, uint64_t nodes, int sign)
{
    uint64_t found = 0;
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        int is = (m->counter[node] > m->chosen) - (m->counter[node] < m->chosen);

        found |= is == sign ? rlk_mask_bit(node) : 0;
    }
    return found;
}

/* The nodes whose counter is the fence, with our key. The round needs a majority of these. */
static uint64_t agreeing(const struct round_model *m)
{
    if (!m->terms->fenced) {
        return m->yes;
    }
    return m->chosen ? m->yes & (that_gave(m, m->yes, 0) | m->confirmed) : 0;
}

/* The nodes that agree, or may still agree. */
static uint64_t hopeful(const struct round_model *m)
{
    return m->terms->fenced && m->chosen ? agreeing(m) | (m->yes & m->unconfirmed) : m->yes;
}

/* The largest number of the first majority. Later votes do not change it. */
static void choose(struct round_model *m)
{
    uint64_t left = m->yes & m->terms->voters->set;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        m->chosen = rlk_time_max(m->chosen, m->counter[node]);
    }
}

/* Those of these nodes that gave less than the fence: they must be asked to confirm, unless enough
 * voters agree as it is. */
static uint64_t ask_to_confirm(struct round_model *m, uint64_t heard)
{
    uint64_t less = that_gave(m, heard, -1);

    FUZZ_CHECK((less & m->asked_again) == 0, "asked to confirm once");
    m->asked_again |= less;
    m->unconfirmed |= less;
    return votes(m, agreeing(m)) >= majority(m) ? 0 : less;
}

/* The fence is chosen at the first majority. */
static uint64_t counted(struct round_model *m)
{
    if (m->chosen != 0 || votes(m, m->yes) < majority(m)) {
        return 0;
    }
    choose(m);
    return ask_to_confirm(m, m->yes);
}

/* A yes in a round that is asking: returns the nodes that must be asked to confirm because of
 * it. */
static uint64_t numbered(struct round_model *m, const struct rlk_event *ev)
{
    return m->chosen ? ask_to_confirm(m, rlk_mask_bit(ev->node)) : counted(m);
}

static void confirmed(struct round_model *m, const struct rlk_event *ev)
{
    m->unconfirmed &= ~rlk_mask_bit(ev->node);
    if (ev->answer == RLK_ANSWER_OURS) {
        m->confirmed |= rlk_mask_bit(ev->node);
    } else {
        m->yes &= ~rlk_mask_bit(ev->node);
    }
}

/* ---- votes and answers ---- */

static void voted(struct round_model *m, const struct rlk_event *ev, uint64_t *ret_confirm)
{
    bool numberless = m->terms->fenced && ev->fence == 0;

    if (ev->clock_suspect || ev->vote != RLK_VOTE_UNKNOWN) {
        m->clock_suspect = (m->clock_suspect & ~rlk_mask_bit(ev->node)) |
                           (ev->clock_suspect ? rlk_mask_bit(ev->node) : 0);
    }
    m->voted |= rlk_mask_bit(ev->node);
    m->no |= ev->vote == RLK_VOTE_NO ? rlk_mask_bit(ev->node) : 0;
    if (ev->vote != RLK_VOTE_UNKNOWN) {
        m->taken = (m->taken & ~rlk_mask_bit(ev->node)) | (m->no & rlk_mask_bit(ev->node));
        m->holder[ev->node] = ev->holder;
    }
    m->quarantined |= ev->vote == RLK_VOTE_QUARANTINED ? rlk_mask_bit(ev->node) : 0;
    if (ev->vote == RLK_VOTE_YES && !numberless) {
        m->yes |= rlk_mask_bit(ev->node);
        m->counter[ev->node] = ev->fence;
        if (m->terms->fenced && m->state == RLK_ROUND_ASKING) {
            *ret_confirm = numbered(m, ev);
        }
    }
}

static void stood(struct round_model *m, uint64_t by_us)
{
    uint64_t left = m->asked;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        m->suspended_us[node] = rlk_time_add(m->suspended_us[node], by_us);
    }
}

static void doubted(struct round_model *m, unsigned node, bool clock)
{
    m->clock_suspect |= clock ? rlk_mask_bit(node) : 0;
    if (m->yes & rlk_mask_bit(node)) {
        m->yes &= ~rlk_mask_bit(node);
        m->quarantined |= rlk_mask_bit(node);
    }
}

static void hear(struct round_model *m, const struct rlk_event *ev, const struct rlk_actions *out)
{
    uint64_t confirm = 0;

    if (ev->kind == RLK_EVENT_TIMER) {
        m->coming = 0;
        m->patience_us = RLK_NEVER;
    } else if (ev->kind == RLK_EVENT_NODE_DOWN) {
        m->coming &= ~rlk_mask_bit(ev->node);
    } else if (ev->kind == RLK_EVENT_VOTE) {
        voted(m, ev, &confirm);
    } else if (ev->kind == RLK_EVENT_CONFIRM) {
        confirmed(m, ev);
    } else if (ev->kind == RLK_EVENT_CLOCK_SUSPECT || ev->kind == RLK_EVENT_QUARANTINED) {
        doubted(m, ev->node, ev->kind == RLK_EVENT_CLOCK_SUSPECT);
    } else if (ev->kind == RLK_EVENT_SUSPENDED) {
        stood(m, ev->by_us);
    } else if (ev->kind == RLK_EVENT_VOTERS && m->terms->fenced && m->state == RLK_ROUND_ASKING) {
        confirm = counted(m);
    }
    FUZZ_CHECK(
        out->confirm == confirm,
        "[S12] asked to confirm: the nodes whose counted vote was below the fence, and no others");
    FUZZ_CHECK(confirm == 0 || out->fence == m->chosen, "[S12] the largest of the majority's");
}

static void take_in(struct round_model *m, uint64_t limit_us, const struct rlk_event *ev,
                    const struct rlk_actions *out)
{
    if (ev->kind == RLK_EVENT_START) {
        start(m, limit_us, ev, out);
    } else if (ev->kind == RLK_EVENT_NODE_UP) {
        asked_now(m, rlk_mask_bit(ev->node), ev->now_us, out);
    }
    hear(m, ev, out);
}

/* ---- what the step must do ---- */

static bool too_few_are_left(const struct round_model *m)
{
    return votes(m, hopeful(m) | open_nodes(m)) < majority(m);
}

/* Whether this may be the reason of a loss. A node that disagrees on a fence gave a greater one to
 * another client. */
static bool may_say(const struct round_model *m, const struct rlk_event *ev, int status)
{
    bool silence = others(m, m->yes | m->no) > spare(m);
    bool useless = ev->kind == RLK_EVENT_TIMER && ev->now_us >= m->deadline_us &&
                   rlk_time_sub(m->deadline_us, m->started_us) >= useful_us(m);
    bool split = m->terms->fenced && votes(m, agreeing(m)) < votes(m, m->yes);
    bool taken_back = ev->kind == RLK_EVENT_DELIVER && votes(m, agreeing(m)) < majority(m);
    bool ended = ev->kind == RLK_EVENT_CANCEL || ev->kind == RLK_EVENT_DELIVER;

    switch (status) {
    case REDLOCK_ECANCELED:
        return ev->kind == RLK_EVENT_CANCEL;
    case REDLOCK_ETOOSLOW:
        return (ev->kind == RLK_EVENT_DELIVER && !taken_back) || useless ||
               votes(m, agreeing(m)) >= majority(m);
    case REDLOCK_EHELD:
        return (votes(m, m->no) != 0 || split) && !ended && !useless;
    case REDLOCK_ENOQUORUM:
        return taken_back ||
               ((silence || split) && votes(m, m->no) <= spare(m) && !ended && !useless);
    default:
        return false;
    }
}

/* [S6] A round is decided as soon as it can be. */
static enum rlk_round_state decided(const struct round_model *m, const struct rlk_event *ev)
{
    if (m->state == RLK_ROUND_LOST || ev->kind == RLK_EVENT_CANCEL ||
        ev->kind == RLK_EVENT_DELIVER ||
        (ev->kind == RLK_EVENT_TIMER && ev->now_us >= m->deadline_us)) {
        return RLK_ROUND_LOST;
    }
    if (m->state == RLK_ROUND_WON) {
        return RLK_ROUND_WON;
    }
    if (votes(m, agreeing(m)) >= majority(m)) {
        return round_model_enough(m, ev->now_us) ? RLK_ROUND_WON : RLK_ROUND_LOST;
    }
    return too_few_are_left(m) && !repeats(m, hopeful(m), ev->now_us) ? RLK_ROUND_LOST
                                                                      : RLK_ROUND_ASKING;
}

/* Who is asked because of the decision: those that refused, when the round goes on without enough
 * other nodes. */
static void check_asked(struct round_model *m, const struct rlk_event *ev,
                        const struct rlk_actions *out)
{
    if (m->state == RLK_ROUND_ASKING && too_few_are_left(m)) {
        m->repeats++;
        asked_now(m, m->no, ev->now_us, out);
    } else if (ev->kind != RLK_EVENT_START && ev->kind != RLK_EVENT_NODE_UP) {
        FUZZ_CHECK(out->acquire == 0,
                   "only a start, a node that comes up and a split vote make it ask");
    }
}

static void check_decision(struct round_model *m, const struct rlk_event *ev,
                           const struct rlk_round *after, const struct rlk_actions *out)
{
    enum rlk_round_state was = m->state;

    m->until_us = was == RLK_ROUND_LOST ? 0 : majority_end(m);
    m->state = decided(m, ev);
    FUZZ_CHECK(after->state != RLK_ROUND_WON || was != RLK_ROUND_ASKING ||
                   votes(m, m->yes) >= majority(m),
               "[S1] won with fewer yeses than a majority");
    FUZZ_CHECK(after->state != RLK_ROUND_WON || was != RLK_ROUND_ASKING ||
                   votes(m, agreeing(m)) >= majority(m),
               "[S12] won with fewer that agree than a majority");
    FUZZ_CHECK(after->state == m->state, "[S6] decided when it can be, and right");
    check_asked(m, ev, out);
    if (m->state != RLK_ROUND_LOST) {
        FUZZ_CHECK(out->release == 0, "nothing is released before the round is lost");
    } else if (was == RLK_ROUND_LOST) {
        FUZZ_CHECK(after->status == m->status, "a loss keeps its reason");
        FUZZ_CHECK(out->release == 0, "released once");
    } else {
        FUZZ_CHECK(may_say(m, ev, after->status), "a loss has a reason that is true");
        FUZZ_CHECK((out->release & ~m->asked) == 0, "[S5] only what was asked is released");
        FUZZ_CHECK((m->asked & ~m->no & ~out->release) == 0,
                   "[S5] all that was asked and did not refuse is released");
        FUZZ_CHECK((out->release & m->no) == 0, "[S5] a proven refusal is spared");
        m->status = after->status;
    }
    if (m->state == RLK_ROUND_LOST) {
        m->coming = 0;
        m->until_us = 0;
    }
}

/* [S6] All of a majority have voted, some have refused, and what is left is being connected: it
 * gets as long again as the majority took. */
static void be_patient(struct round_model *m, uint64_t now_us)
{
    if (m->state == RLK_ROUND_ASKING && m->terms->keeps_votes && votes(m, m->coming) > 0 &&
        votes(m, m->no) > 0 && votes(m, m->asked & ~m->voted) == 0 &&
        votes(m, m->asked) >= majority(m) && m->patience_us == RLK_NEVER) {
        m->patience_us = rlk_time_add(now_us, rlk_time_sub(now_us, m->started_us));
    }
}

static void check_what_others_read(const struct round_model *m, const struct rlk_round *after,
                                   const struct rlk_actions *out)
{
    FUZZ_CHECK(after->asked == m->asked, "it knows which nodes it asked");
    FUZZ_CHECK(after->yes == m->yes && after->no == m->no, "it counts the votes");
    FUZZ_CHECK(after->quarantined == m->quarantined, "[S11] and those that do not count");
    FUZZ_CHECK(after->clock_suspect == m->clock_suspect,
               "[S11] and whose clock cannot be relied on");
    FUZZ_CHECK(rlk_round_counted(after) == agreeing(m) || m->chosen == 0,
               "[S12] the nodes that agree");
    FUZZ_CHECK(after->fence.value == m->chosen, "[S12] and the fence");
    if (m->state == RLK_ROUND_WON) {
        FUZZ_CHECK(after->valid_until_us <= m->until_us, "[S2] valid for longer than a majority");
        FUZZ_CHECK(after->valid_until_us == m->until_us, "[S2] valid as long as a majority");
    } else {
        FUZZ_CHECK(after->valid_until_us == 0, "[S2] what is not won is not valid");
    }
    FUZZ_CHECK(out->deadline_us == (m->state == RLK_ROUND_ASKING ? due_us(m) : RLK_NEVER),
               "the deadline is the first of the node's time, the use of a yes, and the limit");
}

void round_model_follow(struct round_model *m, uint64_t limit_us, const struct rlk_event *ev,
                        const struct rlk_round *before, const struct rlk_round *after,
                        const struct rlk_actions *out)
{
    if (concerns(m, ev)) {
        take_in(m, limit_us, ev, out);
        check_decision(m, ev, after, out);
        be_patient(m, ev->now_us);
    } else {
        FUZZ_CHECK(memcmp(before, after, sizeof(*before)) == 0,
                   "an event that does not matter changes nothing");
        FUZZ_CHECK(out->acquire == 0 && out->release == 0 && out->confirm == 0,
                   "nor does it ask for anything");
    }
    check_what_others_read(m, after, out);
}
