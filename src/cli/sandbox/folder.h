/* folder.h - the temporary folder of a sandbox, and the end of every server that listens in it.
 *
 * A server is recognised by the socket that it listens on, and not by its program or parent: a
 * script or a person may have started it, with any program. */
#ifndef CLI_SANDBOX_FOLDER_H
#define CLI_SANDBOX_FOLDER_H

/* Enough for its path: the path of a unix socket in it must fit into 107 bytes. */
#define CLI_FOLDER_PATH 96

/* Choose a name with 64 random bits for a folder under $TMPDIR, or under /tmp when $TMPDIR is not
 * set, cannot be used or is too long. Writes the real path. Does not make the folder: both
 * processes that may have to remove it must know its name before it exists.
 *
 * Returns 0; -1 with errno set. */
int cli_folder_choose(char path[CLI_FOLDER_PATH]);

/* Connect to a unix socket in the folder, with these flags of socket(). Returns the file or -1. */
int cli_folder_connect(const char *folder, const char *name, int flags);

/* Kill the servers that listen in the folder, and remove the folder and everything in it; it may be
 * gone already. With /proc, servers that do not listen yet, or whose socket file was replaced, are
 * killed too.
 *
 * Returns 0 when nothing is left; -1 with errno set when the folder could not be removed. */
int cli_folder_take_down(const char *folder);

#endif
