/* title.h - what people see of a process: its title, its machine and number. */
#ifndef CLI_SYSTEM_TITLE_H
#define CLI_SYSTEM_TITLE_H

/* Remember where the arguments are. Call this first in main(). */
void cli_title_init(int argc, char **argv);

/* Let argv point to copies of the arguments, except of those that were replaced before. Then a
 * title may overwrite the originals. Returns 0; -1: out of memory. */
int cli_title_free_arguments(int argc, char **argv);

/* In a forked process: change the name that ps(1) shows and pkill(1) matches to `title`, with and
 * without the arguments. The title is cut to the length of the arguments, which it overwrites. */
void cli_title_set(const char *title);

/* The longest text of cli_identity(), with its NUL. */
#define CLI_IDENTITY_TEXT 60

/* Write "host:pid", printable ASCII without spaces. Returns text. */
const char *cli_identity(char text[CLI_IDENTITY_TEXT]);

#endif
