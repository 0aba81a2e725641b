/* reach.h - whether a master can be asked now, or is worth waiting for [S6, S14]. */
#ifndef RLK_CORE_REACH_H
#define RLK_CORE_REACH_H

#include <stdbool.h>
#include <stdint.h>

enum rlk_reach {
    RLK_REACH_NOT = 0, /* nobody waits for it: what fails once may fail for long */
    RLK_REACH_CONNECTING,
    RLK_REACH_READY,
    RLK_REACH_STUCK /* it owes an answer for too long: whatever it is asked would wait with that */
};

struct rlk_reach_facts {
    bool up;             /* connected and greeted */
    bool connecting;     /* on its way to that */
    bool failed;         /* the last try has, and it was not up since */
    uint64_t overdue_us; /* when the oldest answer that it owes is; RLK_NEVER: it owes none */
};

enum rlk_reach rlk_reach_of(const struct rlk_reach_facts *f, uint64_t now_us);

#endif
