/* waiting.h - how an attempt waits for keys that somebody else holds, without polling [W1 to W8].
 *
 * Some masters, the hosts, keep a wait queue for the key. They say when it is our turn, and before
 * that when we are next. Two hosts that say so are enough to ask all masters for the lock: so a
 * host that is slow, stopped or wrong neither delays a turn nor makes one. Whoever is next looks
 * after the key, too: it may expire, or be deleted by a client that knows nothing of lists.
 *
 * A turn is a hint when to ask, and proves nothing: only votes win a lock. Every hint may be lost:
 * each waiter looks again after a time, whatever it has heard.
 *
 * How good a turn is that hosts have announced [W3]:
 *
 *            one host             1 to 2 ms             all have answered, or 10 ms
 *     NONE -----------> ALONE ---------------> LOOKING --------------------------> DUE: a round
 *                         |   others deny it      |
 *                         +------> DENIED <-------+
 *                                  whoever is next asks in spite of that, after 1.5 to 2.5 s
 *
 * From each state: when two hosts have announced it, or the only one, it is DUE at once; when those
 * that have announced it list us again, it becomes NONE. DENIED is also the turn of a host whose
 * turn was denied lately, when no other host has announced it.
 *
 * Of each host it matters what it said last (listed, next, turn: messages and answers come over
 * different connections, so all combinations occur), whether it is to answer (asked), and how the
 * answer counts: one that crosses a turn does not deny it (crossed), any other does (denied). Of
 * the 128 combinations 27 occur:
 *
 *     without subscribed     only turn
 *     denied                 only with listed, and neither with turn nor with asked
 *     crossed                not with listed
 *
 * These are sets of nodes and not a state of each host, because what follows is decided by how many
 * hosts are in a set, and because the actions are sets. tests/fuzz/wait_model.c checks them.
 *
 * docs/algorithm.md, "Waiting", has the rules, and docs/proofs.md what bounds a wait. */
#ifndef RLK_CORE_WAITING_H
#define RLK_CORE_WAITING_H

#include "base/prng.h"
#include "core/event.h"

/* [W1] How many masters keep the wait queue of a key, and how many of these start a round. */
#define RLK_WAITING_HOSTS 3
#define RLK_WAITING_TURNS 2

/* [W4] How soon whoever is next looks after the key, up to a quarter later. Until then it is woken
 * in nearly all cases. Waiters of different hosts may be next at the same time: they must not look
 * at the same time again and again. */
#define RLK_WAITING_NEXT_US 20000

/* [W5] How often every waiter looks, whatever it has heard: up to a quarter earlier or later. */
#define RLK_WAITING_LOOK_US 2000000

/* [W3] How long a turn that only one host announces waits for another, up to twice as long; and how
 * long the look after that may take. */
#define RLK_WAITING_ALONE_US 1000
#define RLK_WAITING_CHECK_US 10000

/* [W5] All keys of a host may have changed (FLUSHALL), which all waiters hear at once: each of them
 * looks within this time. A thousand of them make ten looks in a millisecond. */
#define RLK_WAITING_FLUSHED_US 100000

/* [W6] How long hosts may take to answer before a poll. A poll ends the wait for their answers: so
 * with less than a round trip, a waiter far from its masters would always poll. */
#define RLK_WAITING_ANSWER_US 100000

/* [W7] How long whoever has just released leaves the masters to the one whose turn it is. */
#define RLK_WAITING_YIELD_US 400

struct rlk_waiting {
    unsigned nodes, first; /* how many there are; the first in the order of the key */
    uint64_t hosts;        /* they keep our place, or will when their subscriber connection is up */

    /* Of the hosts, in this wait: */
    uint64_t subscribed; /* their watch is up; all below but `turn` are of these */
    uint64_t asked;      /* have not answered yet */
    uint64_t listed;     /* we are in their lists */
    uint64_t next;       /* nobody is before us */
    uint64_t turn;       /* say that it is our turn */
    uint64_t crossed;    /* said so while a question was under way */
    uint64_t denied;     /* have listed us since the last look at all hosts, or since such news */

    /* Of all nodes, hosts or not, also in the next wait: */
    uint64_t doubted; /* others denied their turn: alone it does not count until ... */
    uint64_t doubted_until_us;
    uint64_t unable; /* could not list us, and are not asked again until ... */
    uint64_t unable_until_us;
    uint64_t vain;      /* their turn was refused, and they have not listed us since */
    uint64_t positions; /* list us or have let us go first: to be told when we leave */
    uint64_t lists;     /* of these: may have us in their lists, by what they said last [W7] */

    uint32_t position; /* what a host said last; 0: unknown */
    bool checked;      /* we have looked at all hosts, and none has had news since */
    bool yields;       /* no host has listed us yet since others were to go first [W7] */
    uint64_t look_us;  /* when to look again */
    uint64_t pause_us; /* the next pause between two looks at a key that has expired */
    uint64_t go_us;    /* when a turn is due; RLK_NEVER: not now */
    uint64_t end_us[RLK_WAITING_HOSTS]; /* when the key expires on each host */
};

/* nodes: 1 to RLK_MAX_NODES; hash: of the keys, the same in all clients [W1]. */
void rlk_waiting_init(struct rlk_waiting *w, unsigned nodes, uint32_t hash);

/* Begin to wait, or begin again after a round: the next TIMER, which is due now, asks the hosts.
 * yields: others go first [W7]. */
void rlk_waiting_begin(struct rlk_waiting *w, bool yields, uint64_t now_us);

/* Whether hosts have announced a turn again without having listed us after the last one, which was
 * refused: a round is in vain as long as they do. */
bool rlk_waiting_is_vain(const struct rlk_waiting *w);

/* Wait for nothing. Hosts may still have us in their lists. */
void rlk_waiting_stop(struct rlk_waiting *w);

/* Our place in a wait queue, for people; 0: unknown. */
uint32_t rlk_waiting_position(const struct rlk_waiting *w);

/* POSITION or TURN, also while the attempt does not wait. */
void rlk_waiting_hear(struct rlk_waiting *w, const struct rlk_event *ev);

/* POSITION, TURN, NEXT, CHANGED, SUBSCRIBED or UNSUBSCRIBED. */
void rlk_waiting_step(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                      struct rlk_actions *out);

/* TIMER, with `subscribable` and `subscribed`: look, if it is time. */
void rlk_waiting_timer(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out);

/* A back-off is over in which a turn had to wait: forget the turns, and look whether they are still
 * ours. */
void rlk_waiting_renew(struct rlk_waiting *w, uint64_t now_us);

/* Whether it is our turn: ask all masters for the lock. */
bool rlk_waiting_is_turn(const struct rlk_waiting *w, uint64_t now_us);

/* [W6] When to poll, if a poll is due at `poll_us`: not at all while enough hosts have listed us,
 * and not yet while they may be about to. unlisted_us: since when too few have. */
uint64_t rlk_waiting_poll_us(const struct rlk_waiting *w, uint64_t poll_us, uint64_t unlisted_us);

/* When the next TIMER is needed, if a turn does not count before `hold_us`. */
uint64_t rlk_waiting_deadline(const struct rlk_waiting *w, uint64_t hold_us);

#endif
