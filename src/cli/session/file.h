/* file.h - small files, read whole. */
#ifndef CLI_SESSION_FILE_H
#define CLI_SESSION_FILE_H

#include <stddef.h>

/* Read a file of at most max bytes into memory, NUL terminated, for free(); without a byte order
 * mark before UTF-8. A pipe is read to its end.
 *
 * Returns 0; -1 with errno set: EFBIG when it is longer, EINVAL when it holds a NUL, ETIMEDOUT when
 * it is a FIFO that nobody writes to. */
int cli_file_read(const char *path, size_t max, char **ret_text);

/* Read a password: the first line of a file, without its end, for cli_file_wipe().
 * Returns as cli_file_read(); EINVAL also when the line is empty. */
int cli_file_password(const char *path, char **ret_password);

/* Why it could not be read, by errno. */
const char *cli_file_why(int error);

/* Overwrite a secret text and free it; NULL does nothing. */
void cli_file_wipe(char *text);

#endif
