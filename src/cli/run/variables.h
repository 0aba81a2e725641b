/* variables.h - the variables in which CMD finds its lock. */
#ifndef CLI_RUN_VARIABLES_H
#define CLI_RUN_VARIABLES_H

struct cli_keys;
struct redlock_lock;

/* Set REDLOCK_KEY, REDLOCK_KEYS, REDLOCK_TOKEN, REDLOCK_TRIES, REDLOCK_TOOK_US and, for a lock with
 * a fencing token, REDLOCK_FENCING_TOKEN. Returns CLI_OK; or says that we are out of memory and
 * returns CLI_INTERNAL. */
int cli_variables_set(const struct cli_keys *keys, const struct redlock_lock *lock);

/* Set a variable; value NULL: unset it. The result is that of setenv(). */
int cli_variables_put(const char *name, const char *value);

#endif
