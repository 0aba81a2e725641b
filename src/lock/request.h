/* request.h - checks a request, and translates it for the attempt and the hold. */
#ifndef RLK_LOCK_REQUEST_H
#define RLK_LOCK_REQUEST_H

#include <stdint.h>

#include "core/attempt.h"
#include "core/hold.h"
#include "node/claim.h"

struct redlock;
struct redlock_request;

struct rlk_terms {
    struct rlk_key keys[REDLOCK_MAX_KEYS]; /* borrowed from the user's request */
    unsigned n_keys;
    struct rlk_attempt_config attempt; /* the seeds of both are left to the caller */
    struct rlk_hold_config hold;
};

/* A struct that the caller passes and that begins with its size. The texts name it. */
struct rlk_request_form {
    const void *defaults;
    size_t size;                 /* of our version */
    size_t least;                /* of the fields that every version has */
    const char *is, *was, *sets; /* "request is", "request was", "request sets" */
    const char *init;            /* the function that fills it with the defaults */
};

/* Each function here that fails writes a sentence for redlock_error_text().
 *
 * Copy the caller's struct, of whatever version, into one of our version. 0 or REDLOCK_EINVAL. */
int rlk_request_read(struct redlock *rl, const struct rlk_request_form *form, const void *theirs,
                     void *ret_own);

/* Read the caller's request, and check it. 0, REDLOCK_EINVAL or REDLOCK_ETTL. */
int rlk_request_check(struct redlock *rl, const struct redlock_request *theirs,
                      struct redlock_request *ret_q, struct rlk_terms *ret_terms);

/* Check that a field is in a range. 0 or REDLOCK_EINVAL. */
int rlk_request_number(struct redlock *rl, const char *name, uint32_t value, uint32_t min,
                       uint32_t max);

/* Check a field that is 0 or 1. 0 or REDLOCK_EINVAL. */
int rlk_request_switch(struct redlock *rl, const char *name, int value);

/* Check 1 to REDLOCK_MAX_KEYS keys alone. lens may be NULL; no length, or 0: the key is NUL
 * terminated. 0 or REDLOCK_EINVAL. */
int rlk_request_keys(struct redlock *rl, const char *const *keys, const size_t *lens, size_t n_keys,
                     struct rlk_terms *ret_terms);

/* Check that a text can be a token. 0 or REDLOCK_EINVAL. */
int rlk_request_token(struct redlock *rl, const char *token);

/* The same, for a token whose lock shall be held. */
int rlk_request_adopted_token(struct redlock *rl, const char *token);

/* Check an owner text, or a part of one of at most so many bytes; NULL is like "". `name` is what
 * the caller calls it. 0 or REDLOCK_EINVAL. */
int rlk_request_owner(struct redlock *rl, const char *name, const char *owner, size_t most);

/* Check a ttl. 0 or REDLOCK_ETTL. */
int rlk_request_ttl(struct redlock *rl, uint32_t ttl_ms);

#endif
