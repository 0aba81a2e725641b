/* round.c - a function for each event of a round, and the decision. */
#include "core/round.h"

#include <redlock/error.h>

#include "base/rare.h"
#include "base/mask.h"
#include "base/time.h"
#include "core/holder.h"
#include "core/split.h"

/* How many times the nodes that refused may be asked again. */
#define MAX_ASK_AGAIN 4

void rlk_round_init(struct rlk_round *r, uint64_t limit_us)
{
    r->state = RLK_ROUND_IDLE;
    r->status = 0;
    r->asked = r->connecting = 0;
    r->yes = r->no = r->unknown = r->duplicates = r->quarantined = r->clock_suspect = 0;
    rlk_fence_init(&r->fence);
    r->started_us = 0;
    r->deadline_us = RLK_NEVER;
    r->end_of_round_us = limit_us;
    r->asked_again = 0;
    r->held_by_others = 0;
    r->valid_until_us = 0;
}

/* [S5] A node that did not reply, or replied with an error, may still have our key, so it gets a
 * release, too. Only nodes that proved that somebody else has the key get none. */
static void lose_round(struct rlk_round *r, int status, struct rlk_actions *out)
{
    r->state = RLK_ROUND_LOST;
    r->status = status;
    r->deadline_us = RLK_NEVER;
    r->valid_until_us = 0;
    r->connecting = 0;
    out->release = r->asked & ~r->no;
}

bool rlk_round_is_refused(const struct rlk_round *r, const struct rlk_voters *voters)
{
    return rlk_voters_can_block(voters, r->no);
}

bool rlk_round_is_lost_to_errors(const struct rlk_round *r, const struct rlk_voters *voters)
{
    uint64_t errors = r->unknown & ~(r->quarantined | r->duplicates) & voters->set;

    return errors != 0 && !rlk_round_is_refused(r, voters) &&
           rlk_voters_are_enough(voters, r->yes | errors);
}

uint64_t rlk_round_refused_by(const struct rlk_round *r)
{
    return (r->no | r->held_by_others) & ~(r->yes | r->unknown);
}

bool rlk_round_may_be_held(const struct rlk_round *r, const struct rlk_voters *voters, bool one_key)
{
    struct rlk_holder_view view = {.voters = voters};
    uint64_t left = one_key ? rlk_round_refused_by(r) : 0;
    struct rlk_holder holder;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        view.value[node] = r->holder[node];
        view.held |= r->holder[node] ? rlk_mask_bit(node) : 0;
    }
    view.answered = view.held | (r->yes & ~r->quarantined);
    rlk_holder_find(&view, &holder);
    return holder.possible;
}

bool rlk_round_is_split(const struct rlk_round *r, const struct rlk_voters *voters)
{
    return r->state == RLK_ROUND_LOST && r->status == REDLOCK_EHELD && (r->yes & voters->set) != 0;
}

/* Why there was no majority: the voters that refused, or those that have not said anything, if
 * either of them alone made it impossible. A voter for which we have no node has not said anything.
 * If neither did, a refusal is more useful to report. With a fencing token there may be no refusal
 * at all, but only votes that do not agree [S12]. said: the nodes that have, or still may. */
static int choose_status(const struct rlk_round *r, const struct rlk_voters *voters, uint64_t said)
{
    if (rlk_round_is_refused(r, voters)) {
        return REDLOCK_EHELD;
    }
    return (r->no & voters->set) == 0 || !rlk_voters_are_enough(voters, said) ? REDLOCK_ENOQUORUM
                                                                              : REDLOCK_EHELD;
}

static bool enough_left(const struct rlk_round *r, const struct rlk_round_terms *terms,
                        uint64_t now_us)
{
    return r->valid_until_us >= rlk_time_add(now_us, terms->min_validity_us) &&
           r->valid_until_us > now_us;
}

/* [S12] The first majority of yes votes chooses the fencing token: from then on only nodes that
 * agree count. */
static bool has_fence(const struct rlk_round *r)
{
    return r->fence.value != 0;
}

uint64_t rlk_round_counted(const struct rlk_round *r)
{
    return has_fence(r) ? r->yes & r->fence.agreed : r->yes;
}

