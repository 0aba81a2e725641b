/* own_files.h - what has another meaning in another process: names of files, and the folder in
 * which relative names begin. */
#ifndef RLK_NET_OWN_FILES_H
#define RLK_NET_OWN_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a name is that of something of this process: /proc/self, /dev/fd, /dev/stdin. */
bool rlk_own_file_is(const char *name);

/* The number in /proc/self/fd/N or /dev/fd/N; -1: it is another name. */
int rlk_own_file_number(const char *name);

/* The working directory; "": it has no name, or one that is too long. */
void rlk_own_folder(char *folder, size_t size);

#endif
