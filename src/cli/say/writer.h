/* writer.h - writes lines to a file, and never waits for it.
 *
 *   cli_writer_put() ---> the file                           at first: waits as long as it takes
 *   cli_writer_put() ---> queue ---> a thread ---> the file  after cli_writer_start(): never waits
 *
 * A file may accept no line for a long time: a terminal after Ctrl-S, a pipe that nobody reads, a
 * disk that hangs. A command that holds a lock must not wait for it. There are two writers: one for
 * messages on stderr, one for the events that `redlock hold` prints on stdout.
 *
 * Messages that do not fit into the queue, or could not be written, are counted, and the next line
 * that can be written says how many there were. After the first event that could not be written, no
 * more are written.
 */
#ifndef CLI_SAY_WRITER_H
#define CLI_SAY_WRITER_H

#include <stdbool.h>
#include <stddef.h>

/* The longest line, with its newline: what a pipe takes in one piece. */
#define CLI_WRITER_LINE 4096

struct cli_writer;

extern struct cli_writer cli_writer_messages, cli_writer_events;

/* From now on never wait. Returns 0; -1 and errno when there is no queue. The first line starts the
 * thread. If no thread can be started, the line counts as one that the queue has no room for. A
 * process that is forked later waits again. */
int cli_writer_start(struct cli_writer *writer);

/* The longest mark, in characters. */
#define CLI_WRITER_MARK 3

/* If stderr is the journal of systemd, write "<N>" for a priority of syslog(3) at the beginning of
 * a line, which has room for CLI_WRITER_MARK and a NUL. Returns the length of the mark; 0: stderr
 * is not the journal. */
size_t cli_writer_mark(char *line, int priority);

/* Write a line; it ends with a newline, and is not longer than CLI_WRITER_LINE. Returns whether it
 * was written or queued. */
bool cli_writer_put(struct cli_writer *writer, const char *line, size_t length);

/* After cli_writer_start(): a file that hangs up (cli/system/hangup.h) when a line could not be
 * written, and no other will be written. */
int cli_writer_queue(const struct cli_writer *writer);

/* The errno of the last line that could not be written; 0: there was none. */
int cli_writer_error(const struct cli_writer *writer);

/* Wait until all lines of the queue are written, but only for a short time. */
void cli_writer_end(struct cli_writer *writer);

#endif
