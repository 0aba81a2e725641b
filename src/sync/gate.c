/* gate.c - see gate.h. */
#include "sync/gate.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SHUT = 0,
    WAITED_FOR, /* shut, and the thread sleeps */
    OPEN
};

void rlk_sync_gate_init(struct rlk_sync_gate *g)
{
    atomic_init(&g->state, SHUT);
}

void rlk_sync_gate_wait(struct rlk_sync_gate *g)
{
    uint32_t state = SHUT;

    if (!atomic_compare_exchange_strong(&g->state, &state, WAITED_FOR)) {
        return;
    }
    while (atomic_load(&g->state) == WAITED_FOR) {
        syscall(SYS_futex, &g->state, FUTEX_WAIT_PRIVATE, WAITED_FOR, NULL, NULL, 0);
    }
}

/* The kernel gets only the address. If the memory belongs to another thread by now, that thread may
 * wake once without need, which every user of futexes expects. */
void rlk_sync_gate_open(struct rlk_sync_gate *g)
{
    if (atomic_exchange(&g->state, OPEN) == WAITED_FOR) {
        syscall(SYS_futex, &g->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}
