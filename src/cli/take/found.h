/* found.h - asks the masters who holds a lock that was refused to us.
 *
 * A refusal proves that the lock is held only when a majority of the masters named the same holder.
 * It does not when the try was decided before they were all connected, when the servers do not name
 * holders (Redis before 7.0), or when several clients split the votes, so that nobody has the lock.
 */
#ifndef CLI_TAKE_FOUND_H
#define CLI_TAKE_FOUND_H

#include <stdbool.h>
#include <stddef.h>

#include <redlock/lock.h>

struct redlock;
struct cli_keys;

struct cli_found {
    /* The caller sets these: called when all is known. */
    void (*cb)(void *arg);
    void *arg;

    bool held;      /* a majority has one value of a key */
    bool unknown;   /* no majority, but the masters that did not reply could make it one */
    size_t masters; /* how many have that value */
    char token[REDLOCK_MAX_OWNER + 64];
    size_t n_asked; /* keys without an answer yet */
};

/* Ask. Returns false when nothing could be asked: then found->cb is not called. */
bool cli_found_ask(struct cli_found *found, struct redlock *rl, const struct cli_keys *keys);

#endif
