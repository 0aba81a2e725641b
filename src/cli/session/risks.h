/* risks.h - what in the settings lets others of this machine or the network in. */
#ifndef CLI_SESSION_RISKS_H
#define CLI_SESSION_RISKS_H

#include <redlock/manager.h>

struct cli_settings;

/* The names of files with passwords among the settings that every user of this machine can read,
 * with a blank between two; NULL: none, or out of memory. The caller frees the text. */
char *cli_risks_readable(const struct cli_settings *settings);

/* How many masters have TLS, and certificates that nobody verifies. The URIs are valid. */
unsigned cli_risks_unverified(const struct redlock_options *options);

#endif