/* The yes votes that count, or may count when a node confirms. */
static uint64_t possible_yes(const struct rlk_round *r)
{
    return has_fence(r) ? r->yes & (r->fence.agreed | r->fence.asked) : r->yes;
}

/* [S2, S12] By the nodes that count: 0 when these are too few. */
static void recompute_validity(struct rlk_round *r, const struct rlk_round_terms *terms)
{
    r->valid_until_us = rlk_validity_until(r->end_us, rlk_round_counted(r) & terms->voters->set,
                                           rlk_voters_quorum(terms->voters));
}

/* Whether a majority counts. Between a win and its report that may change. */
static bool has_majority(const struct rlk_round *r, const struct rlk_round_terms *terms)
{
    return rlk_voters_are_enough(terms->voters, rlk_round_counted(r));
}

/* [S2] The lease of a node counts from before its command is queued. */
static void ask_round(struct rlk_round *r, const struct rlk_round_terms *terms, uint64_t nodes,
                      uint64_t now_us, struct rlk_actions *out)
{
    uint64_t left = nodes;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        r->end_us[node] = rlk_time_add(now_us, terms->lease_us);
    }
    r->asked |= nodes;
    r->connecting &= ~nodes;
    out->acquire = nodes;
}

/* Not too often and not for long: votes that are kept keep others out, and their leases end. */
static bool may_ask_again(const struct rlk_round *r, const struct rlk_round_terms *terms,
                          uint64_t now_us)
{
    uint64_t until_us = rlk_time_add(r->started_us, terms->lease_us / 4);

    return terms->keeps_votes && r->asked_again < MAX_ASK_AGAIN &&
           now_us < rlk_time_min(until_us, r->end_of_round_us) &&
           rlk_split_leads(r->holder, possible_yes(r) & terms->voters->set,
                           r->held_by_others & terms->voters->set);
}

/* [S4] Each of these nodes has replied to our SET with the value of another key: so none of them
 * has our token, and no SET of it is on its way to them. A SET that is still on its way, or got
 * another reply, may have set the token, so it is not sent again. The node gets a new lease, and a
 * release unless it refuses again [S2, S5]. */
static void ask_again(struct rlk_round *r, const struct rlk_round_terms *terms, uint64_t now_us,
                      struct rlk_actions *out)
{
    uint64_t refused = r->no;

    r->asked_again++;
    r->no = 0;
    ask_round(r, terms, refused, now_us, out);
}

/* Without the nodes that refused there is no majority. With the voters among them there can be one:
 * the status says that those that have not said anything did not make it impossible. */
RLK_RARE static void ask_again_or_lose(struct rlk_round *r, const struct rlk_round_terms *terms,
                                       uint64_t open, uint64_t now_us, struct rlk_actions *out)
{
    int status = choose_status(r, terms->voters, r->yes | r->no | open);

    if (status == REDLOCK_EHELD && may_ask_again(r, terms, now_us)) {
        ask_again(r, terms, now_us, out);
    } else {
        lose_round(r, status, out);
    }
}

/* The nodes that were asked and have not voted. */
static uint64_t unanswered(const struct rlk_round *r)
{
    return r->asked & ~(r->yes | r->no | r->unknown);
}

/* [S6] A majority has replied, others have some of its votes, and only nodes that are being
 * connected could settle that: give them as long again as the majority took. They may hang, and
 * votes that are kept keep others out. Nobody competes for the token of an adoption. */
static void limit_patience(struct rlk_round *r, const struct rlk_round_terms *terms,
                           uint64_t now_us)
{
    uint64_t set = terms->voters->set;

    if (terms->keeps_votes && (r->connecting & set) && (r->no & set) &&
        (unanswered(r) & set) == 0 && r->deadline_us == r->end_of_round_us &&
        rlk_voters_are_enough(terms->voters, r->asked)) {
        uint64_t took_us = rlk_time_sub(now_us, r->started_us);

        r->deadline_us = rlk_time_min(r->end_of_round_us, rlk_time_add(now_us, took_us));
    }
}

/* [S6] Decide as soon as possible: at the quorum-th yes, or when too few nodes are left that could
 * still say yes. */
