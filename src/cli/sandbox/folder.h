/* folder.h - the temporary folder of a sandbox. */
#ifndef CLI_SANDBOX_FOLDER_H
#define CLI_SANDBOX_FOLDER_H

#include <stddef.h>

/* Enough for its path: the path of a unix socket in it must fit into 107 bytes. */
#define CLI_FOLDER_PATH 96

/* Choose a name that nobody has, with 64 random bits, for a folder under $TMPDIR, or under /tmp
 * when that is not set, cannot be used or is too long. Writes its real path. The folder is not
 * made: both processes that may have to remove it are to know it before.
 *
 * Returns 0; -1 with errno set. */
int cli_folder_choose(char path[CLI_FOLDER_PATH]);

/* Remove a folder, which may be gone, and everything in it; what cannot be removed stays.
 *
 * Returns 0 when nothing is left; -1 with errno set. */
int cli_folder_remove(const char *path);

#endif
