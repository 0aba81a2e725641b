/* spawn.h - starts a program that is no child of this process.
 *
 * This process gets no SIGCHLD for it and has no zombie of it, and waits for nothing but the exec:
 * a millisecond or two. It does not fork, so it may have many threads and much memory. The
 * program becomes a child of init; or, if this process is init or a subreaper, of this process. */
#ifndef RLK_NET_SPAWN_H
#define RLK_NET_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

/* The most files that are passed on. */
#define RLK_SPAWN_FILES 4

/* The numbers of the files in the program: this one, and those after it. */
#define RLK_SPAWN_FIRST_FD 3

/* Find a program: a name without '/' in the folders of PATH. Its path is cut to `size`. False: it
 * does not exist, or may not be run. */
bool rlk_spawn_find(const char *name, char *path, size_t size);

/* Start it, with this process' environment, /dev/null as stdin, stdout and stderr, and n files.
 * Other files without FD_CLOEXEC are inherited, too. All signals are blocked in it. Returns 0, or
 * the errno of what failed. */
int rlk_spawn(const char *path, char *const argv[], const int *fds, unsigned n);

#endif
