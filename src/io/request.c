#include "io/request.h"

#include <stdbool.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/time.h"
#include "core/attempt.h"
#include "io/options.h"

#define MAX_RETRY_MS 60000

REDLOCK_EXPORT void redlock_request_init(struct redlock_request *request)
{
    *request = (struct redlock_request){
        .size = sizeof(*request),
        .ttl_ms = 10000,
        .retry_max_ms = 250,
        .max_retries = REDLOCK_FOREVER,
    };
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

static void fill_config(const struct rlk_options *o, const struct redlock_request *q,
                        struct rlk_attempt_config *c)
{
    uint64_t ttl_us = rlk_time_from_ms(q->ttl_ms);

    c->terms.nodes = o->n_nodes;
    c->terms.lease_us = rlk_validity_lease_us(ttl_us, o->drift_ppm);
    c->terms.min_validity_us =
        q->min_validity_ms ? rlk_time_from_ms(q->min_validity_ms) : ttl_us / 10;
    c->terms.timeout_us = o->node_timeout_us;
    c->wait_us = q->wait_ms == REDLOCK_FOREVER ? RLK_NEVER : rlk_time_from_ms(q->wait_ms);
    c->retry_min_us = rlk_time_from_ms(q->retry_min_ms);
    c->retry_max_us = rlk_time_from_ms(q->retry_max_ms);
    c->max_retries = q->max_retries;
    c->seed = 0;
}

static bool valid_key(const struct redlock_request *q, const struct rlk_options *o,
                      size_t *ret_key_len)
{
    if (q->key == NULL) {
        return false;
    }
    *ret_key_len = q->key_len ? q->key_len : strlen(q->key);
    return *ret_key_len >= 1 && *ret_key_len <= REDLOCK_MAX_KEY - o->key_prefix_len;
}

static bool valid_retry(const struct redlock_request *q)
{
    return q->retry_max_ms >= 1 && q->retry_max_ms <= MAX_RETRY_MS &&
           q->retry_min_ms <= q->retry_max_ms;
}

int rlk_request_check(const struct redlock_request *q, const struct rlk_options *o,
                      size_t *ret_key_len, struct rlk_attempt_config *ret_config)
{
    if (q == NULL || q->size != sizeof(*q) || !valid_key(q, o, ret_key_len) ||
        !valid_owner(q->owner) || !valid_retry(q)) {
        return REDLOCK_EINVAL;
    }
    if (q->ttl_ms < REDLOCK_MIN_TTL_MS || q->ttl_ms > o->max_ttl_ms) {
        return REDLOCK_ETTL;
    }
    fill_config(o, q, ret_config);
    return ret_config->terms.min_validity_us < ret_config->terms.lease_us ? 0 : REDLOCK_EINVAL;
}
