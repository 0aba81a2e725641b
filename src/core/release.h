/* release.h - counts the replies to a release.
 *
 *          START            a majority replied, or no longer can, or the deadline
 *   IDLE ---------> ASKING ------------------------------------------------------> DONE
 *
 * It decides what to report, and nothing else: releases that are still in flight go on after DONE.
 * When a connection breaks, the release is pending and is sent again later [S5]. The reply to that
 * second release counts if it comes in time and our key was there. If it was not, nothing is
 * proven: the first release may have deleted it, and another client may have set its key since. */
#ifndef RLK_CORE_RELEASE_H
#define RLK_CORE_RELEASE_H

#include "core/event.h"

enum rlk_release_state {
    RLK_RELEASE_IDLE = 0,
    RLK_RELEASE_ASKING,
    RLK_RELEASE_DONE
};

struct rlk_release {
    enum rlk_release_state state;
    int status; /* DONE: REDLOCK_OK, _GONE, _TAKEN or _ENOQUORUM */
    const struct rlk_voters *voters;
    uint64_t asked;
    uint64_t unanswered;           /* nodes whose reply may still come */
    uint64_t deleted, gone, taken; /* what the nodes replied: had our key, no key, another key */
    uint64_t unknown;              /* nodes whose reply was lost: they may have deleted our key */
    uint64_t deadline_us;
};

/* voters: only their replies count; they may change between two steps. asked: the nodes that may
 * have our key, voters or not. */
void rlk_release_init(struct rlk_release *r, const struct rlk_voters *voters, uint64_t asked,
                      uint64_t deadline_us);

/* For START, `ready` and `connecting` are the nodes that may answer in time. `out` is written
 * completely. out->release: send the release to these nodes, or keep it as pending. */
void rlk_release_step(struct rlk_release *r, const struct rlk_event *ev, struct rlk_actions *out);

#endif
