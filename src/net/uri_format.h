/* uri_format.h - writes a URI that rlk_uri_parse() reads as the same node. */
#ifndef RLK_NET_URI_FORMAT_H
#define RLK_NET_URI_FORMAT_H

#include <stdbool.h>

#include "base/text.h"

struct rlk_uri;

/* With user and password, without the policy for the quarantine. `folder`: where relative names of
 * files begin. */
void rlk_uri_format(const struct rlk_uri *u, const char *folder, struct rlk_text *out);

/* A file's name, absolute. */
void rlk_uri_format_file(const char *name, const char *folder, struct rlk_text *out);

/* The place of a server, for other machines to compare: its address without user, password and TLS
 * parameters. If the address is valid on this machine only, the name of the machine follows. */
void rlk_uri_format_place(const struct rlk_uri *u, struct rlk_text *out);

/* The URI of a place; `uri` needs as much room as `place`. False: it leads there only from another
 * machine. */
bool rlk_uri_read_place(const char *place, char *uri);

#endif
