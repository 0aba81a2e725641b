/* trace.h - emits the events of include/redlock/trace.h, to options.trace_cb and to USDT probes.
 *
 * There is one RLK_TRACE where something happens. It checks first whether there is a listener:
 * without one it does not even make the event. Nothing is ever allocated. */
#ifndef RLK_NODE_TRACE_H
#define RLK_NODE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/trace.h>

#include "base/rare.h"
#include "node/options.h"
#include "node/probes.h"

struct rlk_claim;

/* The trace_cb of a manager. */
struct rlk_tracer {
    redlock_trace_cb *cb;
    void *arg;
    bool in_callback; /* it runs: no call may begin, change or end anything */
};

static inline bool rlk_trace_is_on(const struct rlk_options *o)
{
    return __builtin_expect(o->tracer != NULL || rlk_probes_are_on(), 0);
}

/* Emit an event. Time, and keys and token of the claim (NULL: there is no claim), are filled in. */
RLK_COLD void rlk_trace_emit(const struct rlk_options *o, const struct rlk_claim *claim,
                             struct redlock_trace *ev);

/* Emit an event if there is a listener. After the claim: the fields that are not 0, by name. */
#define RLK_TRACE(options, claim, ...)                                                             \
    do {                                                                                           \
        if (rlk_trace_is_on(options)) {                                                            \
            rlk_trace_emit(options, claim, &(struct redlock_trace){__VA_ARGS__});                  \
        }                                                                                          \
    } while (0)

/* The same for a node. */
#define RLK_TRACE_NODE(n, ...)                                                                     \
    RLK_TRACE((n)->options, NULL, .node = (int)(n)->index, .lock = -1, __VA_ARGS__)

/* The same for a node and a claim, without a lock. */
#define RLK_TRACE_CLAIM(n, claim, ...)                                                             \
    RLK_TRACE((n)->options, claim, .node = (int)(n)->index, .lock = -1, __VA_ARGS__)

/* Hide tokens in a text of a server. What looks like a token, or a part of one (more than 8 hex
 * digits), is cut to 8 digits, and after an owner the rest of the text is cut. So are the arguments
 * of a command that the server does not know: one of them may be a token of another library. */
void rlk_trace_mask(char *text);

#endif
