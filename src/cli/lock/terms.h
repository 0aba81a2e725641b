/* terms.h - what a command runs under: the lock's name, and for how long it is held. */
#ifndef CLI_LOCK_TERMS_H
#define CLI_LOCK_TERMS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_terms {
    const char *key;      /* the lock's name */
    uint32_t ttl_ms;      /* what it was asked for */
    bool renew;           /* until max_hold_ms have passed since it was acquired */
    uint32_t max_hold_ms; /* 0: no limit */
    uint32_t grace_ms;    /* how long before the end of the lock the command is asked to end */
};

#endif
