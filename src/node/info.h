/* info.h - reads the replies to INFO and CONFIG GET. core/server.h judges what they say. */
#ifndef RLK_NODE_INFO_H
#define RLK_NODE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rlk_reply;
struct rlk_server;

/* Read the reply to one section of INFO; the sections may come in any order. A value that is not in
 * it, or an error, leaves its field as it is. */
void rlk_info_read(struct rlk_server *s, const struct rlk_reply *reply);

/* The value of the line "name:value" in the text of a section: as printable text, cut to size; as a
 * number, true when there is such a line. Without one *out and *ret stay as they are. */
void rlk_info_text(const char *text, const char *name, char *out, size_t size);
bool rlk_info_number(const char *text, const char *name, long long *ret);

/* Read the reply to CONFIG GET: appendfsync and no-appendfsync-on-rewrite. */
void rlk_info_read_fsync(struct rlk_server *s, const struct rlk_reply *reply);

#endif
