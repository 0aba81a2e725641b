/* say.h - what redlock(1) tells people: on stderr, one line at a time, and on stdout. No byte
 * of a key, a URI or a server does anything to a terminal. */
#ifndef CLI_SAY_SAY_H
#define CLI_SAY_SAY_H

#include <stdbool.h>

/* Let cli_say_detail() speak. */
void cli_say_verbose(void);
bool cli_say_is_verbose(void);

/* "redlock: ", the text and a newline, in one write. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line that belongs to the one before it: indented instead. */
void cli_say_more(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line with nothing ahead of it. */
void cli_say_bare(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As cli_say(), with --verbose only. */
void cli_say_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As cli_say(), followed by "; see redlock COMMAND --help" (NULL: "; see redlock --help").
 * Returns CLI_USAGE. */
int cli_say_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each line of a text as by cli_say_more(). */
void cli_say_lines(const char *text);

/* Print to stdout what may have been written by others: as printf(), and all of it is escaped but a
 * newline that ends the format. */
void cli_say_out(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print to stdout and see that it arrives. Returns CLI_OK, or says why not and returns
 * CLI_INTERNAL. */
int cli_say_print(const char *text);

/* See that everything printed to stdout has arrived; returns as cli_say_print(). */
int cli_say_flush(void);

#endif
