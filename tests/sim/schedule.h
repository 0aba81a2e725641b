/* schedule.h - what will happen, in the order of (time, sequence).
 *
 * True time, in whole microseconds: the one clock of a history that is right. Events of one
 * instant happen in the order in which they were scheduled, so a seed has one history only. */
#ifndef RLK_TESTS_SIM_SCHEDULE_H
#define RLK_TESTS_SIM_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
    EVENT_REQUEST = 0, /* at a server: connection */
    EVENT_REPLY,       /* at a client: connection */
    EVENT_PUSH,        /* at a client: connection, key, kind */
    EVENT_OPENED,      /* at a client: connection */
    EVENT_BROKEN,      /* at a client: connection */
    EVENT_TIMERS,      /* at a client: client, stamp */
    EVENT_TURN,        /* at a client: its end: client, stamp */
    EVENT_FINISH,      /* at a client: its manager is closed: client, stamp */
    EVENT_USER,        /* at a client: client, worker, stamp */
    EVENT_CANCEL,      /* at a client: client, worker, stamp */
    EVENT_USE,         /* at a client: client, worker, stamp */
    EVENT_FAULT,       /* the next one */
    EVENT_CONTINUE,    /* a server: server, stamp */
    EVENT_RESTART,     /* a server: server, stamp */
    EVENT_EXPIRY,      /* a key that somebody tracks ends: server, key */
    EVENT_DELETED,     /* a foreign client deletes its key: server, key, claim */
    EVENT_PROMOTED,    /* a server: server */
    EVENT_REVIVED,     /* a client: client */
    EVENT_HEIR,        /* heir or key, step, stamp */
    EVENT_OPERATOR,    /* operator, step, stamp */
    EVENT_HEAL,        /* the faults end */
    EVENT_END          /* the history ends */
};

struct scheduled_event {
    uint64_t at_us;
    uint64_t seq;
    enum event_kind kind;
    unsigned target, worker, stamp;
};

struct schedule {
    struct scheduled_event *heap;
    size_t n, cap;
    uint64_t seq;
};

/* Empty it; the memory stays. */
void schedule_reset(struct schedule *s);

void schedule_push(struct schedule *s, uint64_t at_us, enum event_kind kind, unsigned target,
                   unsigned worker, unsigned stamp);

/* Take the next one; false when there is nothing left. */
bool schedule_pop(struct schedule *s, struct scheduled_event *ret);

void schedule_free(struct schedule *s);

#endif
