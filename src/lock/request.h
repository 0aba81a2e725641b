/* request.h - a request, checked and translated for the attempt. */
#ifndef RLK_LOCK_REQUEST_H
#define RLK_LOCK_REQUEST_H

#include <stdint.h>

#include "core/attempt.h"
#include "core/hold.h"
#include "node/claim.h"

struct redlock;
struct redlock_request;

struct rlk_terms {
    struct rlk_key keys[REDLOCK_MAX_KEYS]; /* borrowed from the user's */
    unsigned n_keys;
    struct rlk_attempt_config attempt; /* the seeds of both are left to the caller */
    struct rlk_hold_config hold;
};

/* What fails here leaves a sentence for redlock_error_text().
 *
 * The caller's struct, of whatever version, as one of ours, and checked. 0, REDLOCK_EINVAL or
 * REDLOCK_ETTL. */
int rlk_request_check(struct redlock *rl, const struct redlock_request *theirs,
                      struct redlock_request *ret_q, struct rlk_terms *ret_terms);

/* The same for 1 to REDLOCK_MAX_KEYS keys alone. */
int rlk_request_keys(struct redlock *rl, const char *const *keys, size_t n_keys,
                     struct rlk_terms *ret_terms);

/* The same for a token: it can be one. */
int rlk_request_token(struct redlock *rl, const char *token);

/* 0, or REDLOCK_ETTL. */
int rlk_request_ttl(struct redlock *rl, uint32_t ttl_ms);

#endif
