/* probes.h - the events of trace.h as USDT probes (<sys/sdt.h>).
 *
 *     bpftrace -e 'usdt:/usr/lib/libredlock.so:redlock:voted { printf("%s\n", str(arg3)); }'
 *
 * Each kind of struct redlock_trace is a probe of that name. All have the same arguments: lock,
 * node, key, token, text, question, answer, status. Without that header there are no probes. */
#ifndef RLK_NODE_PROBES_H
#define RLK_NODE_PROBES_H

#include <stdbool.h>

struct redlock_trace;

#ifdef RLK_USDT

/* How many tools listen to any probe. The system counts them; the library never writes this. */
extern volatile unsigned short rlk_probes_listeners;

static inline bool rlk_probes_are_on(void)
{
    return rlk_probes_listeners > 0;
}

/* Pass an event to its probe. The texts of the event are not NULL. */
void rlk_probes_fire(const struct redlock_trace *ev);

#else

static inline bool rlk_probes_are_on(void)
{
    return false;
}

static inline void rlk_probes_fire(const struct redlock_trace *ev)
{
    (void)ev;
}

#endif

#endif
