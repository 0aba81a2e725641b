/* counts/rig.h - managers of the library on five scripted masters, turn by turn.
 *
 *     rig_init(&r, &workload);
 *     rig_run(&r, 640);        the warm-up: not counted
 *     rig_count(&r, 640);      counted: until so many cycles have ended
 *
 * The masters have a loop of their own in the same process. In a turn the library's loop goes round
 * once, and then the masters answer all that they were sent: so the answers of all five are there
 * before the library's next turn, and the turns of two runs are the same. Only the library's turns
 * are counted, with the callbacks in them, in which a workload begins its next call. When there was
 * nothing to do, time passes until the next timer is due. */
#ifndef RLK_TESTS_COUNTS_RIG_H
#define RLK_TESTS_COUNTS_RIG_H

#include <stdint.h>

#include <redlock/redlock.h>

#include "lib/fake.h"

struct event_base;
struct tls_front;

#define RIG_MASTERS 5
#define RIG_MOST_MANAGERS 2

struct rig {
    struct event_base *ours, *theirs;
    struct fake *masters[RIG_MASTERS];
    struct tls_front *fronts[RIG_MASTERS];
    const char *uris[RIG_MASTERS];
    struct redlock *rl[RIG_MOST_MANAGERS];
    unsigned n_managers;
    uint64_t cycles;            /* that have ended; the workload counts them, */
    void (*at_turn)(void *arg); /* or this function does, after each turn; NULL: none */
    void *at_turn_arg;
};

/* What was counted. */
struct rig_counts {
    uint64_t cycles;
    uint64_t memory;         /* calls of malloc() and its kind */
    uint64_t commands;       /* of all masters, as the rest */
    uint64_t sent, received; /* bytes, as the library sees it */
};

/* Make everything, and wait until each manager is connected with each master. */
void rig_init(struct rig *r, unsigned n_managers, bool tls);

/* Turns until so many more cycles have ended. */
void rig_run(struct rig *r, uint64_t cycles);
struct rig_counts rig_count(struct rig *r, uint64_t cycles);

#endif
