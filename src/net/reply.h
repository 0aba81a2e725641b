/* reply.h - bytes of a server into small values; hiredis' reader does the parsing.
 *
 * The reader's object functions are ours: an element becomes the next entry of a fixed array,
 * its text goes into a fixed buffer. No reply is ever a tree on the heap, and none can cost
 * more than the limits below [S13]. */
#ifndef RLK_NET_REPLY_H
#define RLK_NET_REPLY_H

#include <stddef.h>

#include "core/reply.h"
#include "net/fault.h"

struct redisReader;

/* The most elements of a reply, arrays and what is in them counted alike. */
#define RLK_REPLY_ITEMS 128

/* Text that is kept of one reply, over all its strings; what goes over is cut. INFO's
 * sections need 2 to 4 KiB. */
#define RLK_REPLY_TEXT 8192

/* The most bytes of a reply that has not arrived completely. Whoever sends more is cut off:
 * a lock's value has 105 bytes at most. */
#define RLK_REPLY_BYTES (1024 * 1024)

struct rlk_reply_parser {
    struct redisReader *reader;
    size_t items, used;
    struct rlk_reply item[RLK_REPLY_ITEMS];
    char text[RLK_REPLY_TEXT];
};

/* 0 or REDLOCK_ENOMEM. Ends with rlk_reply_parser_end, which takes a failed one too. */
int rlk_reply_parser_init(struct rlk_reply_parser *p);
void rlk_reply_parser_end(struct rlk_reply_parser *p);

/* Add bytes. 0; REDLOCK_ENOMEM; or -1 when too much has come for one reply. */
int rlk_reply_feed(struct rlk_reply_parser *p, const char *bytes, size_t len);

/* Take the next complete reply: 1 and *ret_reply (valid until the next call), 0 when there is
 * none yet, -1 when the bytes are no protocol or exceed a limit: rlk_reply_fault() says why,
 * and the parser is of no more use. */
int rlk_reply_next(struct rlk_reply_parser *p, const struct rlk_reply **ret_reply);

/* Put a '?' for everything but printable ASCII: texts from the network go to terminals. */
void rlk_reply_make_printable(char *text);

/* How long a text was when it came; more than its len when it was cut. */
size_t rlk_reply_whole(const struct rlk_reply *reply);

/* Show a value, whatever bytes it has: printable ASCII as it is, "\xHH" for every other byte, and
 * "..." behind what does not fit. size is at least 8. */
void rlk_reply_show(const struct rlk_reply *reply, char *to, size_t size);

enum rlk_fault_kind rlk_reply_fault(const struct rlk_reply_parser *p);

#endif
