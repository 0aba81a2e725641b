/* readable.h - files with passwords that every user of this machine can read. */
#ifndef CLI_SESSION_READABLE_H
#define CLI_SESSION_READABLE_H

struct cli_settings;

/* The names of such files among the settings, with a blank between two; NULL: none, or out of
 * memory. The caller frees the text. */
char *cli_readable_find(const struct cli_settings *settings);

#endif
