/* writer.h - writes lines to stderr.
 *
 *   cli_writer_put() ---> stderr                              at first: waits as long as it takes
 *   cli_writer_put() ---> queue ---> a thread ---> stderr     after cli_writer_start(): never waits
 *
 * A stderr may take no line for long: a terminal after Ctrl-S, a pipe that nobody reads, a disk
 * that hangs. A command that holds a lock must not wait for it. Lines that do not fit the queue,
 * and lines that could not be written, are counted, and the next line that can be written says how
 * many.
 */
#ifndef CLI_SAY_WRITER_H
#define CLI_SAY_WRITER_H

#include <stddef.h>

/* The longest line, with its newline: what a pipe takes in one piece. */
#define CLI_WRITER_LINE 4096

/* From now on never wait. Returns 0; -1 and errno when there is no thread. A process that is forked
 * later waits again. */
int cli_writer_start(void);

/* The most characters of a mark. */
#define CLI_WRITER_MARK 3

/* If stderr is the journal of systemd, write "<N>" for a priority of syslog(3) to the beginning of
 * a line, which has room for CLI_WRITER_MARK and a NUL. Returns its length; 0: it is not. */
size_t cli_writer_mark(char *line, int priority);

/* Write a line; it ends with a newline, and is not longer than CLI_WRITER_LINE. */
void cli_writer_put(const char *line, size_t length);

/* Wait until all lines of the queue are written, but only for a short time. */
void cli_writer_end(void);

#endif
