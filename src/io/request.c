#include "io/request.h"

#include <stdbool.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/sized.h"
#include "base/time.h"
#include "core/attempt.h"
#include "io/command.h"
#include "io/health.h"
#include "io/options.h"

#define MAX_RETRY_MS 60000

/* What every version of the struct has. */
#define LEAST RLK_SIZED_UP_TO(struct redlock_request, wait_ms)

static const struct redlock_request defaults = {
    .size = sizeof(defaults),
    .ttl_ms = 10000,
    .retry_max_ms = 250,
    .max_retries = REDLOCK_FOREVER,
    .renew = 1,
    .max_renewals = REDLOCK_FOREVER,
};

REDLOCK_EXPORT void redlock_request_init_sized(struct redlock_request *request, size_t size)
{
    rlk_sized_init(request, size, &defaults, sizeof(defaults));
}

static bool valid_owner(const char *owner)
{
    size_t len;

    if (owner == NULL) {
        return true;
    }
    len = strlen(owner);
    if (len > REDLOCK_MAX_OWNER) {
        return false;
    }
    while (len > 0 && owner[len - 1] >= ' ' && owner[len - 1] <= '~') {
        len--;
    }
    return len == 0;
}

static void fill_attempt(const struct rlk_options *o, const struct redlock_request *q,
                         struct rlk_attempt_config *c)
{
    uint64_t ttl_us = rlk_time_from_ms(q->ttl_ms);

    c->terms.nodes = o->n_nodes;
    c->terms.lease_us = rlk_validity_lease_us(ttl_us, o->drift_ppm);
    c->terms.min_validity_us =
        q->min_validity_ms ? rlk_time_from_ms(q->min_validity_ms) : ttl_us / 10;
    c->terms.timeout_us = o->node_timeout_us;
    c->wait_us = q->wait_ms == REDLOCK_FOREVER ? RLK_NEVER : rlk_time_from_ms(q->wait_ms);
    c->terms.fenced = q->fence != 0;
    c->retry_min_us = rlk_time_from_ms(q->retry_min_ms);
    c->retry_max_us = rlk_time_from_ms(q->retry_max_ms);
    c->max_retries = q->max_retries;
    c->seed = 0;
}

static void fill_hold(const struct rlk_options *o, const struct redlock_request *q,
                      struct rlk_hold_config *c)
{
    c->nodes = o->n_nodes;
    c->drift_ppm = o->drift_ppm;
    c->ttl_us = rlk_time_from_ms(q->ttl_ms);
    c->timeout_us = o->node_timeout_us;
    c->renew = q->renew != 0;
    c->gated = q->needs_pet != 0;
    c->max_hold_us = q->max_hold_ms ? rlk_time_from_ms(q->max_hold_ms) : RLK_NEVER;
    c->max_renewals = q->max_renewals;
    c->adopted = false;
    c->early_ppm = 0;
    c->seed = 0;
}

/* ---- keys ---- */

static bool same(const struct rlk_key *a, const struct rlk_key *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* Names that the library has for itself: a counter's, and the incarnation key's. */
static bool is_reserved(const char *bytes, size_t len)
{
    const size_t tail = sizeof(RLK_COMMAND_COUNTER) - 1, key = sizeof(RLK_HEALTH_KEY) - 1;

    return (len >= tail && memcmp(bytes + len - tail, RLK_COMMAND_COUNTER, tail) == 0) ||
           (len == key && memcmp(bytes, RLK_HEALTH_KEY, key) == 0);
}

/* One more key. A lock on the same key twice is a mistake of whoever wrote the list. */
static bool add_key(struct rlk_terms *r, const char *bytes, size_t len, const struct rlk_options *o)
{
    struct rlk_key *key = &r->keys[r->n_keys];
    unsigned i;

    *key = (struct rlk_key){bytes, len};
    if (len < 1 || len > REDLOCK_MAX_KEY - o->key_prefix_len || is_reserved(bytes, len)) {
        return false;
    }
    for (i = 0; i < r->n_keys; i++) {
        if (same(&r->keys[i], key)) {
            return false;
        }
    }
    r->n_keys++;
    return true;
}

int rlk_request_keys(const char *const *keys, size_t n_keys, const struct rlk_options *o,
                     struct rlk_terms *ret_terms)
{
    size_t i;

    ret_terms->n_keys = 0;
    if (keys == NULL || n_keys < 1 || n_keys > REDLOCK_MAX_KEYS) {
        return REDLOCK_EINVAL;
    }
    for (i = 0; i < n_keys; i++) {
        if (keys[i] == NULL || !add_key(ret_terms, keys[i], strlen(keys[i]), o)) {
            return REDLOCK_EINVAL;
        }
    }
    return 0;
}

static int check_keys(const struct redlock_request *q, const struct rlk_options *o,
                      struct rlk_terms *r)
{
    if (q->n_keys > 0) {
        return q->key == NULL ? rlk_request_keys(q->keys, q->n_keys, o, r) : REDLOCK_EINVAL;
    }
    r->n_keys = 0;
    if (q->key == NULL || !add_key(r, q->key, q->key_len ? q->key_len : strlen(q->key), o)) {
        return REDLOCK_EINVAL;
    }
    return 0;
}

/* ---- the whole ---- */

int rlk_request_ttl(uint32_t ttl_ms, const struct rlk_options *o)
{
    return ttl_ms < REDLOCK_MIN_TTL_MS || ttl_ms > o->max_ttl_ms ? REDLOCK_ETTL : 0;
}

static bool valid_retry(const struct redlock_request *q)
{
    return q->retry_max_ms >= 1 && q->retry_max_ms <= MAX_RETRY_MS &&
           q->retry_min_ms <= q->retry_max_ms;
}

int rlk_request_check(const struct redlock_request *theirs, const struct rlk_options *o,
                      struct redlock_request *ret_q, struct rlk_terms *ret_terms)
{
    const struct rlk_round_terms *terms = &ret_terms->attempt.terms;
    const struct redlock_request *q = ret_q;

    *ret_q = defaults;
    if (theirs == NULL || rlk_sized_read(theirs, LEAST, ret_q, sizeof(*ret_q)) != RLK_SIZED_READ) {
        return REDLOCK_EINVAL;
    }
    if (check_keys(q, o, ret_terms) != 0 || !valid_owner(q->owner) || !valid_retry(q)) {
        return REDLOCK_EINVAL;
    }
    if (rlk_request_ttl(q->ttl_ms, o) != 0) {
        return REDLOCK_ETTL;
    }
    fill_attempt(o, q, &ret_terms->attempt);
    fill_hold(o, q, &ret_terms->hold);
    return terms->min_validity_us < terms->lease_us ? 0 : REDLOCK_EINVAL;
}
