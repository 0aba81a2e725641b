/* testing/master.h - one of the masters: a server on a unix socket, its state and its tally.
 *
 *             rlk_testing_master_set_state()
 *      UP <----------------------> SILENT, DOWN
 *         <----------------------
 *             also rlk_testing_master_restart() */
#ifndef RLK_TESTING_MASTER_H
#define RLK_TESTING_MASTER_H

#include <redlock/testing.h>

#include "testing/server.h"
#include "testing/tally.h"

struct master {
    struct server server;
    struct tally tally;
    enum redlock_testing_state state;
    char path[108]; /* of its socket */
    char uri[3 * 108 + 32];
};

/* Make a master that listens in the folder, on a socket named after its index. Returns 0,
 * REDLOCK_ENOMEM or REDLOCK_ESYSTEM, with a text (failure.h); free it with
 * rlk_testing_master_free() in each case. */
int rlk_testing_master_init(struct master *m, struct event_base *base, const char *folder,
                            size_t index);
void rlk_testing_master_free(struct master *m);

/* Returns 0, or an error as rlk_testing_master_init() does: then it is down. */
int rlk_testing_master_set_state(struct master *m, enum redlock_testing_state state);

/* Returns 0, or an error as rlk_testing_master_init() does: then it is empty and down. */
int rlk_testing_master_restart(struct master *m);

/* How often the master has seen this event for a key. */
uint64_t rlk_testing_master_count(struct master *m, enum redlock_testing_event event,
                                  const char *key);

#endif
