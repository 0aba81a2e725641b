/* say.h - the messages of redlock(1), on stderr, a line each; and text on stdout. All of it is
 * escaped (say/escape.h): no byte of a key, a URI or a server's reply can control the terminal.
 *
 *   call                priority           printed
 *   cli_say_usage       3 error            always
 *   cli_say             4 warning          always
 *   cli_say_relief      5 notice           always
 *   cli_say_detail      6 information      with --verbose: what changes
 *   cli_say_routine     7 debugging        with --verbose twice: what goes on as it should
 *
 * If stderr is the journal of systemd, each line begins with its priority, as in sd-daemon(3). */
#ifndef CLI_SAY_SAY_H
#define CLI_SAY_SAY_H

#include <stdbool.h>

/* Make cli_say_detail() print; called twice, cli_say_routine() too. */
void cli_say_verbose(void);

/* Whether cli_say_detail() prints. */
bool cli_say_is_verbose(void);

/* From now on no message waits until stderr takes it: what cannot be written soon is dropped, and
 * counted (say/writer.h). For a command that must go on meanwhile: it holds a lock, or serves.
 * Returns CLI_OK; or says what is wrong and returns CLI_INTERNAL. */
int cli_say_never_wait(void);

/* "redlock: ", the text and a newline, in one write. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line that belongs to the line before: indented, without "redlock: ". */
void cli_say_more(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line without "redlock: " and without indentation. */
void cli_say_bare(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As cli_say(), to say that reported trouble is over. */
void cli_say_relief(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As cli_say(), but only with --verbose. */
void cli_say_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As cli_say(), but only with --verbose twice. */
void cli_say_routine(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As cli_say(), followed by "; see redlock COMMAND --help" (NULL: "; see redlock --help").
 * Returns CLI_USAGE. */
int cli_say_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same about a setting of the masters, followed by "; see redlock help masters". */
int cli_say_setting(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Say that we are out of memory. Returns CLI_INTERNAL. */
int cli_say_no_memory(void);

/* Print each line of a text as cli_say_more() does. */
void cli_say_lines(const char *text);

/* Print text that may come from others to stdout: as printf(), but escaped, except for a newline at
 * the end of the format. */
void cli_say_out(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print to stdout and flush. Returns as cli_say_flush(). */
int cli_say_print(const char *text);

/* Flush stdout, and check that every write worked. Returns CLI_OK; CLI_UNREAD, and says nothing, if
 * stdout is a pipe that nobody reads any more; or says what failed and returns CLI_INTERNAL. */
int cli_say_flush(void);

#endif
