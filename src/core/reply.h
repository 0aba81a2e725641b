/* reply.h - an answer of a server as a small value.
 *
 * An array is its head followed by its elements, depth first, in one piece of memory: a
 * reply is never a tree on the heap. `str` is borrowed from whoever parsed it.
 */
#ifndef RLK_CORE_REPLY_H
#define RLK_CORE_REPLY_H

#include <stddef.h>
#include <stdint.h>

enum rlk_reply_type {
    RLK_REPLY_NIL = 0,
    RLK_REPLY_STATUS,
    RLK_REPLY_ERROR,
    RLK_REPLY_INTEGER,
    RLK_REPLY_STRING,
    RLK_REPLY_ARRAY
};

struct rlk_reply {
    enum rlk_reply_type type;
    int64_t integer; /* INTEGER: the number; ARRAY: how many elements; STRING: how long it was when
                        it came, which may be more than was kept of it */
    const char *str; /* STATUS, ERROR, STRING: NUL terminated; "" otherwise */
    size_t len;      /* of str */
};

#endif
