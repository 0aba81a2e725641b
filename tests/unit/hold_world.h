/* hold_world.h - what the stories of a held lock share: a lock that was won at T0, and the
 * functions that give it the events of a story. */
#ifndef RLK_TESTS_UNIT_HOLD_WORLD_H
#define RLK_TESTS_UNIT_HOLD_WORLD_H

#include <check.h>

#include "core/hold.h"

#define T0 UINT64_C(1000000)
#define TTL UINT64_C(10000000)
#define LEASE UINT64_C(9898000)
#define TIMEOUT 500000
#define THIRD (TTL / 3)
#define TENTH (TTL / 10)
#define HUNDREDTH (TTL / 100)
#define ALL5 UINT64_C(0x1f)

struct world {
    struct rlk_voters voters; /* size 0 before the hold: all nodes */
    struct rlk_hold_config c;
    struct rlk_hold h;
    uint64_t room[RLK_LEASES_ROOM(RLK_MAX_NODES)]; /* of h: the lease ends come first */
    struct rlk_actions out;
    uint64_t ready;
    bool full;                   /* the nodes have no room */
    unsigned reported, extended; /* how often */
    uint64_t at_us; /* when the last renewal began; before the first one, when the lock was won */
    uint64_t valid_us; /* the validity that is left, counted from at_us */
    bool is_valid;
    unsigned step; /* the number of the step in its story */
};

/* A lock on five nodes that is renewed without limit. */
struct rlk_hold_config config(void);

/* A lock that all nodes granted; or that `yes` granted, `no` refused, and `quarantined` granted in
 * quarantine. All nodes were asked. */
void start(struct world *w, const struct rlk_hold_config *c);
void start_won(struct world *w, const struct rlk_hold_config *c, uint64_t yes, uint64_t no,
               uint64_t quarantined);

/* The same with these voters. */
void start_with(struct world *w, const struct rlk_hold_config *c, struct rlk_voters voters,
                uint64_t yes, uint64_t no, uint64_t quarantined);

/* Gives the hold one event. */
void step(struct world *w, struct rlk_event ev);
void timer(struct world *w, uint64_t now_us);

/* Gives it one answer or vote of each of these nodes. */
void answer(struct world *w, uint64_t nodes, enum rlk_answer a, uint64_t now_us);
void vote(struct world *w, uint64_t nodes, enum rlk_vote v, uint64_t now_us);

/* When the hold wants to be woken. */
uint64_t due(const struct world *w);

/* renewal(): the next renewal begins, when it is due. renewed(): it succeeds, too. Both return when
 * it began. */
uint64_t renewal(struct world *w);
uint64_t renewed(struct world *w);

/* No node is up any more, until the lock is lost. Returns when that is. */
uint64_t silence(struct world *w);

#endif
