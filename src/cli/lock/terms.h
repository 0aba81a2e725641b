/* terms.h - what a command runs under: the lock's name, and for how long it is held. */
#ifndef CLI_LOCK_TERMS_H
#define CLI_LOCK_TERMS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_terms {
    /* The lock's name, and what it was asked for. */
    const char *key;
    uint32_t ttl_ms;
    /* It is renewed, until max_hold_ms (0: no limit) have passed since it was acquired. */
    bool renew;
    uint32_t max_hold_ms;
    /* How long before the end of the lock the command is asked to end. */
    uint32_t grace_ms;
};

#endif
