/* file.h - small files, read whole. */
#ifndef RLK_SETTINGS_FILE_H
#define RLK_SETTINGS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Read a file of at most max bytes into memory, with a NUL at the end and without a byte order
 * mark. A pipe is read to its end. The caller calls rlk_secret_free().
 *
 * Returns 0; -1 with errno set: EFBIG when the file is longer, EINVAL when it has a NUL, ETIMEDOUT
 * when it is a FIFO that no process writes to. */
int rlk_file_read(const char *path, size_t max, char **ret_text);

/* Read a password or a token: the first line of a file, without the end of the line. The caller
 * calls rlk_secret_free(). Returns as rlk_file_read(); EINVAL also when the line is empty. */
int rlk_file_line(const char *path, char **ret_line);

/* Whether it is a file, and neither a pipe nor a folder. */
bool rlk_file_is_regular(const char *path);

/* Whether nobody but this user and root can change a file. */
bool rlk_file_is_safe(const char *path);

/* Why a file could not be read, by errno. */
const char *rlk_file_why(int error);

#endif
