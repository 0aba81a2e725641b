/* look.h - asks one master what it has for a key, and takes the replies.
 *
 * A query looks once at each master, an observation again and again. A look is the commands of one
 * flight, on the connection that the locks use; nothing is written. The counter is read before the
 * value: so what one master says is never the token of a holder with the fencing token of a later
 * one. */
#ifndef RLK_LOCK_LOOK_H
#define RLK_LOCK_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "lock/found.h"

struct redlock;
struct rlk_claim;
struct rlk_node;

/* What looks that belong together have in common. */
struct rlk_look_user {
    struct rlk_claim *key;
    bool counts_waiters; /* also ask how many waiters the key has */
    unsigned refs;       /* looks under way, and those that the user counts itself */
    /* A look is complete, or has failed: then its answer is REDLOCK_REPLY_NONE. */
    void (*done)(struct rlk_look_user *user, struct rlk_node *n, uint64_t now_us);
    /* The last reference was dropped. */
    void (*free)(struct rlk_look_user *user);
};

/* A look that will probably find what is known asks for a part first. */
enum rlk_look_part {
    RLK_LOOK_ALL = 0,
    RLK_LOOK_EXISTS, /* whether there is a key or a counter */
    RLK_LOOK_VALUE,  /* whether the key has the value that is known */
    RLK_LOOK_REST    /* the rest, because there is one, or it has another value */
};

/* A look at one master. */
struct rlk_look {
    unsigned refs; /* the first member, as conversations count them */
    struct rlk_look_user *user;
    bool tracked;                  /* the master will report when that changes which it was asked to
                                      track: the key and its counter, or the key */
    enum rlk_look_part part;       /* what was asked last */
    const struct rlk_found *known; /* RLK_LOOK_VALUE: a key that has a value */
    struct rlk_found found;
};

/* Check a key that the user gave, without the key_prefix, and make a claim to it, which has one
 * reference and room for a token of token_len bytes. key_len 0: the key is NUL terminated. 0,
 * REDLOCK_EINVAL or REDLOCK_ENOMEM. */
int rlk_look_claim(struct redlock *rl, const char *key, size_t key_len, size_t token_len,
                   struct rlk_claim **ret_claim);

/* Send the questions; `found` is empty then. tracks: the master is to report the next change. part:
 * _ALL; or _EXISTS, if probably there is neither a key nor a counter; or _VALUE, if the key
 * probably has the value of `known`: then the counter and the ttl are those that were known. False:
 * nothing will be reported, because they could not be sent. The look must not be under way. */
bool rlk_look_begin(struct rlk_look *l, struct rlk_node *n, bool tracks, enum rlk_look_part part,
                    uint64_t now_us);

/* Report nothing any more; `found` stays as it is. */
void rlk_look_abandon(struct rlk_look *l, struct rlk_node *n);

void rlk_look_unref(struct rlk_look_user *user);

#endif
