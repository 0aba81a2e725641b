/* hold_world.h - what the stories of a held lock share: one that was won at T0, and a driver that
 * does what the story says. */
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
#define ALL5 UINT64_C(0x1f)

struct world {
    struct rlk_hold_config c;
    struct rlk_hold h;
    struct rlk_actions out;
    uint64_t ready;
    bool full;               /* the nodes have no room */
    unsigned told, extended; /* how often */
    uint64_t at_us;          /* when the last renewal began, or it was won */
    uint64_t valid_us;       /* for so long after that */
    bool is_valid;
    unsigned step; /* of a story */
};

/* Renewed for ever, on five nodes. */
struct rlk_hold_config config(void);

/* Won by all; or by `yes` and refused by `no`, and `quarantined` granted as well. All were asked.
 */
void start(struct world *w, const struct rlk_hold_config *c);
void start_won(struct world *w, const struct rlk_hold_config *c, uint64_t yes, uint64_t no,
               uint64_t quarantined);

/* One event. */
void step(struct world *w, struct rlk_event ev);
void timer(struct world *w, uint64_t now_us);

/* One for each of these nodes. */
void answer(struct world *w, uint64_t nodes, enum rlk_answer a, uint64_t now_us);
void vote(struct world *w, uint64_t nodes, enum rlk_vote v, uint64_t now_us);

/* When it wants to be woken. */
uint64_t due(const struct world *w);

/* The next renewal begins, at its time; it also works. Both return when it began. */
uint64_t renewal(struct world *w);
uint64_t renewed(struct world *w);

/* Nobody is there any more, until it is lost. Returns when. */
uint64_t silence(struct world *w);

/* The stories. */
TCase *hold_limits(void);
TCase *hold_extending(void);
TCase *hold_healing(void);
TCase *hold_line(void);

#endif
