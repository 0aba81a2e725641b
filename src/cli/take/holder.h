/* holder.h - who has a lock that we have not, as far as the masters tell. */
#ifndef CLI_TAKE_HOLDER_H
#define CLI_TAKE_HOLDER_H

#include <stddef.h>

struct redlock;
struct redlock_lock;

struct cli_holder {
    const char *token; /* whom most of the refusing masters named; "": none named anybody. It lives
                          as long as the lock's details */
    size_t masters;    /* how many did */
    size_t refusals;   /* how many masters have refused, whomever they named */
};

/* Look at how the masters have voted last. */
struct cli_holder cli_holder_find(const struct redlock *rl, const struct redlock_lock *lock);

/* The owner's text in a token, NULL when it has none. */
const char *cli_holder_owner(const char *token);

#endif
