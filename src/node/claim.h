/* claim.h - the claim of one round: keys, token and ttl.
 *
 * The lock, each command in flight and each pending release hold a reference to the claim. The
 * claim is freed with its last reference, so a late reply or a broken connection always finds its
 * keys and token, even when the lock has long been freed [S5].
 *
 * Its size is 104 bytes, plus its keys and its token; a reservation is an object of its own. */
#ifndef RLK_NODE_CLAIM_H
#define RLK_NODE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/lock.h>

#include "base/pool.h"
#include "core/event.h"

struct rlk_entries;
struct rlk_entropy;
struct rlk_talk;

#define RLK_TOKEN_BYTES 20
#define RLK_TOKEN_HEX ((size_t)2 * RLK_TOKEN_BYTES)
#define RLK_TOKEN_ID 8    /* how many digits an audit stream has of it */
#define RLK_TOKEN_MAX 255 /* with ':' and the owner, and room for longer foreign ones */

/* Where the claims of a manager come from. */
struct rlk_claim_source {
    struct rlk_pool *pool;
    struct rlk_entries *entries; /* of the tokens in use, for a companion; NULL: not kept */
};

/* How a reservation begins. No token of ours does: its first byte is a hex digit. */
#define RLK_RESERVED "for:"

struct rlk_claim {
    unsigned refs;  /* the first member, as conversations count them */
    uint32_t round; /* the number of the round */
    struct rlk_claim_source *source;
    const struct rlk_talk
        *release; /* how it is released; NULL: it was not released, and no release is pending */
    struct redlock_lock *lock; /* gets the replies; NULL: it no longer wants them */
    const char
        *channel;      /* what its release tells the wait queues. NULL: nothing; "": wake the first
                          waiter; else also take this channel out of them. Borrowed from the manager */
    char *reservation; /* [H1, H2] of a round: the value that counts as a free key; of a hand-over:
                          the value that takes the place of the token. NULL: none. Allocated */
    uint64_t native_refused, script_refused; /* nodes that have refused to release it that way */
    uint64_t hint;                           /* [S12] the counters become at least that */
    uint64_t fence;   /* [S12] the fencing token; 0: the lock has none, or not yet */
    uint32_t ttl_ms;  /* the longest ttl that we asked for */
    uint32_t life_ms; /* the longest that the keys may live; more than ttl_ms when another client
                         had this token before */
    bool set_lost;    /* a command that sets or keeps the key got no reply, and may still be carried
                         out: pending releases of this claim do not expire */
    bool contended;   /* there are waiters for the keys, as far as we know: release them by the
                         script, which wakes the first */
    bool was_lost;    /* of a release: the lock was lost before */
    bool yields;      /* of WAIT: list us even if the keys are free */
    uint8_t first_node; /* the first in the order of the keys [W1] */
    uint8_t n_keys;
    uint16_t token_len;
    uint16_t size;      /* of this struct, with what follows it */
    uint16_t keys_at;   /* how far from its beginning the keys are */
    uint32_t entry;     /* its number in the entries of its source; 0: none */
    uint16_t key_len[]; /* of each key; then come the token and the keys */
};

/* Its token, NUL terminated. */
static inline const char *rlk_claim_token(const struct rlk_claim *c)
{
    return (const char *)(c->key_len + c->n_keys);
}

/* Its keys one by one, each with a NUL after it. */
static inline const char *rlk_claim_keys(const struct rlk_claim *c)
{
    return (const char *)c + c->keys_at;
}

/* A key as the user gave it. */
struct rlk_key {
    const char *bytes;
    size_t len;
};

/* A claim to 1 to REDLOCK_MAX_KEYS keys, each with the prefix before it. It has one reference, no
 * lock and no token yet. token_len: how long the token will be; at most RLK_TOKEN_MAX. NULL: out of
 * memory. */
struct rlk_claim *rlk_claim_new(struct rlk_claim_source *source, const struct rlk_key *prefix,
                                const struct rlk_key *keys, unsigned n_keys, size_t token_len,
                                uint32_t ttl_ms);

/* A number of the keys, in any order; the same in all clients: it chooses the queue masters [W1].
 */
uint32_t rlk_claim_key_hash(const struct rlk_claim *c);

/* A new claim to the same keys, for another round: with room for a token as long as this one. NULL:
 * out of memory. */
struct rlk_claim *rlk_claim_again(const struct rlk_claim *old);

/* How long the fresh tokens of this owner are; NULL is like "". */
size_t rlk_claim_token_len(const char *owner);

/* A fresh token [S4]: 20 random bytes as hex digits, then ":owner" unless owner is "".
 * 0 or REDLOCK_ESYSTEM. */
int rlk_claim_fresh_token(struct rlk_claim *c, struct rlk_entropy *entropy, const char *owner);

/* Whether this can be a token: 1 to RLK_TOKEN_MAX bytes. */
bool rlk_claim_is_token(const char *token);

/* Whether this looks like a token that rlk_claim_fresh_token() made. */
bool rlk_claim_is_fresh(const char *token);

/* The owner in a token that rlk_claim_fresh_token() made; "" when it has no owner. A ':' alone does
 * not show an owner: values that other libraries set may have one, too. */
const char *rlk_claim_owner(const char *token);

/* Whether an owner text is that of a broken lock; NULL is like "". */
bool rlk_claim_is_broken(const char *owner);

/* Use a token that is known already. */
void rlk_claim_set_token(struct rlk_claim *c, const char *token, size_t len);

/* If there is a companion: enter the token, before anybody is asked to set it, so that it is
 * released when this process dies. It leaves with the last reference, or before. When there is no
 * memory it is not entered, and the keys are left to their ttl. */
void rlk_claim_enter(struct rlk_claim *c);
void rlk_claim_leave(struct rlk_claim *c);

/* ---- reservations [H1]: "for:DIGITS:NAME", with the digits of the token whose place it takes ----
 */

/* The reservation of a lock with this token, which looks like ours, for `to`. */
void rlk_claim_write_reservation(char reservation[RLK_TOKEN_MAX + 1], const char *token,
                                 const char *to);

/* Whom the value of a key is reserved for; "": it is no reservation. */
const char *rlk_claim_reserved_for(const char *value);

/* Keep a copy in place of the one before. False: out of memory. */
bool rlk_claim_set_reservation(struct rlk_claim *c, const char *reservation);

struct rlk_claim *rlk_claim_ref(struct rlk_claim *c);
void rlk_claim_unref(struct rlk_claim *c); /* accepts NULL */
void rlk_claim_free(void *claim);          /* that has no reference */

#endif
