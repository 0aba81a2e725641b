/* waiting.h - how an attempt waits for keys that somebody else holds, without polling [W1 to W8].
 *
 * Some masters, the queue masters, keep a wait queue for the key. They wake us when the key is free
 * and we are granted next; before that they say when we become first in the queue. Two wakes are
 * enough to begin a round, so a queue master that is slow, stopped or wrong neither delays a round
 * nor starts one alone. The first waiter also polls the key: it may expire, or be deleted by a
 * client that does not know the queue. Those behind it check an expired key a little later.
 *
 * A wake is a hint when to ask, and proves nothing: only votes win a lock. Every hint may be lost,
 * so each waiter checks its position from time to time, whatever it has heard.
 *
 * How reliable a wake is [W3]:
 *
 *            one wake             1 to 2 ms             all have replied, or 10 ms
 *     NONE -----------> ALONE ---------------> CHECKING -------------------------> DUE: a round
 *                         |   others deny it      |
 *                         +------> DENIED <-------+
 *                                  still asks, after 1.5 to 2.5 s for itself, and as
 *                                  long again for each waiter before it
 *
 * From each state: when two queue masters, or the only one, have woken us, it is DUE at once; when
 * those that woke us list us again, it becomes NONE. The wake of a queue master whose last one was
 * denied a short time ago is DENIED, too, unless another one wakes us as well.
 *
 * What matters of each queue master is what it said last (listed, next, wakes: messages and replies
 * come over different connections, so all combinations occur), whether its reply is outstanding
 * (asked), and how that reply counts: one that crosses a wake does not deny it (crossed), any other
 * does (denied). Of the 128 combinations 27 occur:
 *
 *     without subscribed     only wakes
 *     denied                 only with listed, and neither with wakes nor with asked
 *     crossed                not with listed
 *
 * These are sets of nodes and not a state of each queue master, because the decisions depend on the
 * size of a set, and the actions are sets. tests/fuzz/wait_model.c checks them.
 *
 * docs/algorithm.md, "Waiting", has the rules, and docs/proofs.md says what bounds a wait. */
#ifndef RLK_CORE_WAITING_H
#define RLK_CORE_WAITING_H

#include "base/prng.h"
#include "core/event.h"
#include "core/validity.h"

/* [W1] How many masters keep the wait queue of a key, and how many wakes start a round [W3]. */
#define RLK_WAITING_QUEUES 3
#define RLK_WAITING_WAKES 2

/* [W4] How soon the first waiter checks the key, up to a quarter later. In nearly all cases it is
 * woken before that. The first waiters of different queue masters must not check at the same time
 * again and again. */
#define RLK_WAITING_NEXT_US 20000

/* [W4] How much later than the waiter before it a waiter checks a key that has expired. The first
 * one then has the lock, if it is alive. */
#define RLK_WAITING_BEHIND_US 25000

/* [W5] How often every waiter checks its position, whatever it has heard; up to a quarter earlier
 * or later. */
#define RLK_WAITING_PERIOD_US 2000000

/* [W3] How long the first wake waits for a second one, up to twice as long; and how long the
 * position check after that may take. */
#define RLK_WAITING_ALONE_US 1000
#define RLK_WAITING_CHECK_US 10000

/* [W5] All keys of a queue master may have changed (FLUSHALL), which all waiters hear at once: each
 * of them checks its position within this time. A thousand waiters make ten checks a millisecond.
 */
#define RLK_WAITING_FLUSHED_US 100000

/* [W6] How long queue masters may take to reply before a poll. A poll ends the wait for their
 * replies, so with less than a round trip a waiter far from its masters would always poll. */
#define RLK_WAITING_ANSWER_US 100000

/* [W7] How long a client that has just released leaves the masters to the woken waiter. */
#define RLK_WAITING_YIELD_US 400

struct rlk_waiting {
    const struct rlk_voters *voters;
    uint32_t hash;   /* of the keys: which voter is the first in their order */
    uint64_t queues; /* the queue masters: they keep our queue position, or will when their
                        subscriber connection is up */

