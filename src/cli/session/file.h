/* file.h - small files, read whole. */
#ifndef CLI_SESSION_FILE_H
#define CLI_SESSION_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Read a file of at most max bytes into memory, with a NUL at the end and without a byte order
 * mark. A pipe is read to its end. The caller calls cli_secret_free().
 *
 * Returns 0; -1 with errno set: EFBIG when the file is longer, EINVAL when it has a NUL, ETIMEDOUT
 * when it is a FIFO that no process writes to. */
int cli_file_read(const char *path, size_t max, char **ret_text);

/* Read a password or a token: the first line of a file, without the end of the line. The caller
 * calls cli_secret_free(). Returns as cli_file_read(); EINVAL also when the line is empty. */
int cli_file_line(const char *path, char **ret_line);

/* Whether it is a file, and neither a pipe nor a folder. */
bool cli_file_is_regular(const char *path);

/* Whether nobody but this user and root can change a file. */
bool cli_file_is_safe(const char *path);

/* Why a file could not be read, by errno. */
const char *cli_file_why(int error);

#endif
