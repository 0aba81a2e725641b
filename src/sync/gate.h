/* sync/gate.h - one thread waits until another one opens the gate, once.
 *
 * A futex and not a condition variable or a semaphore: the gate lives on the stack of the thread
 * that waits and may vanish as soon as it is open, and such a wait is not a cancellation point of
 * pthread_cancel(), which would take the stack away before. */
#ifndef RLK_SYNC_GATE_H
#define RLK_SYNC_GATE_H

#include <stdatomic.h>
#include <stdint.h>

struct rlk_sync_gate {
    _Atomic uint32_t state;
};

void rlk_sync_gate_init(struct rlk_sync_gate *g);

/* Return when the gate is open. Signals are handled meanwhile, and do not end the wait. */
void rlk_sync_gate_wait(struct rlk_sync_gate *g);

/* Open it. What was written before is seen by the thread that waits. The gate must not be touched
 * after this. */
void rlk_sync_gate_open(struct rlk_sync_gate *g);

#endif