static void decide(struct rlk_round *r, const struct rlk_round_terms *terms,
                   const struct rlk_event *ev, struct rlk_actions *out)
{
    uint64_t open = unanswered(r) | r->connecting;

    if (has_majority(r, terms)) {
        recompute_validity(r, terms);
        if (enough_left(r, terms, ev->now_us)) {
            r->state = RLK_ROUND_WON;
            r->deadline_us = RLK_NEVER;
        } else {
            lose_round(r, REDLOCK_ETOOSLOW, out);
        }
    } else if (!rlk_voters_are_enough(terms->voters, possible_yes(r) | open)) {
        ask_again_or_lose(r, terms, open, ev->now_us, out);
    } else {
        limit_patience(r, terms, ev->now_us);
    }
}

/* A vote counts or no longer counts: decide, or recompute the validity of a win. */
static void decide_or_revalidate(struct rlk_round *r, const struct rlk_round_terms *terms,
                                 const struct rlk_event *ev, struct rlk_actions *out)
{
    if (r->state == RLK_ROUND_ASKING) {
        decide(r, terms, ev, out);
    } else if (r->state == RLK_ROUND_WON) {
        recompute_validity(r, terms);
    }
}

/* When waiting longer makes no sense: the nodes had their time, or a later grant would leave too
 * little validity. */
static uint64_t latest_deadline(const struct rlk_round_terms *terms, uint64_t now_us,
                                uint64_t limit_us)
{
    uint64_t useful = rlk_time_sub(terms->lease_us, terms->min_validity_us);

    return rlk_time_min(limit_us, rlk_time_add(now_us, rlk_time_min(terms->timeout_us, useful)));
}

static void start_round(struct rlk_round *r, const struct rlk_round_terms *terms,
                        const struct rlk_event *ev, struct rlk_actions *out)
{
    uint64_t all = rlk_mask_all(RLK_MAX_NODES);
    uint64_t ready = (ev->ready | ev->backlogged) & all;

    if (r->state != RLK_ROUND_IDLE) {
        return;
    }
    r->state = RLK_ROUND_ASKING;
    r->started_us = ev->now_us;
    r->end_of_round_us = latest_deadline(terms, ev->now_us, r->end_of_round_us);
    r->deadline_us = r->end_of_round_us;
    r->connecting = ev->connecting & all & ~ready;
    if (!rlk_voters_are_enough(terms->voters, ready | r->connecting)) {
        lose_round(r, REDLOCK_ENOQUORUM, out); /* nothing was sent: nothing to release */
        return;
    }
    ask_round(r, terms, ready, ev->now_us, out);
}

/* Where enough voters agree, others need not: they were asked only because they may become voters.
 */
static void ask_to_confirm(const struct rlk_round *r, const struct rlk_round_terms *terms,
                           uint64_t nodes, struct rlk_actions *out)
{
    out->confirm = nodes != 0 && !has_majority(r, terms) ? nodes : 0;
    out->fence = r->fence.value;
}

/* [S12] After a win no node is asked to confirm: extensions raise the counters. A late vote with
 * the counter of the fencing token still agrees with it. */
static void record_yes(struct rlk_round *r, const struct rlk_round_terms *terms,
                       const struct rlk_event *ev, struct rlk_actions *out)
{
    if (terms->fenced && ev->fence == 0) {
        r->unknown |= rlk_mask_bit(ev->node);
        return;
    }
    r->yes |= rlk_mask_bit(ev->node);
    if (terms->fenced && r->state == RLK_ROUND_ASKING) {
        uint64_t nodes = rlk_fence_voted(&r->fence, ev->node, ev->fence, r->yes, terms->voters);

        ask_to_confirm(r, terms, nodes, out);
    } else if (terms->fenced) {
        rlk_fence_voted_late(&r->fence, ev->node, ev->fence);
    }
}

/* The holder that a node named counts until the node says something else: also while we ask again,
 * and when its reply is lost. */
static void record_holder(struct rlk_round *r, const struct rlk_event *ev)
{
    if (ev->vote == RLK_VOTE_NO) {
        r->held_by_others |= rlk_mask_bit(ev->node);
        r->holder[ev->node] = ev->holder;
    } else if (ev->vote != RLK_VOTE_UNKNOWN) {
        r->held_by_others &= ~rlk_mask_bit(ev->node);
    }
}

