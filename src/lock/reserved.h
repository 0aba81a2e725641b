/* reserved.h - keys that a holder has handed over: whether they are reserved for one of our
 * requests [H3].
 *
 * A request is named by its owner text; that of a candidate also by its id. A master tells us of a
 * reservation in a message, in the reply to a position check, or by a refusal. */
#ifndef RLK_LOCK_RESERVED_H
#define RLK_LOCK_RESERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rare.h"
#include "core/reply.h"
#include "node/claim.h"

struct redlock_lock;

/* What a message says; the key is a part of the message. */
struct rlk_reserved {
    uint64_t left_us;
    char value[RLK_TOKEN_MAX + 1]; /* "": no reservation */
    const char *key;
    size_t len;
};

/* "MS RESERVATION", a line end and the key. False: it is no such message. */
bool rlk_reserved_read(const char *text, size_t len, struct rlk_reserved *ret_reserved);

/* Whether a value is reserved for this request, which is pending. Then it keeps the value, and its
 * next round may take the keys that have it. */
bool rlk_reserved_take(struct redlock_lock *lock, const char *value);

/* The same for the value in a reply, and for a lock that may not be pending any more. */
RLK_COLD bool rlk_reserved_take_text(struct redlock_lock *lock, const struct rlk_reply *value);

/* Nearly no value begins like a reservation: one byte tells that, of a text that ends with a NUL.
 */
static inline bool rlk_reserved_take_reply(struct redlock_lock *lock, const struct rlk_reply *value)
{
    return value->str[0] == RLK_RESERVED[0] && rlk_reserved_take_text(lock, value);
}

#endif
