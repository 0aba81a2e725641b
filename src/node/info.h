/* info.h - reads what a server says of itself. What follows from it is core/server.h. */
#ifndef RLK_NODE_INFO_H
#define RLK_NODE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rlk_reply;
struct rlk_server;

/* One section of INFO, in any order. An error leaves everything as it is. */
void rlk_info_read(struct rlk_server *s, const struct rlk_reply *reply);

/* The value of a line "name:value" of such a section, printable and cut to size; as a number. What
 * is not there leaves *out as it is. */
void rlk_info_text(const char *text, const char *name, char *out, size_t size);
bool rlk_info_number(const char *text, const char *name, long long *ret);

/* CONFIG GET *appendfsync*. */
void rlk_info_read_fsync(struct rlk_server *s, const struct rlk_reply *reply);

#endif
