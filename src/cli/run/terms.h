/* terms.h - the terms under which a command runs: the name of the lock, and how long it is held. */
#ifndef CLI_RUN_TERMS_H
#define CLI_RUN_TERMS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_terms {
    const char *key;      /* the lock's name */
    uint32_t ttl_ms;      /* the ttl that the lock was acquired with */
    bool renew;           /* the lock is renewed, until max_hold_ms after it was acquired */
    uint32_t max_hold_ms; /* 0: no limit */
    uint32_t grace_ms;    /* how long before the end of the lock the command gets SIGTERM */
    uint32_t rest_ms;     /* how long the rest of a command may go on that a signal has ended;
                             UINT32_MAX: until the end of the lock */
    bool leaves_rest;     /* it may go on without end, without the lock */
};

#endif
