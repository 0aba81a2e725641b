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

/* Each kind of event, and its probe. */
#define KINDS(X)                                                                                   \
    X(CLOSING, closing)                                                                            \
    X(CLOSED, closed)                                                                              \
    X(CONNECTED, connected)                                                                        \
    X(DISCONNECTED, disconnected)                                                                  \
    X(NODE_TROUBLE, node_trouble)                                                                  \
    X(QUARANTINED, quarantined)                                                                    \
    X(AHEAD, ahead)                                                                                \
    X(SUSPENDED, suspended)                                                                        \
    X(PENDING, pending)                                                                            \
    X(SUBSCRIBED, subscribed)                                                                      \
    X(UNSUBSCRIBED, unsubscribed)                                                                  \
    X(ASKED, asked)                                                                                \
    X(ADOPTED, adopted)                                                                            \
    X(ROUND, round)                                                                                \
    X(SENT, sent)                                                                                  \
    X(VOTED, voted)                                                                                \
    X(REPLIED, replied)                                                                            \
    X(DECIDED, decided)                                                                            \
    X(HELD, held)                                                                                  \
    X(FAILED, failed)                                                                              \
    X(CANCELED, canceled)                                                                          \
    X(EXTENDING, extending)                                                                        \
    X(HEARTBEAT, heartbeat)                                                                        \
    X(RENEWED, renewed)                                                                            \
    X(TROUBLE, trouble)                                                                            \
    X(LOST, lost)                                                                                  \
    X(EXTENDED, extended)                                                                          \
    X(RELEASING, releasing)                                                                        \
    X(RELEASED, released)                                                                          \
    X(DETACHED, detached)                                                                          \
    X(WAITING, waiting)                                                                            \
    X(WOKEN, woken)                                                                                \
    X(NEXT, next)                                                                                  \
    X(RESERVED, reserved)

/* All probes share one counter: the library only asks whether a tool listens to any of them. */
#define COUNTER(kind, name)                                                                        \
    extern volatile unsigned short redlock_##name##_semaphore                                      \
        __attribute__((alias("rlk_probes_listeners"), visibility("hidden"), used));

KINDS(COUNTER)

#define PROBE(kind, name)                                                                          \
    case REDLOCK_TRACE_##kind:                                                                     \
        STAP_PROBE8(redlock, name, ev->lock, ev->node, ev->key, ev->token, ev->text, ev->question, \
                    ev->reply, ev->status);                                                        \
        break;

void rlk_probes_fire(const struct redlock_trace *ev)
{
    switch (ev->kind) {
        KINDS(PROBE)
    }
}
