/* claim.h - one round's claim to a key: key, token, ttl.
 *
 * Whoever may still need it refers to it: the lock, each request in flight, each debt. It is
 * given back when the last of these lets go, so a late answer or a broken connection always
 * finds the key and the token that it is about [S5]. */
#ifndef RLK_IO_CLAIM_H
#define RLK_IO_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

struct rlk_entropy;
struct rlk_request_kind;
struct redlock_lock;

#define RLK_TOKEN_BYTES 20
#define RLK_TOKEN_HEX ((size_t)2 * RLK_TOKEN_BYTES)
#define RLK_TOKEN_MAX 127 /* with ':' and the owner, and room for longer foreign ones */
#define RLK_CLAIM_KEY_INLINE 128

struct rlk_claim {
    unsigned refs;
    struct rlk_pool *pool;
    const struct rlk_request_kind *release; /* who hears the answers to its release */
    bool set_lost; /* a SET was not answered, and may yet be carried out: no debt ages */
    struct redlock_lock *lock; /* whose votes these are; NULL when it no longer cares */
    uint32_t round;
    uint32_t ttl_ms;
    size_t token_len, key_len;
    char *key; /* key_inline, or memory of its own; NUL terminated */
    char token[RLK_TOKEN_MAX + 1];
    char key_inline[RLK_CLAIM_KEY_INLINE];
};

/* A claim with one reference, no lock, and no token yet. The key is prefix and key in one.
 * NULL when there is no memory. */
struct rlk_claim *rlk_claim_new(struct rlk_pool *pool, const char *prefix, size_t prefix_len,
                                const char *key, size_t key_len, uint32_t ttl_ms);

/* A fresh token [S4]: 20 random bytes as hex digits, then ":owner" unless owner is "".
 * 0 or REDLOCK_ESYSTEM. */
int rlk_claim_fresh_token(struct rlk_claim *c, struct rlk_entropy *entropy, const char *owner);

/* A token that is known already; at most RLK_TOKEN_MAX bytes. */
void rlk_claim_set_token(struct rlk_claim *c, const char *token, size_t len);

struct rlk_claim *rlk_claim_ref(struct rlk_claim *c);
void rlk_claim_unref(struct rlk_claim *c); /* takes NULL */

#endif
