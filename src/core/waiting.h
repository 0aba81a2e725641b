/* waiting.h - how an attempt waits for keys that somebody else holds, without polling [W1 to W6].
 *
 * Some masters, the hosts, keep a waiting list of the key. They say when it is our turn, and before
 * that when we are next. Two hosts that say so are enough to ask all masters for the lock: so a
 * host that is slow, stopped or wrong neither delays a turn nor makes one. Whoever is next looks
 * after the key, too: it may expire, or be deleted by a client that knows nothing of lists.
 *
 * A turn is a hint when to ask, and proves nothing: only votes win a lock. Every hint may be lost:
 * each waiter looks again after a time, whatever it has heard.
 *
 *            place, place ...       we are next          turn, turn
 *   listed --------------> listed ------------> looks -----------------> go: a round
 *                                                 |                        |
 *                                                 +---- turn, and no more -+- after one more look
 *
 * docs/algorithm.md, "Waiting", has the rules and what bounds a wait. */
#ifndef RLK_CORE_WAITING_H
#define RLK_CORE_WAITING_H

#include "base/prng.h"
#include "core/event.h"

/* [W1] How many masters keep the waiting list of a key, and how many of these start a round. */
#define RLK_WAITING_HOSTS 3
#define RLK_WAITING_TURNS 2

/* [W4] How soon whoever is next looks after the key. Until then it is woken in nearly all cases. */
#define RLK_WAITING_NEXT_US 20000

/* [W5] How often every waiter looks, whatever it has heard: up to a quarter earlier or later. */
#define RLK_WAITING_LOOK_US 2000000

/* [W3] How long a turn that only one host announces waits for another, and then for a look. */
#define RLK_WAITING_ALONE_US 1000

/* How long a host may take to answer before it is taken for one that does not. */
#define RLK_WAITING_ANSWER_US 20000

struct rlk_waiting {
    unsigned nodes, first; /* how many there are; the first in the order of the key */
    uint64_t hosts;        /* they keep our place, or will when their watch is up */
    uint64_t asked;        /* of hosts: have not answered yet */
    uint64_t listed;       /* of hosts: we are in their lists */
    uint64_t turn;         /* of hosts: say that it is our turn */
    uint64_t unable;       /* nodes that could not list us, and are not asked again until ... */
    uint64_t unable_until_us;
    uint64_t places;       /* nodes that may have us in their lists, hosts or not */
    uint32_t place;        /* what a host said last; 0: unknown */
    bool next;             /* nobody is before us */
    bool checked;          /* we have looked since the first turn was announced */
    enum rlk_wait_how how; /* the next look asks so for a place */
    uint64_t look_us;      /* when to look again */
    uint64_t asked_us;     /* when a host was asked last */
    uint64_t go_us; /* when to ask for the lock; RLK_NEVER: nobody says that it is our turn */
    uint64_t end_us[RLK_WAITING_HOSTS]; /* when the key expires on each host */
};

/* nodes: 1 to RLK_MAX_NODES; hash: of the keys, the same in all clients [W1]. */
void rlk_waiting_init(struct rlk_waiting *w, unsigned nodes, uint32_t hash);

/* Begin to wait, or begin again after a round: the next TIMER, which is due now, asks the hosts. */
void rlk_waiting_begin(struct rlk_waiting *w, enum rlk_wait_how how, uint64_t now_us);

/* Wait for nothing. Hosts may still have us in their lists. */
void rlk_waiting_stop(struct rlk_waiting *w);

/* PLACE, TURN, NEXT, CHANGED, WATCHED or UNWATCHED. */
void rlk_waiting_step(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                      struct rlk_actions *out);

/* PLACE or TURN when we no longer wait: note which nodes have us in their lists. */
void rlk_waiting_note(struct rlk_waiting *w, const struct rlk_event *ev);

/* TIMER, with `watchable` and `watched`: look, if it is time. */
void rlk_waiting_timer(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out);

/* Whether it is our turn: ask all masters for the lock. */
bool rlk_waiting_is_turn(const struct rlk_waiting *w, uint64_t now_us);

/* [W6] When to poll, if a poll is due at `poll_us`: not at all while enough hosts have listed us,
 * and not yet while they may be about to. */
uint64_t rlk_waiting_poll_us(const struct rlk_waiting *w, uint64_t poll_us);

/* When the next TIMER is needed. */
uint64_t rlk_waiting_deadline(const struct rlk_waiting *w);

#endif
