/* config.h - a list of masters, and what a file that has one says besides.
 *
 * A list is URIs with commas or white space between them. A file is lines of such a list, and of
 * what all clients of its masters must agree on:
 *
 *     # comment
 *     redis://a.example redis://b.example
 *     redis://c.example            # comment
 *     key-prefix = app:
 *     max-ttl = 2m
 *     quarantine = observed
 */
#ifndef CLI_SESSION_CONFIG_H
#define CLI_SESSION_CONFIG_H

#include <stddef.h>

enum cli_config_name {
    CLI_CONFIG_KEY_PREFIX,
    CLI_CONFIG_MAX_TTL,
    CLI_CONFIG_QUARANTINE,
    CLI_CONFIG_NAMES
};

struct cli_config {
    const char **uris; /* the masters */
    unsigned *lines;   /* the line of each */
    size_t n;
    const char *values[CLI_CONFIG_NAMES];   /* what else it says; NULL: nothing */
    unsigned value_lines[CLI_CONFIG_NAMES]; /* the line of each */
};

/* Cut a text, into which the result points. `path`: the file that it was read from; NULL: it is a
 * list only.
 *
 * Returns CLI_OK; or says what is wrong, never showing a URI (it may hold a password), and returns
 * CLI_USAGE or CLI_INTERNAL. cli_config_free() is to be called in any case. */
int cli_config_cut(char *text, const char *path, struct cli_config *ret_config);

/* Free what it took, and wipe the URIs. */
void cli_config_free(struct cli_config *config);

/* What stands between two URIs. */
extern const char cli_config_separators[];

#endif
