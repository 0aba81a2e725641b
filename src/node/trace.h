/* trace.h - where things happen they are told, for options.trace_cb and for the probes of the
 * system (USDT): include/redlock/trace.h has what there is to tell.
 *
 * A place that tells something is one RLK_TRACE, which looks first whether anybody listens. Nothing
 * is allocated, and the event is not even made when nobody does. */
#ifndef RLK_NODE_TRACE_H
#define RLK_NODE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/trace.h>

#include "node/options.h"
#include "node/probes.h"

struct rlk_claim;

/* Who listens to a manager. */
struct rlk_tracer {
    redlock_trace_cb *cb;
    void *arg;
    bool is_telling; /* its callback runs: nothing may be begun, changed or ended */
};

static inline bool rlk_trace_is_on(const struct rlk_options *o)
{
    return __builtin_expect(o->tracer != NULL || rlk_probes_are_on(), 0);
}

/* What runs only when somebody listens: it is kept out of what runs always. */
#define RLK_TRACES __attribute__((cold, noinline))

/* Tell it. The time, and key and token of the claim (NULL: of none) are filled in. */
RLK_TRACES void rlk_trace_tell(const struct rlk_options *o, const struct rlk_claim *claim,
                               struct redlock_trace *ev);

/* What follows are the fields of the event that are not 0, by their names. */
#define RLK_TRACE(options, claim, ...)                                                             \
    do {                                                                                           \
        if (rlk_trace_is_on(options)) {                                                            \
            rlk_trace_tell(options, claim, &(struct redlock_trace){__VA_ARGS__});                  \
        }                                                                                          \
    } while (0)

/* The same of a node. */
#define RLK_TRACE_NODE(n, ...)                                                                     \
    RLK_TRACE((n)->options, NULL, .node = (int)(n)->index, .lock = -1, __VA_ARGS__)

/* The same of a node and a claim that no lock waits for. */
#define RLK_TRACE_CLAIM(n, claim, ...)                                                             \
    RLK_TRACE((n)->options, claim, .node = (int)(n)->index, .lock = -1, __VA_ARGS__)

/* Of a text that others wrote, make every token in it, which is 40 hex digits, its first 8; where
 * an owner follows, leave out the rest. */
void rlk_trace_mask(char *text);

#endif
