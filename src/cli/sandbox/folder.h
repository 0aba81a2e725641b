/* folder.h - the temporary folder of a sandbox. */
#ifndef CLI_SANDBOX_FOLDER_H
#define CLI_SANDBOX_FOLDER_H

#include <stddef.h>

/* Enough for its path: the path of a unix socket in it must fit into 107 bytes. */
#define CLI_FOLDER_PATH 96

/* Choose a name with 64 random bits for a folder under $TMPDIR, or under /tmp when $TMPDIR is not
 * set, cannot be used or is too long. Writes the real path. Does not make the folder: both
 * processes that may have to remove it must know its name before it exists.
 *
 * Returns 0; -1 with errno set. */
int cli_folder_choose(char path[CLI_FOLDER_PATH]);

/* Remove a folder and everything in it; what cannot be removed stays. The folder may be gone
 * already.
 *
 * Returns 0 when nothing is left; -1 with errno set. */
int cli_folder_remove(const char *path);

#endif