    /* Of the queue masters, in this wait: */
    uint64_t subscribed; /* their subscriber connection is up; the rest but `wakes` are of these */
    uint64_t asked;      /* have not replied yet */
    uint64_t listed;     /* have us in their queue */
    uint64_t next;       /* have nobody before us */
    uint64_t wakes;      /* have woken us */
    uint64_t crossed;    /* did so while a question was under way */
    uint64_t denied;     /* have listed us since the last check of all, or since such news */

    /* Of all nodes, also in the next wait: */
    uint64_t doubted; /* others denied their wake: alone it does not count until ... */
    uint64_t doubted_until_us;
    uint64_t unable; /* could not list us, and are not asked again until ... */
    uint64_t unable_until_us;
    uint64_t vain;      /* have woken us and then refused the key, and have not listed us since */
    uint64_t positions; /* have listed us or woken us: tell them when we leave */
    uint64_t may_list;  /* of these: may have us in their queue, by what they said last [W7] */

    uint32_t position;  /* the last one that we were told; 0: unknown */
    bool checked;       /* all queue masters were checked, and none has had news since */
    bool yields;        /* nobody has listed us since we let others go first [W7] */
    uint64_t check_us;  /* when to check our position again */
    uint64_t pause_us;  /* the next pause between two checks of a key that has expired */
    uint64_t go_us;     /* when a wake is due; RLK_NEVER: not now */
    uint64_t insist_us; /* from when on a denied wake counts; RLK_NEVER: none was denied */
    uint64_t end_us[RLK_WAITING_QUEUES]; /* when the key expires on each queue master */
};

/* voters: only these can be queue masters; they may change between two steps. hash: of the keys,
 * the same in all clients [W1]. */
void rlk_waiting_init(struct rlk_waiting *w, const struct rlk_voters *voters, uint32_t hash);

/* [W1] The first voter in the order of the keys with this hash, which goes through all nodes from
 * there and round; 0 when no node is a voter. */
unsigned rlk_waiting_first(const struct rlk_voters *voters, uint32_t hash);

/* Begin to wait, or begin again after a round: the next TIMER, which is due now, asks the queue
 * masters. yields: others go first [W7]. */
void rlk_waiting_begin(struct rlk_waiting *w, bool yields, uint64_t now_us);

/* Whether queue masters have woken us again without having listed us since their last wake, after
 * which they refused the key: a round is in vain as long as they do. */
bool rlk_waiting_is_vain(const struct rlk_waiting *w);

/* Stop waiting. Queue masters may still list us. */
void rlk_waiting_stop(struct rlk_waiting *w);

/* Our queue position, for people; 0: unknown. */
uint32_t rlk_waiting_position(const struct rlk_waiting *w);

/* POSITION or WOKEN, also while the attempt does not wait. */
void rlk_waiting_hear(struct rlk_waiting *w, const struct rlk_event *ev);

/* POSITION, WOKEN, NEXT, RESERVED, CHANGED, SUBSCRIBED, UNSUBSCRIBED or VOTERS. */
void rlk_waiting_step(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                      struct rlk_actions *out);

/* TIMER, with `subscribable` and `subscribed`: check our position, if it is time. */
void rlk_waiting_timer(struct rlk_waiting *w, const struct rlk_event *ev, struct rlk_prng *prng,
                       struct rlk_actions *out);

/* A back-off is over in which wakes had to wait: drop them, and check our position now. */
void rlk_waiting_check_again(struct rlk_waiting *w, uint64_t now_us);

/* Whether a wake is due: begin a round. */
bool rlk_waiting_is_woken(const struct rlk_waiting *w, uint64_t now_us);

/* [W6] When to poll, if a poll is due at `poll_us`: not at all while enough queue masters have
 * listed us, and not yet while they may be about to. unlisted_us: since when too few have. */
uint64_t rlk_waiting_poll_us(const struct rlk_waiting *w, uint64_t poll_us, uint64_t unlisted_us);

/* When the next TIMER is needed, if a wake does not count before `hold_us`. */
uint64_t rlk_waiting_deadline(const struct rlk_waiting *w, uint64_t hold_us);

#endif
