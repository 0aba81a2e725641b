/* reply.h - makes small values from the bytes of a server.
 *
 * Each element becomes the next entry of a fixed array, and its text goes into a fixed buffer. A
 * reply is never a tree on the heap, and uses no more memory than the limits below [S13].
 *
 * The replies that come all the time are read where the socket's bytes are (net/quick.h), as long
 * as they are complete. hiredis' reader gets the bytes from the first other reply on, and all
 * further ones until none is left in it. */
#ifndef RLK_NET_REPLY_H
#define RLK_NET_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/reply.h"
#include "net/fault.h"

struct redisReader;

/* The most elements of a reply; an array counts as one, and each of its elements as well. */
#define RLK_REPLY_ITEMS 128

/* The most bytes of text that are kept of one reply, for all its strings together; longer texts are
 * cut. A section of INFO has 2 to 4 KiB. */
#define RLK_REPLY_TEXT 8192

/* The most bytes of a reply that has not arrived completely. A server that sends more loses its
 * connection: the value of a lock has 241 bytes at most. */
#define RLK_REPLY_BYTES (1024 * 1024)

struct rlk_reply_parser {
    struct redisReader *reader; /* holds bytes, or `lent` does; never both */
    const char *lent;
    size_t lent_len;
    bool starved; /* there was no memory for what the reader should hold */
    size_t items, used;
    struct rlk_reply item[RLK_REPLY_ITEMS];
    char text[RLK_REPLY_TEXT];
};

/* 0 or REDLOCK_ENOMEM. rlk_reply_parser_end() also accepts a parser whose init failed. */
int rlk_reply_parser_init(struct rlk_reply_parser *p);
void rlk_reply_parser_end(struct rlk_reply_parser *p);

/* Add bytes. 0; REDLOCK_ENOMEM; or -1: the reply is longer than RLK_REPLY_BYTES. */
int rlk_reply_feed(struct rlk_reply_parser *p, const char *bytes, size_t len);

/* The same, but the bytes are borrowed: until rlk_reply_next() has returned 0 or -1, or the parser
 * is ended. No other bytes may be added before. */
int rlk_reply_lend(struct rlk_reply_parser *p, const char *bytes, size_t len);

/* Take the next complete reply. 1: *ret_reply is valid until the next call. 0: no reply is
 * complete yet. -1: the bytes are not in the Redis protocol, or exceed a limit; rlk_reply_fault()
 * says which, and the parser can only be ended. */
int rlk_reply_next(struct rlk_reply_parser *p, const struct rlk_reply **ret_reply);

/* Why rlk_reply_next() returned -1. */
enum rlk_fault_kind rlk_reply_fault(const struct rlk_reply_parser *p);

#endif
