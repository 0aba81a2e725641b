/* holder.h - who has a lock that we have not, as far as the masters tell. */
#ifndef CLI_TAKE_HOLDER_H
#define CLI_TAKE_HOLDER_H

#include <stddef.h>

struct redlock;
struct redlock_lock;

struct cli_holder {
    /* Whom most of the refusing masters named, "" when none named anybody; and how many did.
     * Lives as long as the lock's details. */
    const char *token;
    size_t masters;
    /* How many masters have refused, whomever they named. */
    size_t refusals;
};

/* Look at how the masters have voted last. */
struct cli_holder cli_holder_find(const struct redlock *rl, const struct redlock_lock *lock);

/* The owner's text in a token, NULL when it has none. */
const char *cli_holder_owner(const char *token);

#endif
