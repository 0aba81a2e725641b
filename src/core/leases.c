#include "core/leases.h"

#include "base/mask.h"
#include "base/time.h"

/* [S11] What it said, or may have been about to say, when its clock moved is worth nothing: the key
 * may have ended since. The next lease begins with the next question. */
static void forget_lease(struct rlk_leases *l, unsigned node)
{
    l->end_us[node] = l->next_us[node] = 0;
}

void rlk_leases_init(struct rlk_leases *l, unsigned nodes, const struct rlk_round *won)
{
    uint64_t left = won->mistimed;
    unsigned node;

    l->nodes = nodes;
    l->touched = won->asked & ~won->no;
    l->present = won->yes | won->barred;
    l->counted = l->kept = rlk_round_counted(won);
    l->open = won->asked & ~(won->yes | won->no | won->unknown);
    l->asked = won->asked;
    l->absent = won->no;
    l->doubtful = won->unknown & ~(won->twins | won->barred);
    l->twins = won->twins;
    l->mistimed = won->mistimed;
    l->healed = l->taken = 0;
    l->success = true;
    l->valid_until_us = won->valid_until_us;
    for (node = 0; node < nodes; node++) {
        l->next_us[node] = won->end_us[node];
        l->end_us[node] = l->present & rlk_mask_bit(node) ? won->end_us[node] : 0;
    }
    RLK_MASK_EACH (node, left) {
        forget_lease(l, node);
    }
}

void rlk_leases_adopt(struct rlk_leases *l)
{
    l->touched = l->doubtful = rlk_mask_all(l->nodes);
}

static void reckon(struct rlk_leases *l)
{
    l->valid_until_us = rlk_validity_until(l->end_us, l->counted, rlk_validity_quorum(l->nodes));
}

static uint64_t ask(struct rlk_leases *l, uint64_t nodes, uint64_t end_us)
{
    uint64_t left = nodes;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        l->next_us[node] = end_us;
    }
    l->open |= nodes;
    return nodes;
}

uint64_t rlk_leases_reach(const struct rlk_leases *l, uint64_t ready, uint64_t late)
{
    bool enough = rlk_mask_count(l->counted & (ready | l->open)) >= rlk_validity_quorum(l->nodes);

    return enough ? ready : ready | late;
}

uint64_t rlk_leases_begin(struct rlk_leases *l, uint64_t ready, uint64_t end_us)
{
    uint64_t nodes = l->touched & ready & ~(l->open | l->twins);

    l->asked = nodes;
    l->kept = l->taken = 0;
    l->success = false;
    return ask(l, nodes, end_us);
}

uint64_t rlk_leases_join(struct rlk_leases *l, unsigned node, uint64_t end_us)
{
    uint64_t nodes = rlk_mask_bit(node) & l->touched & ~(l->asked | l->open | l->twins);

    l->asked |= nodes;
    return ask(l, nodes, end_us);
}

uint64_t rlk_leases_heal(struct rlk_leases *l, uint64_t ready, uint64_t end_us)
{
    uint64_t nodes = rlk_mask_all(l->nodes) & ready & ~(l->present | l->open | l->taken | l->twins);

    l->touched |= nodes;
    l->healed |= nodes;
    return ask(l, nodes, end_us);
}

void rlk_leases_ask_again(struct rlk_leases *l, unsigned node, uint64_t end_us)
{
    ask(l, rlk_mask_bit(node) & l->open, end_us);
}

static void confirm(struct rlk_leases *l, unsigned node)
{
    uint64_t bit = rlk_mask_bit(node);

    l->present |= bit;
    l->kept |= bit & l->asked & ~l->mistimed;
    l->absent &= ~bit;
    l->end_us[node] = rlk_time_max(l->end_us[node], l->next_us[node]);
}

/* Its lease died with the key: a new one begins anew. */
static void lose(struct rlk_leases *l, unsigned node)
{
    uint64_t bit = rlk_mask_bit(node);

    l->end_us[node] = 0;
    l->present &= ~bit;
    l->kept &= ~bit;
    l->counted &= ~bit;
    l->absent |= bit;
    reckon(l);
}

/* [S10] Our key, where we were not known to have set it. */
static void found(struct rlk_leases *l, unsigned node)
{
    if (l->doubtful & rlk_mask_bit(node)) {
        confirm(l, node);
    } else {
        l->twins |= rlk_mask_bit(node);
    }
}

/* [S5] A refusal of the first SET proves that nothing of ours is there. One to heal does not: of
 * several keys some may be. */
void rlk_leases_voted(struct rlk_leases *l, unsigned node, enum rlk_vote vote)
{
    uint64_t bit = rlk_mask_bit(node) & l->open;

    l->open &= ~bit;
    if (bit == 0) {
        return;
    }
    switch (vote) {
    case RLK_VOTE_YES:
    case RLK_VOTE_BARRED:
        confirm(l, node);
        break;
    case RLK_VOTE_NO:
        l->touched &= ~(bit & ~l->healed);
        l->absent |= bit;
        break;
    case RLK_VOTE_OURS:
        found(l, node);
        break;
    case RLK_VOTE_UNKNOWN:
        l->doubtful |= bit;
        break;
    }
}

/* The lease is as long as it was asked for, whichever round it belongs to; a confirmation that
 * came for an earlier round is no confirmation in this one. */
static void keep(struct rlk_leases *l, unsigned node)
{
    unsigned quorum = rlk_validity_quorum(l->nodes);

    confirm(l, node);
    if (!l->success && rlk_mask_count(l->kept & l->counted) >= quorum) {
        l->success = true;
        l->counted = l->present & ~l->mistimed;
    }
    reckon(l);
}

void rlk_leases_answered(struct rlk_leases *l, unsigned node, enum rlk_answer answer)
{
    uint64_t bit = rlk_mask_bit(node) & l->open;

    l->open &= ~bit;
    if (bit == 0 || answer == RLK_ANSWER_UNKNOWN) {
        return;
    }
    if (answer == RLK_ANSWER_OURS) {
        keep(l, node);
    } else {
        l->taken |= answer == RLK_ANSWER_TAKEN ? bit : 0;
        lose(l, node);
    }
}

void rlk_leases_mistimed(struct rlk_leases *l, unsigned node, bool mistimed)
{
    uint64_t bit = rlk_mask_bit(node);

    if (node >= l->nodes) {
        return;
    }
    if (!mistimed) {
        l->mistimed &= ~bit;
        return;
    }
    l->mistimed |= bit;
    l->counted &= ~bit;
    forget_lease(l, node);
    reckon(l);
}

void rlk_leases_exchanged(struct rlk_leases *l, unsigned node)
{
    uint64_t bit = rlk_mask_bit(node);

    if (node >= l->nodes) {
        return;
    }
    l->doubtful |= bit;
    l->present &= ~bit;
    l->counted &= ~bit;
    l->kept &= ~bit;
    l->end_us[node] = 0; /* not that of the next answer: it comes from the data that it has now */
    reckon(l);
}

void rlk_leases_stood(struct rlk_leases *l, uint64_t by_us)
{
    unsigned node;

    for (node = 0; node < l->nodes; node++) {
        l->end_us[node] = rlk_time_sub(l->end_us[node], by_us);
        l->next_us[node] = rlk_time_sub(l->next_us[node], by_us);
    }
    reckon(l);
}

bool rlk_leases_possible(const struct rlk_leases *l)
{
    return rlk_mask_count(l->counted) >= rlk_validity_quorum(l->nodes);
}
