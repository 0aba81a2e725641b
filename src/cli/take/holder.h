/* holder.h - who holds a lock that was refused to us, according to the masters. */
#ifndef CLI_TAKE_HOLDER_H
#define CLI_TAKE_HOLDER_H

#include <stdbool.h>
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

/* Whom a lock that is being handed over is reserved for; NULL: the value is no reservation. */
const char *cli_holder_reserved(const char *token);

/* "broken by ...", if each master that does not have our key has the token of one break, and these
 * are a majority: so it was our lock that was broken, and not the one before. NULL otherwise. */
const char *cli_holder_broken(const struct redlock *rl, const struct redlock_lock *lock);

/* Enough for every text of cli_holder_print(). */
#define CLI_HOLDER_TEXT 16

/* What a message may show of a token, with which its lock could be released: the first 8 digits, by
 * which two can be told apart. The text is in buf, of CLI_HOLDER_TEXT bytes. */
const char *cli_holder_print(const char *token, char *buf);

/* The same in a buffer of its own, which lasts until the end of the block. */
#define cli_holder_short(token) cli_holder_print((token), (char[CLI_HOLDER_TEXT]){0})

/* Whether the key there is no string; then `token` is no value. */
bool cli_holder_is_no_string(const char *token);

/* Whether a majority of the masters refused us for a value that this library does not write: the
 * key is that of another program, which may not mean this lock. */
bool cli_holder_is_foreign(const struct redlock *rl, const struct redlock_lock *lock);

#endif