static void record(struct rlk_round *r, const struct rlk_round_terms *terms,
                   const struct rlk_event *ev, struct rlk_actions *out)
{
    switch (ev->vote) {
    case RLK_VOTE_YES:
        record_yes(r, terms, ev, out);
        break;
    case RLK_VOTE_QUARANTINED:
        r->quarantined |= rlk_mask_bit(ev->node);
        r->unknown |= rlk_mask_bit(ev->node);
        break;
    case RLK_VOTE_NO:
        r->no |= rlk_mask_bit(ev->node);
        break;
    case RLK_VOTE_OURS:
        r->duplicates |= rlk_mask_bit(ev->node);
        r->unknown |= rlk_mask_bit(ev->node);
        break;
    case RLK_VOTE_UNKNOWN:
        r->unknown |= rlk_mask_bit(ev->node);
        break;
    }
}

/* [S11] A reply tells whether the node's clock can be relied on now. When the reply was lost, the
 * clock is as suspect as it was before. */
static void update_clock(struct rlk_round *r, const struct rlk_event *ev)
{
    uint64_t bit = rlk_mask_bit(ev->node);

    if (ev->clock_suspect) {
        r->clock_suspect |= bit;
    } else if (ev->vote != RLK_VOTE_UNKNOWN) {
        r->clock_suspect &= ~bit;
    }
}

static void vote(struct rlk_round *r, const struct rlk_round_terms *terms,
                 const struct rlk_event *ev, struct rlk_actions *out)
{
    if (!(r->asked & ~(r->yes | r->no | r->unknown) & rlk_mask_bit(ev->node))) {
        return; /* the node was not asked, or has voted */
    }
    update_clock(r, ev);
    record_holder(r, ev);
    record(r, terms, ev, out);
    if (r->state == RLK_ROUND_ASKING || r->end_us[ev->node] > r->valid_until_us) {
        decide_or_revalidate(r, terms, ev, out); /* a shorter lease changes nothing in a win */
    }
}

static bool is_undelivered(const struct rlk_round *r)
{
    return r->state == RLK_ROUND_ASKING || r->state == RLK_ROUND_WON;
}

static void retract_yes(struct rlk_round *r, unsigned node)
{
    r->yes &= ~rlk_mask_bit(node);
    r->unknown |= rlk_mask_bit(node);
}

/* [S12] A node that does not confirm no longer has our key, or its counter is the fencing token
 * already, or more. */
static void confirm(struct rlk_round *r, const struct rlk_round_terms *terms,
                    const struct rlk_event *ev, struct rlk_actions *out)
{
    bool agrees = ev->answer == RLK_ANSWER_OURS;

    if (!(r->fence.asked & rlk_mask_bit(ev->node)) || !is_undelivered(r)) {
        return;
    }
    rlk_fence_confirmed(&r->fence, ev->node, agrees);
    if (!agrees) {
        retract_yes(r, ev->node);
    }
    decide_or_revalidate(r, terms, ev, out);
}

/* [S11] The node may have lost other keys, or let them expire early. So it may have granted the
 * lock wrongly, and its yes no longer counts. */
static void distrust_node(struct rlk_round *r, const struct rlk_round_terms *terms,
                          const struct rlk_event *ev, struct rlk_actions *out)
{
    uint64_t bit = rlk_mask_bit(ev->node) & r->asked;

    if (!is_undelivered(r)) {
        return;
    }
    r->clock_suspect |= ev->kind == RLK_EVENT_CLOCK_SUSPECT ? bit : 0;
    if (r->yes & bit) {
        r->quarantined |= bit;
        retract_yes(r, ev->node);
        decide_or_revalidate(r, terms, ev, out);
    }
}

/* [S11] The client was suspended: leases end sooner than our clock says. */
static void shift_leases(struct rlk_round *r, const struct rlk_round_terms *terms,
                         const struct rlk_event *ev, struct rlk_actions *out)
{
    uint64_t left = r->asked;
    unsigned node;

    (void)out;
    RLK_MASK_EACH (node, left) {
        r->end_us[node] = rlk_time_sub(r->end_us[node], ev->by_us);
    }
    if (r->state == RLK_ROUND_WON) {
        recompute_validity(r, terms);
    }
}

/* Too slow: the validity set the deadline. Otherwise nodes did not reply. */
static void end_round(struct rlk_round *r, const struct rlk_round_terms *terms,
                      struct rlk_actions *out)
{
    uint64_t useful = rlk_time_sub(terms->lease_us, terms->min_validity_us);

