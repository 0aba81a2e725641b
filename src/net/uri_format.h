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

/* Where a server is, as different machines tell it apart: without user, password and parameters of
 * TLS; with the name of this machine where only this machine finds it there. */
void rlk_uri_format_place(const struct rlk_uri *u, struct rlk_text *out);

/* The URI of a place; it has room for as many bytes. False: only another machine finds it there. */
bool rlk_uri_read_place(const char *place, char *uri);

#endif
