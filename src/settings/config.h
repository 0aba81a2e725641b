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
#ifndef RLK_SETTINGS_CONFIG_H
#define RLK_SETTINGS_CONFIG_H

#include <stddef.h>

#include "settings/refusal.h"
#include "settings/table.h"

struct rlk_config {
    const char **uris; /* the masters */
    unsigned *lines;   /* the line of each */
    size_t n;
    const char *values[RLK_SETTINGS];   /* their values; NULL: not set */
    unsigned value_lines[RLK_SETTINGS]; /* the line of each */
};

/* Split a text; the result points into it. `path`: the file that the text was read from; NULL: the
 * text is a list without settings.
 *
 * Returns 0; or REDLOCK_EINVAL or REDLOCK_ENOMEM, with what is wrong in *error, without showing a
 * URI (it may contain a password). Call rlk_config_free() in all cases. */
int rlk_config_cut(char *text, const char *path, const struct rlk_error_text *error,
                   struct rlk_config *ret_config);

/* Free the result, and wipe the URIs. */
void rlk_config_free(struct rlk_config *config);

/* The characters between two URIs. */
extern const char rlk_config_separators[];

#endif
