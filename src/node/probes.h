/* probes.h - the same that trace.h tells, as probes of the system: USDT, <sys/sdt.h>.
 *
 *     bpftrace -e 'usdt:/usr/lib/libredlock.so:redlock:voted { printf("%s\n", str(arg3)); }'
 *
 * Each kind of struct redlock_trace is a probe by its name, with the same arguments: lock, node,
 * key, token, text, question, answer, status. Without that header there are none. */
#ifndef RLK_NODE_PROBES_H
#define RLK_NODE_PROBES_H

#include <stdbool.h>

struct redlock_trace;

#ifdef RLK_USDT

/* How many listen, to any of them. The system counts: it is no state of ours. */
extern volatile unsigned short rlk_probes_listeners;

static inline bool rlk_probes_are_on(void)
{
    return rlk_probes_listeners > 0;
}

/* Its texts are not NULL. */
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
