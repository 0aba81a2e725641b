/* config.h - a list of masters, and the settings that a file with such a list may have.
 *
 * A list is URIs with commas or white space between them. A file has lines with URIs, and lines
 * with settings: how to log in to these masters, and what all their clients must share:
 *
 *     # comment
 *     redis://a.example redis://b.example
 *     redis://c.example            # comment
 *     username = ann
 *     password-file = /etc/redlock/password (or password-command = CMD)
 *     key-prefix = app:
 *     max-ttl = 2m
 *     quarantine = lenient
 *     node-timeout = 1s
 *     cacert = /etc/redlock/ca.pem          (and cert, key, sni, tls-verify)
 */
#ifndef CLI_SESSION_CONFIG_H
#define CLI_SESSION_CONFIG_H

#include <stddef.h>

#include "cli/args/masters.h"

struct cli_config {
    const char **uris; /* the masters */
    unsigned *lines;   /* the line of each */
    size_t n;
    const char *values[CLI_SETTINGS];   /* the settings; NULL: not set */
    unsigned value_lines[CLI_SETTINGS]; /* the line of each */
};

/* Split a text; the result points into it. `path`: the file that the text was read from; NULL: the
 * text is a list without settings.
 *
 * Returns CLI_OK; or says what is wrong, without showing a URI (it may contain a password), and
 * returns CLI_USAGE or CLI_INTERNAL. Call cli_config_free() in both cases. */
int cli_config_cut(char *text, const char *path, struct cli_config *ret_config);

/* Free the result, and wipe the URIs. */
void cli_config_free(struct cli_config *config);

/* The characters between two URIs. */
extern const char cli_config_separators[];

#endif
