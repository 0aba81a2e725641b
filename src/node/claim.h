/* claim.h - one round's claim to a key, or several: keys, token, ttl.
 *
 * Whoever may still need it refers to it: the lock, each request in flight, each pending_release.
 * It is given back when the last of these lets go, so a late answer or a broken connection always
 * finds the key and the token that it is about [S5]. */
#ifndef RLK_NODE_CLAIM_H
#define RLK_NODE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/lock.h>

#include "base/pool.h"

struct rlk_entropy;
struct rlk_exchange_kind;

#define RLK_TOKEN_BYTES 20
#define RLK_TOKEN_HEX ((size_t)2 * RLK_TOKEN_BYTES)
#define RLK_TOKEN_MAX 127 /* with ':' and the owner, and room for longer foreign ones */
#define RLK_CLAIM_KEY_INLINE 128

struct rlk_claim {
    unsigned refs;
    struct rlk_pool *pool;
    const struct rlk_exchange_kind *release; /* who hears the answers to its release. NULL: it was
                                               neither sent nor is it owed. Behind it nothing is
                                               asked for again */
    bool set_lost; /* what sets or keeps the key was not answered, and may yet be carried out: no
                      pending_release ages */
    struct redlock_lock *lock; /* whose votes these are; NULL when it no longer cares */
    uint32_t round;
    uint32_t ttl_ms;  /* the longest that we ever asked for */
    uint32_t life_ms; /* the longest that the keys may live: also by who had the token before */
    uint64_t resent;  /* nodes that were sent a script by its text, having forgotten it */
    uint64_t hint;    /* what these should at least become */
    uint64_t fence;   /* what they are to be: of a lock that is held; 0: not known yet */
    unsigned n_keys;
    uint16_t key_len[REDLOCK_MAX_KEYS];
    char *key; /* key_inline, or memory of its own: each followed by a NUL and the next */
    size_t token_len;
    char token[RLK_TOKEN_MAX + 1];
    char key_inline[RLK_CLAIM_KEY_INLINE];
};

/* A key as the user gave it. */
struct rlk_key {
    const char *bytes;
    size_t len;
};

/* A claim with one reference, no lock, and no token yet, on 1 to REDLOCK_MAX_KEYS keys, each
 * behind the prefix. NULL when there is no memory. */
struct rlk_claim *rlk_claim_new(struct rlk_pool *pool, const struct rlk_key *prefix,
                                const struct rlk_key *keys, unsigned n_keys, uint32_t ttl_ms);

/* Another one on the same keys. */
struct rlk_claim *rlk_claim_again(const struct rlk_claim *old);

/* A fresh token [S4]: 20 random bytes as hex digits, then ":owner" unless owner is "".
 * 0 or REDLOCK_ESYSTEM. */
int rlk_claim_fresh_token(struct rlk_claim *c, struct rlk_entropy *entropy, const char *owner);

/* It can be one: 1 to RLK_TOKEN_MAX bytes. */
bool rlk_claim_is_token(const char *token);

/* The owner in a token as rlk_claim_fresh_token() makes them; "" where there is none. What other
 * libraries set may have a ':' as well, with something else behind it. */
const char *rlk_claim_owner(const char *token);

/* A token that is known already; at most RLK_TOKEN_MAX bytes. */
void rlk_claim_set_token(struct rlk_claim *c, const char *token, size_t len);

struct rlk_claim *rlk_claim_ref(struct rlk_claim *c);
void rlk_claim_unref(struct rlk_claim *c); /* takes NULL */

#endif
