/* cli/folder.h - the temporary folder of a sandbox. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include <stddef.h>

/* Enough for its path: the path of a unix socket in it must fit into 107 bytes. */
#define CLI_FOLDER_PATH 96

/* Make a fresh folder for us alone under $TMPDIR, or under /tmp when that is not set, cannot
 * be used or is too long. Writes its real path.
 *
 * Returns 0; -1 with errno set. */
int cli_folder_make(char path[CLI_FOLDER_PATH]);

/* Remove a folder, which may be gone, and everything in it; what cannot be removed stays.
 *
 * Returns 0 when nothing is left; -1 with errno set. */
int cli_folder_remove(const char *path);

#endif
