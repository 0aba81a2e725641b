/* reach.h - whether a master can be asked now, or is waited for [S6, S14]. */
#ifndef RLK_CORE_REACH_H
#define RLK_CORE_REACH_H

#include <stdbool.h>
#include <stdint.h>

enum rlk_reach {
    RLK_REACH_NOT = 0, /* no round waits for it: it may fail again */
    RLK_REACH_CONNECTING,
    RLK_REACH_READY,
    RLK_REACH_UNRESPONSIVE /* a reply is overdue: the reply to a new command would be even later */
};

struct rlk_reach_facts {
    bool up;             /* connected, and the handshake is complete */
    bool connecting;     /* its name is looked up, we connect, or the handshake is under way */
    bool failed;         /* the last attempt to connect failed, and it was not up since */
    uint64_t overdue_us; /* when the reply to its oldest command is overdue; RLK_NEVER: none is in
                            flight */
};

enum rlk_reach rlk_reach_of(const struct rlk_reach_facts *f, uint64_t now_us);

#endif
