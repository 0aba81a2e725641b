/* found.h - what a query finds of a key on one master. */
#ifndef RLK_LOCK_FOUND_H
#define RLK_LOCK_FOUND_H

#include <stddef.h>

#include <redlock/query.h>

struct rlk_reply;

/* What is shown of a value. */
#define RLK_FOUND_SHOWN 512

struct rlk_found {
    struct redlock_query_node public;
    char *value; /* as it is on the node, len bytes that are kept of `whole`; NULL: there is none */
    size_t len, whole;
    char token[RLK_FOUND_SHOWN];
    char error[160];
};

/* The reply to GET of the key. */
void rlk_found_take_value(struct rlk_found *f, const struct rlk_reply *reply);

/* To PTTL, asked behind it. */
void rlk_found_take_ttl(struct rlk_found *f, const struct rlk_reply *reply);

/* To GET of its counter. Whoever may not look at it (an ACL) sees no fence: the rest is worth
 * knowing. */
void rlk_found_take_counter(struct rlk_found *f, const struct rlk_reply *reply);

/* The connection ended before all of it was there. */
void rlk_found_lose(struct rlk_found *f);

/* Give back its memory. */
void rlk_found_forget(struct rlk_found *f);

#endif
