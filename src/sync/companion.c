/* companion.c - starts the companion of a manager. */
#include <redlock/redlock.h>

#include "sync/thread.h"

struct start {
    struct rlk_sync_call call;
    const struct redlock_companion_options *options;
};

static void begin_start(struct rlk_sync_call *call)
{
    const struct start *start = RLK_CONTAINER(call, struct start, call);
    int status = redlock_companion_open(call->s->rl, start->options);

    rlk_sync_began(call, status);
    if (status == 0) {
        rlk_sync_finish(call, 0);
    }
}

REDLOCK_EXPORT int redlock_sync_companion_open(struct redlock_sync *s,
                                               const struct redlock_companion_options *options)
{
    struct start start = {.call = {.begin = begin_start, .when_closed = REDLOCK_ESTATE},
                          .options = options};

    return rlk_sync_call(s, &start.call);
}
