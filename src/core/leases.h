/* leases.h - what each node has said of our key, and how long the lock is valid for that.
 *
 * Pure book-keeping, for hold.h: no time passes here.
 *
 *     [S2]  A node has a lease of its own, from before it was asked. The lock is valid until the
 *           quorum-th largest lease end of the nodes that count.
 *     [S7]  A node counts when it had confirmed our key before the last successful round ended:
 *           so at every instant since then a majority has had it. One that confirmed it later
 *           (a late vote, a healed node) is present, and counts from the next success on.
 *     [S8]  A healed node is one that was set again, or at last.
 *
 * A node is asked one thing at a time: what it answers always belongs to what it was asked last,
 * however late it comes. */
#ifndef RLK_CORE_LEASES_H
#define RLK_CORE_LEASES_H

#include <stdbool.h>

#include "core/event.h"
#include "core/round.h"

struct rlk_leases {
    unsigned nodes;
    uint64_t touched;       /* may have our key: to be released */
    uint64_t present;       /* said that they have our key, and nothing else since */
    uint64_t counted;       /* those of them that count [S7] */
    uint64_t absent;        /* said that our key is not there, and nothing else since */
    uint64_t open;          /* were asked, and have not answered */
    uint64_t doubtful;      /* an answer to a SET was lost: our key may be there */
    uint64_t duplicates;    /* had it, though never set: another address of one that counts [S10] */
    uint64_t healed;        /* were asked to set it again, ever */
    uint64_t clock_suspect; /* their clocks cannot be relied on: what they confirm does not count
                               [S11] */

    /* The round under way. */
    uint64_t asked; /* in this round */
    uint64_t kept;  /* of these, those that confirmed */
    uint64_t taken; /* of these, those that have somebody else's key */
    bool success;   /* a majority did */

    uint64_t valid_until_us; /* [S2]; 0 when a majority is impossible */
    uint64_t end_us[RLK_MAX_NODES];
    uint64_t next_us[RLK_MAX_NODES]; /* the end that the answer to come will bring */
};

/* From the round that was won, at the moment when its user is told: nobody has relied on the lock
 * before, so all who have granted it by then count. */
void rlk_leases_init(struct rlk_leases *l, unsigned nodes, const struct rlk_round *won);

/* Somebody else acquired it: our key may be on any node, wherever it was not found. */
void rlk_leases_adopt(struct rlk_leases *l);

/* Of the nodes that are ready and those that are late: the former, and the latter too when no
 * majority of those that count could confirm without them [S7]. */
uint64_t rlk_leases_reach(const struct rlk_leases *l, uint64_t ready, uint64_t late);

/* Begin a round: returns the nodes to be asked to keep the key, of those that are ready. */
uint64_t rlk_leases_begin(struct rlk_leases *l, uint64_t ready, uint64_t end_us);

/* A node that still had to answer something when the round began has done so: returns it when it
 * is to be asked now. */
uint64_t rlk_leases_join(struct rlk_leases *l, unsigned node, uint64_t end_us);

/* After a success: returns the nodes to be asked to set the key, of those that are ready. */
uint64_t rlk_leases_heal(struct rlk_leases *l, uint64_t ready, uint64_t end_us);

/* The question that a node has not answered is asked once more, from now on. */
void rlk_leases_ask_again(struct rlk_leases *l, unsigned node, uint64_t end_us);

/* An answer to a SET, of the first round or to heal. */
void rlk_leases_voted(struct rlk_leases *l, unsigned node, enum rlk_vote vote);

/* An answer to an extension. */
void rlk_leases_answered(struct rlk_leases *l, unsigned node, enum rlk_answer answer);

/* [S11] A node's clock cannot be relied on (any more), or can again. What it confirmed before its
 * clock moved, or was asked before, is worth nothing: the key may have ended early. One that can be
 * relied on again counts from the next success on, like any that is present, and its lease from the
 * first question that it was asked since. */
void rlk_leases_suspect_clock(struct rlk_leases *l, unsigned node, bool clock_suspect);

/* [S7] A node's data are not those that it had. Our key may be there as a copy: that is no
 * possession, until the node confirms it. */
void rlk_leases_replace_data(struct rlk_leases *l, unsigned node);

/* [S11] Our own clock stood still: every lease ends so much sooner. */
void rlk_leases_shift(struct rlk_leases *l, uint64_t by_us);

/* A majority of the nodes that count can still confirm. */
bool rlk_leases_possible(const struct rlk_leases *l);

#endif
