/* leases.c - the sets of nodes and the lease ends of a lock, and its validity. */
#include "core/leases.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"

/* By node: the lease end if the open question is answered with yes. */
static uint64_t *next_us(const struct rlk_leases *l)
{
    return l->end_us + l->nodes;
}

/* [S11] The clock moved, so the key may have expired early: neither the present lease counts, nor
 * the one that the open question would bring. The next lease begins with the next question. */
static void end_lease(struct rlk_leases *l, unsigned node)
{
    l->end_us[node] = next_us(l)[node] = 0;
}

void rlk_leases_init(struct rlk_leases *l, unsigned nodes, const struct rlk_voters *voters,
                     const struct rlk_round *won, uint64_t *room)
{
    uint64_t left = won->clock_suspect;
    unsigned node;

    l->nodes = nodes;
    l->voters = voters;
    l->voting = voters->set;
    l->end_us = room;
    l->may_have_key = won->asked & ~won->no;
    l->present = won->yes | won->quarantined;
    l->counted = l->confirmed = rlk_round_counted(won) & voters->set;
    l->unanswered = won->asked & ~(won->yes | won->no | won->unknown);
    l->asked = won->asked;
    l->absent = won->no;
    l->doubtful = won->unknown & ~(won->duplicates | won->quarantined);
    l->duplicates = won->duplicates;
    l->clock_suspect = won->clock_suspect;
    l->restored = l->taken = 0;
    l->success = true;
    l->valid_until_us = won->valid_until_us;
    for (node = 0; node < nodes; node++) {
        next_us(l)[node] = won->end_us[node];
        l->end_us[node] = l->present & rlk_mask_bit(node) ? won->end_us[node] : 0;
    }
    RLK_MASK_EACH (node, left) {
        end_lease(l, node);
    }
}

void rlk_leases_adopt(struct rlk_leases *l)
{
    l->may_have_key = l->doubtful = rlk_mask_all(l->nodes);
}

static void recompute_validity(struct rlk_leases *l)
{
    l->valid_until_us = rlk_validity_until(l->end_us, l->counted, rlk_voters_quorum(l->voters));
}

static uint64_t ask_leases(struct rlk_leases *l, uint64_t nodes, uint64_t end_us)
{
    uint64_t left = nodes;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        next_us(l)[node] = end_us;
    }
    l->unanswered |= nodes;
    return nodes;
}

uint64_t rlk_leases_reach(const struct rlk_leases *l, uint64_t ready, uint64_t late)
{
    return rlk_voters_are_enough(l->voters, l->counted & (ready | l->unanswered)) ? ready
                                                                                  : ready | late;
}

/* [S7] A renewal asks every node that may have our key. */
uint64_t rlk_leases_begin(struct rlk_leases *l, uint64_t ready, uint64_t end_us)
{
    uint64_t nodes = l->may_have_key & ready & ~(l->unanswered | l->duplicates);

    l->asked = nodes;
    l->confirmed = l->taken = 0;
    l->success = false;
    return ask_leases(l, nodes, end_us);
}

uint64_t rlk_leases_join(struct rlk_leases *l, unsigned node, uint64_t end_us)
{
    uint64_t nodes =
        rlk_mask_bit(node) & l->may_have_key & ~(l->asked | l->unanswered | l->duplicates);

    l->asked |= nodes;
    return ask_leases(l, nodes, end_us);
}

/* [S8] A restore asks every node that is not known to have our key, or somebody else's. */
uint64_t rlk_leases_restore(struct rlk_leases *l, uint64_t ready, uint64_t end_us)
{
    uint64_t nodes =
        rlk_mask_all(l->nodes) & ready & ~(l->present | l->unanswered | l->taken | l->duplicates);

    l->may_have_key |= nodes;
    l->restored |= nodes;
    return ask_leases(l, nodes, end_us);
}

void rlk_leases_ask_again(struct rlk_leases *l, unsigned node, uint64_t end_us)
{
    ask_leases(l, rlk_mask_bit(node) & l->unanswered, end_us);
}

static void confirm_key(struct rlk_leases *l, unsigned node)
{
    uint64_t bit = rlk_mask_bit(node);

    l->present |= bit;
    l->confirmed |= bit & l->asked & ~l->clock_suspect;
    l->absent &= ~bit;
    l->end_us[node] = rlk_time_max(l->end_us[node], next_us(l)[node]);
}

/* The key is gone, and the lease with it. */
static void drop_lease(struct rlk_leases *l, unsigned node)
{
    uint64_t bit = rlk_mask_bit(node);

    l->end_us[node] = 0;
    l->present &= ~bit;
    l->confirmed &= ~bit;
    l->counted &= ~bit;
    l->absent |= bit;
    recompute_validity(l);
}

