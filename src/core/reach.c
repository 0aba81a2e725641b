/* reach.c - whether a master can be asked, from four facts. */
#include "core/reach.h"

enum rlk_reach rlk_reach_of(const struct rlk_reach_facts *f, uint64_t now_us)
{
    if (f->up) {
        return now_us > f->overdue_us ? RLK_REACH_UNRESPONSIVE : RLK_REACH_READY;
    }
    return f->connecting && !f->failed ? RLK_REACH_CONNECTING : RLK_REACH_NOT;
}
