/* reply.h - the reply of a server as a small value.
 *
 * An array is its head followed by its elements, depth first, in one piece of memory: a
 * reply is never a tree on the heap. `str` belongs to the parser. */
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
    int64_t integer; /* INTEGER: the number; ARRAY: the number of elements; STRING: the length that
                        the server sent, which may be more than `len`: a long text is cut */
    const char *str; /* STATUS, ERROR, STRING: NUL terminated; "" otherwise */
    size_t len;      /* of str, in bytes, without the NUL */
};

#endif
