/* found.h - what one master replied to a query of a key. */
#ifndef RLK_LOCK_FOUND_H
#define RLK_LOCK_FOUND_H

#include <stddef.h>

#include <redlock/query.h>

struct rlk_reply;

/* The most bytes of a value as text. */
#define RLK_FOUND_SHOWN 512

struct rlk_found {
    struct redlock_query_node public;
    char *value; /* cut to `len` of `full_len` bytes; NULL: the key is free, or unknown */
    size_t len, full_len;
    char token[RLK_FOUND_SHOWN]; /* the value as printable text */
    char error[384];             /* why there is no answer; "" */
};

/* Take the reply to GET of the key. */
void rlk_found_take_value(struct rlk_found *f, const struct rlk_reply *reply);

/* Take the reply to PTTL, which was sent after GET. */
void rlk_found_take_ttl(struct rlk_found *f, const struct rlk_reply *reply);

/* Take the reply to GET of the counter. An error (an ACL forbids it) only means that the fencing
 * token is unknown; the rest of the answer stays. */
void rlk_found_take_counter(struct rlk_found *f, const struct rlk_reply *reply);

/* Take the reply to ZCARD of the wait queue. An error (an ACL forbids it, or somebody has another
 * value of that name) counts as no waiters: the rest of the answer stays. */
void rlk_found_take_waiters(struct rlk_found *f, const struct rlk_reply *reply);

/* The connection broke before all replies came: there is no answer. */
void rlk_found_lose(struct rlk_found *f);

/* Free the value. */
void rlk_found_clear(struct rlk_found *f);

#endif
