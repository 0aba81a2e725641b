/* holder.h - who holds a lock that was refused to us, according to the masters. */
#ifndef CLI_TAKE_HOLDER_H
#define CLI_TAKE_HOLDER_H

#include <stddef.h>

struct redlock;
struct redlock_lock;

struct cli_holder {
    const char *token; /* the holder that most of the refusing masters named; "": no master named
                          one. Valid as long as the lock's details */
    size_t masters;    /* how many masters named this holder */
    size_t refusals;   /* how many masters refused, with any holder */
};

/* Find the holder in the last votes of the masters. */
struct cli_holder cli_holder_find(const struct redlock *rl, const struct redlock_lock *lock);

/* The owner in a token; NULL when it has no owner. */
const char *cli_holder_owner(const char *token);

#endif