/* [S10] Our key was there before we set it. */
static void note_unexpected_key(struct rlk_leases *l, unsigned node)
{
    if (l->doubtful & rlk_mask_bit(node)) {
        confirm_key(l, node);
    } else {
        l->duplicates |= rlk_mask_bit(node);
    }
}

/* [S5] When the first SET is refused, nothing of ours is there. When a restore is refused, some of
 * several keys may still be ours. */
void rlk_leases_voted(struct rlk_leases *l, unsigned node, enum rlk_vote vote)
{
    uint64_t bit = rlk_mask_bit(node) & l->unanswered;

    l->unanswered &= ~bit;
    if (bit == 0) {
        return;
    }
    switch (vote) {
    case RLK_VOTE_YES:
    case RLK_VOTE_QUARANTINED:
        confirm_key(l, node);
        break;
    case RLK_VOTE_NO:
        l->may_have_key &= ~(bit & ~l->restored);
        l->absent |= bit;
        break;
    case RLK_VOTE_OURS:
        note_unexpected_key(l, node);
        break;
    case RLK_VOTE_UNKNOWN:
        l->doubtful |= bit;
        break;
    }
}

/* [S7] Only nodes that counted before can make the round a success; then all voters that are
 * present count. */
static void check_success(struct rlk_leases *l)
{
    if (!l->success && rlk_voters_are_enough(l->voters, l->confirmed & l->counted)) {
        l->success = true;
        l->counted = l->present & ~l->clock_suspect & l->voting;
    }
}

/* A reply brings the lease of its question, whichever round asked it. But it confirms the key in
 * this round only if this round asked it. */
static void confirm_in_round(struct rlk_leases *l, unsigned node)
{
    confirm_key(l, node);
    check_success(l);
    recompute_validity(l);
}

void rlk_leases_answered(struct rlk_leases *l, unsigned node, enum rlk_answer answer)
{
    uint64_t bit = rlk_mask_bit(node) & l->unanswered;

    l->unanswered &= ~bit;
    if (bit == 0 || answer == RLK_ANSWER_UNKNOWN) {
        return;
    }
    if (answer == RLK_ANSWER_OURS) {
        confirm_in_round(l, node);
    } else {
        l->taken |= answer == RLK_ANSWER_TAKEN ? bit : 0;
        drop_lease(l, node);
    }
}

void rlk_leases_suspect_clock(struct rlk_leases *l, unsigned node, bool clock_suspect)
{
    uint64_t bit = rlk_mask_bit(node);

    if (node >= l->nodes) {
        return;
    }
    if (!clock_suspect) {
        l->clock_suspect &= ~bit;
        return;
    }
    l->clock_suspect |= bit;
    l->counted &= ~bit;
    end_lease(l, node);
    recompute_validity(l);
}

void rlk_leases_replace_data(struct rlk_leases *l, unsigned node)
{
    uint64_t bit = rlk_mask_bit(node);

    if (node >= l->nodes) {
        return;
    }
    l->doubtful |= bit;
    l->present &= ~bit;
    l->counted &= ~bit;
    l->confirmed &= ~bit;
    l->end_us[node] = 0; /* next_us() stays: the next reply comes from the new data */
    recompute_validity(l);
}

void rlk_leases_shift(struct rlk_leases *l, uint64_t by_us)
{
    unsigned node;

    for (node = 0; node < l->nodes; node++) {
        l->end_us[node] = rlk_time_sub(l->end_us[node], by_us);
        next_us(l)[node] = rlk_time_sub(next_us(l)[node], by_us);
    }
    recompute_validity(l);
}

/* [S7] A new voter that is present has confirmed our key before, so it counts at once. Until now a
 * majority of the former voters has had the key, and from now on a majority of the present ones has
 * it: nobody else can have won in between. If too few of these count, all that are present do: a
 * lock that was not renewed yet counts only the first ones that granted it, and one of these may
 * have left. If too few have the key, it is lost. */
void rlk_leases_recount(struct rlk_leases *l)
{
    uint64_t joined = l->voters->set & ~l->voting, present;

    l->voting = l->voters->set;
    present = l->present & l->voting & ~l->clock_suspect;
    l->counted = (l->counted & l->voting) | (joined & present);
    if (!rlk_voters_are_enough(l->voters, l->counted)) {
        l->counted = present;
    }
    check_success(l);
    recompute_validity(l);
}

bool rlk_leases_possible(const struct rlk_leases *l)
{
    return rlk_voters_are_enough(l->voters, l->counted);
}

void rlk_leases_grow(struct rlk_leases *l, unsigned nodes, uint64_t *room)
{
    memset(room, 0, RLK_LEASES_ROOM(nodes) * sizeof(*room));
    memcpy(room, l->end_us, l->nodes * sizeof(*room));
    memcpy(room + nodes, next_us(l), l->nodes * sizeof(*room));
    l->end_us = room;
    l->nodes = nodes;
}
