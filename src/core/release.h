/* release.h - counting the answers to a release.
 *
 *          START            a majority answered, or no longer can, or the deadline
 *   IDLE ---------> ASKING ------------------------------------------------------> DONE
 *
 * Only counts: the deletions themselves do not depend on it, and go on after DONE. A node
 * whose connection breaks is paid its pending_release later [S5]; if that answer still comes in
 * time it counts when it says that our key was there. That it was not there proves nothing then:
 * the release before may have deleted it, and another client have come since.
 */
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
    unsigned nodes;
    uint64_t asked, open;
    uint64_t deleted, gone, taken;
    uint64_t unknown; /* nodes of which an answer was lost: they may have deleted it already */
    uint64_t deadline_us;
};

/* asked: the nodes that may have the key. */
void rlk_release_init(struct rlk_release *r, unsigned nodes, uint64_t asked, uint64_t deadline_us);

/* START carries the nodes that are connected (ready) or about to be (coming). `out` is
 * written completely; out->release is the nodes to send the release to, or to owe it. */
void rlk_release_step(struct rlk_release *r, const struct rlk_event *ev, struct rlk_actions *out);

#endif
