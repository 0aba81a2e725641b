/* environment.h - the environment of CMD. */
#ifndef CLI_SESSION_ENVIRONMENT_H
#define CLI_SESSION_ENVIRONMENT_H

struct cli_keys;
struct cli_settings;
struct redlock_lock;

/* Set a variable; value NULL: unset it. The result is that of setenv(). */
int cli_environment_put(const char *variable, const char *value);

/* Set environment variables so that a redlock that CMD starts uses the same masters and settings,
 * and never those of some other file. CMD inherits no password: a password in the environment or in
 * a URI is removed. A password file, or a file whose URIs have passwords, is named by its path,
 * which CMD may read if its user may.
 *
 * Returns CLI_OK; or says that we are out of memory and returns CLI_INTERNAL. */
int cli_environment_set(const struct cli_settings *settings);

/* Set REDLOCK_KEY, REDLOCK_KEYS, REDLOCK_TOKEN, REDLOCK_TRIES, REDLOCK_TOOK_US and, for a lock with
 * a fencing token, REDLOCK_FENCING_TOKEN. Returns CLI_OK; or says that we are out of memory and
 * returns CLI_INTERNAL. */
int cli_environment_set_lock(const struct cli_keys *keys, const struct redlock_lock *lock);

/* Unset them all, and the variables of a leadership. */
void cli_environment_unset_lock(void);

#endif
