/* hangup.h - notices that the other end of a pipe or socket was closed, without reading from it.
 *
 * So it never blocks, even if another process reads from the same file, and it does not matter what
 * is written to the file.
 */
#ifndef CLI_SYSTEM_HANGUP_H
#define CLI_SYSTEM_HANGUP_H

#include <stdbool.h>

struct cli_loop;
struct event;

struct cli_hangup {
    void (*on)(void *arg); /* set this and `arg` before cli_hangup_watch() */
    void *arg;
    int fd;
    bool reads; /* fd is for reading: it is enough that nobody can write to it any more */
    struct event *event;
};

/* Whether a file can hang up: a pipe, a socket or a terminal. */
bool cli_hangup_is_possible(int fd);

/* Call `on` once when the other end of fd is closed, perhaps as early as the next turn of the loop.
 * Nothing happens if fd cannot hang up. Returns CLI_OK, and the caller calls cli_hangup_end(); or
 * says what is wrong and returns CLI_INTERNAL. */
int cli_hangup_watch(struct cli_hangup *hangup, const struct cli_loop *loop, int fd, bool reads);

/* Whether it is closed, now or within `ms` milliseconds; after cli_hangup_watch(). */
bool cli_hangup_await(const struct cli_hangup *hangup, int ms);

/* Stop watching. Does nothing if it is not watched. */
void cli_hangup_end(struct cli_hangup *hangup);

#endif
