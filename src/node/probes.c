/* probes.c - the USDT probes; built only where <sys/sdt.h> exists.
 *
 * A probe is an instruction that does nothing, and a note in the file (readelf -n) that says where
 * the instruction is, what its arguments are, and which counter is not 0 while a tool listens. */
#include "node/probes.h"

#define _SDT_HAS_SEMAPHORES 1 /* <sys/sdt.h> gives its probes counters when this is defined */
#include <sys/sdt.h>

#ifdef __clang__ /* the macros of that header, not ours */
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

#include <redlock/trace.h>

volatile unsigned short rlk_probes_listeners __attribute__((section(".probes")));

/* All probes share one counter: the library only asks whether a tool listens to any of them. */
#define COUNTER(name)                                                                              \
    extern volatile unsigned short redlock_##name##_semaphore                                      \
        __attribute__((alias("rlk_probes_listeners"), visibility("hidden"), used))

COUNTER(closing);
COUNTER(closed);
COUNTER(connected);
COUNTER(disconnected);
COUNTER(node_trouble);
COUNTER(quarantined);
COUNTER(ahead);
COUNTER(suspended);
COUNTER(pending);
COUNTER(asked);
COUNTER(adopted);
COUNTER(round);
COUNTER(sent);
COUNTER(voted);
COUNTER(answered);
COUNTER(decided);
COUNTER(held);
COUNTER(failed);
COUNTER(canceled);
COUNTER(extending);
COUNTER(petted);
COUNTER(renewed);
COUNTER(trouble);
COUNTER(lost);
COUNTER(extended);
COUNTER(releasing);
COUNTER(released);
COUNTER(forgotten);

#define PROBE(kind, name)                                                                          \
    case REDLOCK_TRACE_##kind:                                                                     \
        STAP_PROBE8(redlock, name, ev->lock, ev->node, ev->key, ev->token, ev->text, ev->question, \
                    ev->answer, ev->status);                                                       \
        break

void rlk_probes_fire(const struct redlock_trace *ev)
{
    switch (ev->kind) {
        PROBE(CLOSING, closing);
        PROBE(CLOSED, closed);
        PROBE(CONNECTED, connected);
        PROBE(DISCONNECTED, disconnected);
        PROBE(NODE_TROUBLE, node_trouble);
        PROBE(QUARANTINED, quarantined);
        PROBE(AHEAD, ahead);
        PROBE(SUSPENDED, suspended);
        PROBE(PENDING, pending);
        PROBE(ASKED, asked);
        PROBE(ADOPTED, adopted);
        PROBE(ROUND, round);
        PROBE(SENT, sent);
        PROBE(VOTED, voted);
        PROBE(ANSWERED, answered);
        PROBE(DECIDED, decided);
        PROBE(HELD, held);
        PROBE(FAILED, failed);
        PROBE(CANCELED, canceled);
        PROBE(EXTENDING, extending);
        PROBE(PETTED, petted);
        PROBE(RENEWED, renewed);
        PROBE(TROUBLE, trouble);
        PROBE(LOST, lost);
        PROBE(EXTENDED, extended);
        PROBE(RELEASING, releasing);
        PROBE(RELEASED, released);
        PROBE(FORGOTTEN, forgotten);
    }
}
