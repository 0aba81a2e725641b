/* leader.h - GET /leader of --metrics: whether this process leads, or holds its lock.
 *
 * Another program on this machine, or in this pod, keeps asking, and may act until the deadline of
 * the last reply. That is a promise: nobody else leads before then, even if this process resigns or
 * dies. So each such reply may delay the next leader. A client elsewhere, such as a probe of
 * Kubernetes, learns whether this process leads, but gets no deadline and delays nobody.
 */
#ifndef CLI_METRICS_LEADER_H
#define CLI_METRICS_LEADER_H

#include <stdbool.h>
#include <stdint.h>

struct evbuffer;

/* What is held now: a lock, or leadership. */
struct cli_held {
    const char *name;     /* of the lock or of the election */
    uint64_t deadline_us; /* until when, by redlock_clock_us(); 0: not now */
    uint64_t term;        /* the term, or the fencing token; 0: none */
};

struct cli_holder_calls {
    struct cli_held (*held)(const void *arg);
    /* Nobody else may hold it before the deadline. */
    void (*promise)(void *arg, uint64_t deadline_us);
    /* Somebody on this machine has asked. NULL: nobody wants to know. */
    void (*asked)(void *arg);
};

/* Write what is held as JSON. To a client that is `here`, on this machine, it is a promise. Returns
 * 0; 503 (HTTP) when nothing is held; -1 when out of memory. */
int cli_leader_reply(struct evbuffer *body, const struct cli_holder_calls *calls, bool here,
                     void *arg);

/* How long it stays held without another renewal, in milliseconds. */
uint64_t cli_held_left_ms(const struct cli_held *held);

#endif