    if (rlk_time_sub(r->end_of_round_us, r->started_us) >= useful) {
        lose_round(r, REDLOCK_ETOOSLOW, out);
    } else {
        lose_round(r, choose_status(r, terms->voters, r->yes | r->no), out);
    }
}

static void on_round_timer(struct rlk_round *r, const struct rlk_round_terms *terms,
                           const struct rlk_event *ev, struct rlk_actions *out)
{
    if (r->state != RLK_ROUND_ASKING || ev->now_us < r->deadline_us) {
        return;
    }
    if (ev->now_us >= r->end_of_round_us) {
        end_round(r, terms, out);
    } else {
        r->connecting = 0;
        r->deadline_us = r->end_of_round_us;
        decide(r, terms, ev, out);
    }
}

/* Every condition of the win must still be true: votes may have stopped counting since. */
static void deliver_round(struct rlk_round *r, const struct rlk_round_terms *terms,
                          const struct rlk_event *ev, struct rlk_actions *out)
{
    if (r->state != RLK_ROUND_WON) {
        return;
    }
    if (!has_majority(r, terms)) {
        lose_round(r, REDLOCK_ENOQUORUM, out);
    } else if (!enough_left(r, terms, ev->now_us)) {
        lose_round(r, REDLOCK_ETOOSLOW, out);
    }
}

static bool is_waited_for(const struct rlk_round *r, unsigned node)
{
    return r->state == RLK_ROUND_ASKING && (r->connecting & rlk_mask_bit(node));
}

static void node_up(struct rlk_round *r, const struct rlk_round_terms *terms,
                    const struct rlk_event *ev, struct rlk_actions *out)
{
    if (is_waited_for(r, ev->node)) {
        ask_round(r, terms, rlk_mask_bit(ev->node), ev->now_us, out);
    }
}

static void node_down(struct rlk_round *r, const struct rlk_round_terms *terms,
                      const struct rlk_event *ev, struct rlk_actions *out)
{
    if (is_waited_for(r, ev->node)) {
        r->connecting &= ~rlk_mask_bit(ev->node);
        decide(r, terms, ev, out);
    }
}

static void cancel_round(struct rlk_round *r, const struct rlk_round_terms *terms,
                         const struct rlk_event *ev, struct rlk_actions *out)
{
    (void)terms;
    (void)ev;
    if (is_undelivered(r)) {
        lose_round(r, REDLOCK_ECANCELED, out);
    }
}

/* [S1] Votes of former voters no longer count, and those of new ones do: also votes that came
 * before. With a fencing token they may now be the first majority [S12]. */
static void recount(struct rlk_round *r, const struct rlk_round_terms *terms,
                    const struct rlk_event *ev, struct rlk_actions *out)
{
    if (terms->fenced && r->state == RLK_ROUND_ASKING) {
        ask_to_confirm(r, terms, rlk_fence_recount(&r->fence, r->yes, terms->voters), out);
    }
    decide_or_revalidate(r, terms, ev, out);
}

static void (*const steps[RLK_EVENT_KINDS])(struct rlk_round *, const struct rlk_round_terms *,
                                            const struct rlk_event *, struct rlk_actions *) = {
    [RLK_EVENT_START] = start_round,
    [RLK_EVENT_NODE_UP] = node_up,
    [RLK_EVENT_NODE_DOWN] = node_down,
    [RLK_EVENT_VOTE] = vote,
    [RLK_EVENT_CONFIRM] = confirm,
    [RLK_EVENT_TIMER] = on_round_timer,
    [RLK_EVENT_CANCEL] = cancel_round,
    [RLK_EVENT_QUARANTINED] = distrust_node,
    [RLK_EVENT_CLOCK_SUSPECT] = distrust_node,
    [RLK_EVENT_SUSPENDED] = shift_leases,
    [RLK_EVENT_VOTERS] = recount,
    [RLK_EVENT_DELIVER] = deliver_round,
};

void rlk_round_step(struct rlk_round *r, const struct rlk_round_terms *terms,
                    const struct rlk_event *ev, struct rlk_actions *out)
{
    if (steps[ev->kind]) {
        steps[ev->kind](r, terms, ev, out);
    }
}
