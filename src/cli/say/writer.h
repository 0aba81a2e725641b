/* writer.h - writes lines to a file, and never waits for it.
 *
 *   cli_writer_put() ---> the file                              at first: waits as long as it takes
 *   cli_writer_put() ---> queue ---> a thread ---> the file     after cli_writer_start(): never
 * waits
 *
 * A file may take no line for long: a terminal after Ctrl-S, a pipe that nobody reads, a disk that
 * hangs. A command that holds a lock must not wait for it. There are two writers: of messages on
 * stderr, and of the events that `redlock hold` prints on stdout.
 *
 * Messages that do not fit the queue, or could not be written, are counted, and the next line that
 * can be written says how many. Events end with the first one that could not be written.
 */
#ifndef CLI_SAY_WRITER_H
#define CLI_SAY_WRITER_H

#include <stdbool.h>
#include <stddef.h>

/* The longest line, with its newline: what a pipe takes in one piece. */
#define CLI_WRITER_LINE 4096

struct cli_writer;

extern struct cli_writer cli_writer_messages, cli_writer_events;

/* From now on never wait. Returns 0; -1 and errno when there is no thread. A process that is forked
 * later waits again. */
int cli_writer_start(struct cli_writer *writer);

/* The most characters of a mark. */
#define CLI_WRITER_MARK 3

/* If stderr is the journal of systemd, write "<N>" for a priority of syslog(3) to the beginning of
 * a line, which has room for CLI_WRITER_MARK and a NUL. Returns its length; 0: it is not. */
size_t cli_writer_mark(char *line, int priority);

/* Write a line; it ends with a newline, and is not longer than CLI_WRITER_LINE. Returns whether it
 * was written or queued. */
bool cli_writer_put(struct cli_writer *writer, const char *line, size_t length);

/* After cli_writer_start(): a file that hangs up (cli/system/hangup.h) when a line could not be
 * written and no other will be. */
int cli_writer_queue(const struct cli_writer *writer);

/* The errno with which the last line failed; 0: none did. */
int cli_writer_error(const struct cli_writer *writer);

/* Wait until all lines of the queue are written, but only for a short time. */
void cli_writer_end(struct cli_writer *writer);

#endif
