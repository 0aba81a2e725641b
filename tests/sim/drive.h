/* drive.h - the core's machines, carried out: a reply is classified into a vote or an answer,
 * the machine is stepped with it, and what the step asks for is done. As src/io/acquire.c and
 * src/io/release.c, with the same object code of src/core. */
#ifndef RLK_TESTS_SIM_DRIVE_H
#define RLK_TESTS_SIM_DRIVE_H

#include "sim/world.h"

struct drive_request {
    unsigned key;
    uint32_t ttl_ms;
    uint64_t wait_us, retry_min_us, retry_max_us;
    uint32_t max_retries;
};

/* Each is told to the user once: user_acquired(), user_released(). */
void drive_acquire(struct world *w, unsigned client, unsigned worker,
                   const struct drive_request *q);
void drive_cancel(struct world *w, unsigned client, unsigned worker);
void drive_release(struct world *w, unsigned client, unsigned worker);

/* redlock_lock_validity_ms() > 0: the lock may be relied on. */
bool drive_holds(const struct world *w, unsigned client, unsigned worker);

/* What the peers tell. */
void drive_answered(struct world *w, unsigned client, unsigned node, const struct message *m);
void drive_broken(struct world *w, unsigned client, unsigned node, const struct message *m);
void drive_node_up(struct world *w, unsigned client, unsigned node);
void drive_node_down(struct world *w, unsigned client, unsigned node);

/* Send it, or owe it. */
void drive_send_release(struct world *w, unsigned client, unsigned node, unsigned claim, bool text);

void drive_on_timer(struct world *w, unsigned client, unsigned worker, unsigned stamp);
void drive_on_deliver(struct world *w, unsigned client, unsigned worker, unsigned stamp);

#endif
