/* redlock/settings.h - the settings of the command redlock, for a program: which masters to use,
 * how to log in, and what all their clients must share.
 *
 *     struct redlock_options options;
 *     struct redlock_settings *settings;
 *     char why[512];
 *
 *     redlock_options_init(&options);
 *     options.error_text = why;
 *     options.error_text_size = sizeof(why);
 *     status = redlock_settings_read(&options, &settings);
 *     if (status == 0) {
 *         status = redlock_sync_new(&options, &s);
 *         redlock_settings_free(settings);
 *     }
 *     if (status != 0) {
 *         fprintf(stderr, "%s\n", why[0] ? why : redlock_strerror(status));
 *     }
 *
 * So a program needs no settings of its own to run in `redlock sandbox`, or on a machine whose
 * masters are in /etc/redlock/nodes. A setting comes from the first of these that has it:
 *
 *  1. Its variable, such as REDLOCK_NODES, REDLOCK_PASSWORD_FILE, REDLOCK_KEY_PREFIX or
 *     REDLOCK_MAX_TTL. An empty variable counts as not set, except for REDLOCK_KEY_PREFIX.
 *  2. The file of masters: $REDLOCK_CONFIG, else $XDG_CONFIG_HOME/redlock/nodes or
 *     ~/.config/redlock/nodes, else /etc/redlock/nodes. It is not read if REDLOCK_NODES is set.
 *
 * redlock(1) describes the variables (ENVIRONMENT) and the file (FILES). Only the command uses
 * REDLOCK_TRACE and a password command. The library starts no shell, so it is an error if the
 * password would come from a password command: provide it in another way.
 */
#ifndef REDLOCK_SETTINGS_H
#define REDLOCK_SETTINGS_H

#include <redlock/export.h>
#include <redlock/manager.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What redlock_settings_read() has read: it owns the texts that the options then point to. */
struct redlock_settings;

/* Find the settings, and write them into *options: nodes, username, password or password_file,
 * key_prefix, node_timeout_ms, max_ttl_ms, quarantine, audit_entries, record, and the TLS fields. A
 * field whose setting is not found keeps its value, as do all other fields. So set your own
 * defaults before the call, and values that must not change after it.
 *
 * Two things are not looked up if you have set them already:
 *   - Masters (n_nodes is not 0): then neither REDLOCK_NODES nor the file of masters is read.
 *   - A password (password or password_file): then the username is not looked up either.
 *
 * This reads files, and may block while it does. If the password file or the file of masters is a
 * pipe, it is read to its end; if it is a FIFO that nobody opens for writing, the call fails after
 * 2 s. The environment is not changed: to keep REDLOCK_PASSWORD from child processes, unset it.
 *
 * The library's copies of the URIs and of REDLOCK_PASSWORD are in memory that is excluded from core
 * files. A program that runs with more privileges than the user who started it (set-user-ID) must
 * not call this, because that user controls the variables.
 *
 * options        initialised by redlock_options_init(). On success, its new texts belong to
 *                *ret_settings. If the call fails, nothing has changed but the text at error_text.
 * ret_settings   written on success only. Keep it until redlock_new() or redlock_sync_new() has
 *                copied the options; free it with redlock_settings_free().
 *
 * Returns 0; REDLOCK_ENOMEM; or REDLOCK_EINVAL: no masters are named, a value is wrong, or a file
 * cannot be read. options->error_text says which and what to do, without showing a password.
 * The URIs themselves are checked later, by redlock_new(). From: any thread, while no other thread
 * changes the environment. Since 0.1. */
REDLOCK_EXPORT int redlock_settings_read(struct redlock_options *options,
                                         struct redlock_settings **ret_settings);

/* Free the settings, and wipe the copies of URIs and passwords. The texts that the options got from
 * them are freed, too. Does nothing for NULL. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_settings_free(struct redlock_settings *settings);

#ifdef __cplusplus
}
#endif

#endif
