/* companion_settings.h - what a companion needs to know to reach the masters (base/companion.h). */
#ifndef RLK_NODE_COMPANION_SETTINGS_H
#define RLK_NODE_COMPANION_SETTINGS_H

#include "net/shared.h"

struct rlk_options;

/* Write them into memory of their own. *ret_password_fd: the file that has the password, to be
 * passed on as well; -1: none. 0; REDLOCK_ENOMEM; REDLOCK_ESYSTEM; or REDLOCK_EINVAL: a file has a
 * name that means another file in another process, or the working directory has no name;
 * *ret_refused is the file's name then. */
int rlk_companion_settings(const struct rlk_options *o, struct rlk_shared *ret_settings,
                           int *ret_password_fd, const char **ret_refused);

#endif
