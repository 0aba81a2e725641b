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

/* A master that listens in the folder, at the name of its index. Returns 0, REDLOCK_ENOMEM or
 * REDLOCK_ESYSTEM, with a text (failure.h); free it with rlk_testing_master_free() in each case. */
int rlk_testing_master_init(struct master *m, struct event_base *base, const char *folder,
                            size_t index);
void rlk_testing_master_free(struct master *m);

/* Returns 0, or as rlk_testing_master_init(): it is down then. */
int rlk_testing_master_set_state(struct master *m, enum redlock_testing_state state);

/* Returns 0, or as rlk_testing_master_init(): it is empty and down then. */
int rlk_testing_master_restart(struct master *m);

/* How often it has seen this for a key. */
uint64_t rlk_testing_master_count(struct master *m, enum redlock_testing_event event,
                                  const char *key);

#endif
