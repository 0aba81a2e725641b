/* leases.h - which nodes have our key, and until when the lock is valid because of that.
 *
 * Book-keeping for core/hold.h: nothing here reads the time.
 *
 *     [S2]  Each node has a lease of its own, which begins before the node is asked. The lock is
 *           valid until the quorum-th largest lease end of the nodes that count.
 *     [S7]  A node counts when it had confirmed our key before the last successful round ended.
 *           So at every instant since then a majority has had the key. A node that confirms later
 *           (a late vote, a restored node) is present, and counts from the next success on.
 *           Only voters count [S1]: a node without a vote gets our key and is asked to keep it,
 * too. [S8]  A restored node is one that was asked to set the key when the lock was held already.
 *
 *     a node that                                                is afterwards
 *     --------------------------------------------------------------------------------------
 *     confirms our key, and is no duplicate                      present
 *     is present when a round succeeds                           counted, if its clock is reliable
 *     has a clock that moved                                     present, but not counted
 *     has no key or another one, or whose data were replaced     neither
 *     becomes a voter, and is present                            counted, if its clock is reliable
 *     has no vote, or none any more                              not counted
 *
 * A node is asked one question at a time, so a reply always belongs to the last question, however
 * late it comes. */
#ifndef RLK_CORE_LEASES_H
#define RLK_CORE_LEASES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/event.h"
#include "core/round.h"

struct rlk_leases {
    const struct rlk_voters *voters; /* they may change between two calls */
    uint64_t voting;                 /* voters->set, when we last took notice of it */
    unsigned nodes;
    bool success;           /* a majority of the nodes that count confirmed in this round */
    uint64_t may_have_key;  /* may have our key: these have to be released */
    uint64_t present;       /* have our key, by their last reply */
    uint64_t counted;       /* of the present voters, those that count [S7] */
    uint64_t absent;        /* do not have our key, by their last reply */
    uint64_t unanswered;    /* were asked, and have not replied */
    uint64_t doubtful;      /* the answer to a SET was lost, or the data were replaced: our key may
                               be there, and finding it is no surprise */
    uint64_t duplicates;    /* have our key though we never set it there: a second address of a
                               server that has voted [S10] */
    uint64_t restored;      /* were asked at least once to set the key again */
    uint64_t clock_suspect; /* their clocks cannot be relied on, so they do not count [S11] */

    /* The round under way. */
    uint64_t asked;     /* the nodes of this round */
    uint64_t confirmed; /* of these, those that confirmed our key */
    uint64_t taken;     /* of these, those that have somebody else's key */

    uint64_t valid_until_us; /* [S2]; 0 when a majority is impossible */
    uint64_t *end_us;        /* by node: the end of its lease; 0: no lease. After these, by node:
                                the lease end if the open question is answered with yes */
};

/* How many words of memory the leases of so many nodes need. */
#define RLK_LEASES_ROOM(nodes) ((size_t)2 * (nodes))

/* Begin with the round that was won, when the win is reported to the user. Nobody has relied on the
 * lock before, so every voter that has granted it by now counts. room: of RLK_LEASES_ROOM(nodes).
 */
void rlk_leases_init(struct rlk_leases *l, unsigned nodes, const struct rlk_voters *voters,
                     const struct rlk_round *won, uint64_t *room);

/* Another process acquired the lock: our key may be on any node, also where it was not found. */
void rlk_leases_adopt(struct rlk_leases *l);

/* Which nodes to ask: those that are ready, and the backlogged ones only when no majority of the
 * nodes that count could confirm without them [S7]. */
uint64_t rlk_leases_reach(const struct rlk_leases *l, uint64_t ready, uint64_t late);

/* Begin a round. Returns the nodes to ask to keep the key: of the ready ones, those that may have
 * it and have no open question. end_us: the lease end that a yes brings. */
uint64_t rlk_leases_begin(struct rlk_leases *l, uint64_t ready, uint64_t end_us);

/* A node has answered the question that was open when the round began. Returns the node, as a set,
 * if it has to be asked now; 0 if not. */
uint64_t rlk_leases_join(struct rlk_leases *l, unsigned node, uint64_t end_us);

/* After a success. Returns the nodes to ask to set the key, of the ready ones. */
uint64_t rlk_leases_restore(struct rlk_leases *l, uint64_t ready, uint64_t end_us);

/* The open question of a node is asked once more, with a new lease end. */
void rlk_leases_ask_again(struct rlk_leases *l, unsigned node, uint64_t end_us);

/* An answer to a SET, of the first round or of a restore. */
void rlk_leases_voted(struct rlk_leases *l, unsigned node, enum rlk_vote vote);

/* An answer to an extension or a renewal. */
void rlk_leases_answered(struct rlk_leases *l, unsigned node, enum rlk_answer answer);

/* [S11] A node's clock cannot be relied on, or can be relied on again. When the clock moved, leases
 * from earlier questions end: the key may have expired early. A node whose clock is good again
 * counts from the next success on, as any present node does, with a lease from a question that it
 * was asked since. */
void rlk_leases_suspect_clock(struct rlk_leases *l, unsigned node, bool clock_suspect);

/* [S7] A node's data were replaced. If our key is there it may be a copy, so it does not count
 * until the node confirms it. */
void rlk_leases_replace_data(struct rlk_leases *l, unsigned node);

/* [S11] The client was suspended, and its clock did not count that: leases end by_us sooner. */
void rlk_leases_shift(struct rlk_leases *l, uint64_t by_us);

/* [S7] The voters have changed. The round under way may succeed because of that. */
void rlk_leases_recount(struct rlk_leases *l);

/* There are so many nodes from now on; none of the new ones was asked. room: of
 * RLK_LEASES_ROOM(nodes), instead of the former one. */
void rlk_leases_grow(struct rlk_leases *l, unsigned nodes, uint64_t *room);

/* Whether a round can still succeed: a majority of the voters counts. */
bool rlk_leases_possible(const struct rlk_leases *l);

#endif
