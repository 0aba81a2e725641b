/* request.c - checks a request, field by field. */
#include "lock/request.h"

#include <stdbool.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/sized.h"
#include "base/time.h"
#include "core/attempt.h"
#include "lock/manager.h"
#include "node/command.h"
#include "node/inspect.h"

#define MAX_RETRY_MS 60000

static const struct redlock_request defaults = {
    .size = sizeof(defaults),
    .ttl_ms = 10000,
    .retry_max_ms = 250,
    .max_retries = REDLOCK_FOREVER,
    .renew = 1,
    .max_renewals = REDLOCK_FOREVER,
};

static const struct rlk_request_form request_form = {
    .defaults = &defaults,
    .size = sizeof(defaults),
    .least = RLK_SIZED_UP_TO(struct redlock_request, wait_ms),
    .is = "request is",
    .was = "request was",
    .sets = "request sets",
    .init = "redlock_request_init",
};

REDLOCK_EXPORT void redlock_request_init_sized(struct redlock_request *request, size_t size)
{
    rlk_sized_init(request, size, &defaults, sizeof(defaults));
}

int rlk_request_owner(struct redlock *rl, const char *name, const char *owner, size_t most)
{
    size_t len = owner ? strlen(owner) : 0, i;

    if (len > most) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "%s is %zu bytes long; at most %zu are allowed", name, len, most);
    }
    for (i = 0; i < len; i++) {
        if (owner[i] < ' ' || owner[i] > '~') {
            return rlk_manager_refuse(
                rl, REDLOCK_EINVAL, "%s has a byte that is not printable; use printable ASCII only",
                name);
        }
    }
    return 0;
}

static void fill_attempt(const struct redlock *rl, const struct redlock_request *q,
                         struct rlk_attempt_config *c)
{
    const struct rlk_options *o = &rl->options;
    uint64_t ttl_us = rlk_time_from_ms(q->ttl_ms);

    c->terms.voters = &rl->voters;
    c->terms.lease_us = rlk_validity_lease_us(ttl_us, o->drift_ppm);
    c->terms.min_validity_us =
        q->min_validity_ms ? rlk_time_from_ms(q->min_validity_ms) : ttl_us / 10;
    c->terms.timeout_us = o->node_timeout_us;
    c->wait_us = q->wait_ms == REDLOCK_FOREVER ? RLK_NEVER : rlk_time_from_ms(q->wait_ms);
    c->terms.fenced = q->fencing != 0;
    c->terms.keeps_votes = true;
    c->retry_min_us = rlk_time_from_ms(q->retry_min_ms);
    c->retry_max_us = rlk_time_from_ms(q->retry_max_ms);
    c->max_retries = q->max_retries;
    c->head_start_us = 0;
    c->subscribe = o->subscribe;
    c->key_hash = 0;
    c->seed = 0;
}

static void fill_hold(const struct rlk_options *o, const struct redlock_request *q,
                      struct rlk_hold_config *c)
{
    c->nodes = (uint8_t)o->n_nodes;
    c->drift_ppm = o->drift_ppm;
    c->ttl_us = rlk_time_from_ms(q->ttl_ms);
    c->timeout_us = (uint32_t)o->node_timeout_us;
    c->renew = q->renew != 0;
    c->needs_heartbeat = q->needs_heartbeat != 0;
    c->together = true;
    c->max_hold_us = q->max_hold_ms ? rlk_time_from_ms(q->max_hold_ms) : RLK_NEVER;
    c->max_renewals = q->max_renewals;
    c->retry_us = 0;
    c->adopted = false;
    c->early_ppm = 0;
    rlk_prng_seed(&c->prng, 0);
}

/* ---- keys ---- */

static bool same(const struct rlk_key *a, const struct rlk_key *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static bool ends_in(const struct rlk_key *key, const char *end)
{
    size_t len = strlen(end);

    return key->len >= len && memcmp(key->bytes + key->len - len, end, len) == 0;
}

/* Names that the library uses itself: counters, wait queues, the incarnation key, the record of the
 * masters, and the audit stream. */
static bool is_reserved(const struct rlk_key *key)
{
    static const struct rlk_key incarnation = {RLK_COMMAND_INCARNATION,
                                               sizeof(RLK_COMMAND_INCARNATION) - 1};
    static const struct rlk_key record = {RLK_COMMAND_RECORD, sizeof(RLK_COMMAND_RECORD) - 1};
    static const struct rlk_key audit = {RLK_COMMAND_AUDIT, sizeof(RLK_COMMAND_AUDIT) - 1};

    return ends_in(key, RLK_COMMAND_COUNTER) || ends_in(key, RLK_COMMAND_WAITING) ||
           same(key, &incarnation) || same(key, &record) || same(key, &audit);
}

static int check_key(struct redlock *rl, const struct rlk_key *key, unsigned number)
{
    size_t most = REDLOCK_MAX_KEY - rl->options.key_prefix_len;

    if (key->len < 1) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "key %u is empty; a key needs at least one byte", number);
    }
    if (key->len > most) {
        return rlk_manager_refuse(
            rl, REDLOCK_EINVAL,
            "key %u is %zu bytes long; at most %zu are allowed (%d with key_prefix)", number,
            key->len, most, REDLOCK_MAX_KEY);
    }
    if (is_reserved(key)) {
        return rlk_manager_refuse(
            rl, REDLOCK_EINVAL,
            "key %u has a name that is reserved for the library; use another name", number);
    }
    return 0;
}

/* Add a key. The same key twice is a mistake of the caller. */
static int add_key(struct redlock *rl, struct rlk_terms *r, const char *bytes, size_t len)
{
    struct rlk_key *key = &r->keys[r->n_keys];
    int status;
    unsigned i;

    *key = (struct rlk_key){bytes, len};
    status = check_key(rl, key, r->n_keys + 1);
    for (i = 0; status == 0 && i < r->n_keys; i++) {
        if (same(&r->keys[i], key)) {
            return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                      "key %u and key %u are the same; name each key once", i + 1,
                                      r->n_keys + 1);
        }
    }
    r->n_keys += status == 0;
    return status;
}

int rlk_request_keys(struct redlock *rl, const char *const *keys, const size_t *lens, size_t n_keys,
                     struct rlk_terms *ret_terms)
{
    size_t i;
    int status = 0;

    ret_terms->n_keys = 0;
    if (n_keys < 1 || n_keys > REDLOCK_MAX_KEYS) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "%zu keys are given; a lock has 1 to %d",
                                  n_keys, REDLOCK_MAX_KEYS);
    }
    if (keys == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "keys is NULL, and n_keys is %zu; give that many keys", n_keys);
    }
    for (i = 0; i < n_keys && status == 0; i++) {
        if (keys[i] == NULL) {
            return rlk_manager_refuse(rl, REDLOCK_EINVAL, "key %zu is NULL", i + 1);
        }
        status = add_key(rl, ret_terms, keys[i], lens && lens[i] ? lens[i] : strlen(keys[i]));
    }
    return status;
}

static int check_keys(struct redlock *rl, const struct redlock_request *q, struct rlk_terms *r)
{
    if (q->n_keys > 0 && q->key) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "key and keys are both set; set only one of them");
    }
    if (q->n_keys > 0) {
        return rlk_request_keys(rl, q->keys, NULL, q->n_keys, r);
    }
    if (q->key == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "no key is given; set key, or keys and n_keys");
    }
    r->n_keys = 0;
    return add_key(rl, r, q->key, q->key_len ? q->key_len : strlen(q->key));
}

/* ---- token, ttl and the whole request ---- */

int rlk_request_token(struct redlock *rl, const char *token)
{
    if (!rlk_claim_is_token(token)) {
        return rlk_manager_refuse(
            rl, REDLOCK_EINVAL,
            "the token is NULL, empty or longer than %d bytes; pass the token of the lock",
            RLK_TOKEN_MAX);
    }
    if (rlk_claim_reserved_for(token)[0]) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "the token is a reservation: nobody holds the lock, and it is "
                                  "free again as soon as the reservation ends");
    }
    return 0;
}

int rlk_request_adopted_token(struct redlock *rl, const char *token)
{
    int status = rlk_request_token(rl, token);

    if (status == 0 && rlk_claim_is_broken(rlk_claim_owner(token))) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "the token is that of a broken lock, which nobody can extend");
    }
    return status;
}

/* A lock that only looks broken could not be told from one that is. */
static int check_owner(struct redlock *rl, const char *owner)
{
    if (rlk_claim_is_broken(owner)) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "owner begins with \"" REDLOCK_BROKEN_BY
                                  "\", as only that of a broken lock does");
    }
    return rlk_request_owner(rl, "owner", owner, REDLOCK_MAX_OWNER);
}

int rlk_request_ttl(struct redlock *rl, uint32_t ttl_ms)
{
    if (ttl_ms >= REDLOCK_MIN_TTL_MS && ttl_ms <= rl->options.max_ttl_ms) {
        return 0;
    }
    return rlk_manager_refuse(rl, REDLOCK_ETTL,
                              "the ttl is %u ms; it must be %d to %u (max_ttl_ms)", ttl_ms,
                              REDLOCK_MIN_TTL_MS, rl->options.max_ttl_ms);
}

static int check_retry(struct redlock *rl, const struct redlock_request *q)
{
    if (q->retry_max_ms < 1 || q->retry_max_ms > MAX_RETRY_MS) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "retry_max_ms is %u; it must be 1 to %d",
                                  q->retry_max_ms, MAX_RETRY_MS);
    }
    if (q->retry_min_ms > q->retry_max_ms) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "retry_min_ms is %u; it must be at most retry_max_ms (%u)",
                                  q->retry_min_ms, q->retry_max_ms);
    }
    return 0;
}

static int check_validity(struct redlock *rl, const struct rlk_round_terms *terms)
{
    if (terms->min_validity_us < terms->lease_us) {
        return 0;
    }
    return rlk_manager_refuse(
        rl, REDLOCK_EINVAL,
        "min_validity_ms is %llu; it must be less than the ttl without the drift (%llu ms)",
        (unsigned long long)terms->min_validity_us / 1000,
        (unsigned long long)terms->lease_us / 1000);
}

int rlk_request_read(struct redlock *rl, const struct rlk_request_form *form, const void *theirs,
                     void *ret_own)
{
    memcpy(ret_own, form->defaults, form->size);
    if (theirs == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "the %s NULL", form->is);
    }
    switch (rlk_sized_read(theirs, form->least, ret_own, form->size)) {
    case RLK_SIZED_INVALID:
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "the %s not initialised; call %s() first",
                                  form->was, form->init);
    case RLK_SIZED_UNKNOWN:
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "the %s a field that this library (%s) does not know; "
                                  "the program was built for a newer version",
                                  form->sets, redlock_version());
    case RLK_SIZED_READ:
        break;
    }
    return 0;
}

int rlk_request_number(struct redlock *rl, const char *name, uint32_t value, uint32_t min,
                       uint32_t max)
{
    if (value >= min && value <= max) {
        return 0;
    }
    return rlk_manager_refuse(rl, REDLOCK_EINVAL, "%s is %u; it must be %u to %u", name, value, min,
                              max);
}

int rlk_request_switch(struct redlock *rl, const char *name, int value)
{
    if (value == 0 || value == 1) {
        return 0;
    }
    return rlk_manager_refuse(rl, REDLOCK_EINVAL, "%s is %d; it must be 0 or 1", name, value);
}

static int check_switches(struct redlock *rl, const struct redlock_request *q)
{
    int status = rlk_request_switch(rl, "renew", q->renew);

    if (status == 0) {
        status = rlk_request_switch(rl, "needs_heartbeat", q->needs_heartbeat);
    }
    return status ? status : rlk_request_switch(rl, "fencing", q->fencing);
}

static int check_flags(struct redlock *rl, const struct redlock_request *q)
{
    static const uint64_t known = REDLOCK_NOTIFY_MOVES | REDLOCK_SHARE_TOKEN;

    if ((q->flags & ~known) == 0) {
        return 0;
    }
    return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                              "flags has bits that this library does not know; clear them");
}

static int check_fields(struct redlock *rl, const struct redlock_request *q, struct rlk_terms *r)
{
    int status = check_keys(rl, q, r);

    if (status == 0) {
        status = check_owner(rl, q->owner);
    }
    if (status == 0) {
        status = check_retry(rl, q);
    }
    if (status == 0) {
        status = check_flags(rl, q);
    }
    if (status == 0) {
        status = check_switches(rl, q);
    }
    return status ? status : rlk_request_ttl(rl, q->ttl_ms);
}

int rlk_request_check(struct redlock *rl, const struct redlock_request *theirs,
                      struct redlock_request *ret_q, struct rlk_terms *ret_terms)
{
    int status = rlk_request_read(rl, &request_form, theirs, ret_q);

    if (status == 0) {
        status = check_fields(rl, ret_q, ret_terms);
    }
    if (status) {
        return status;
    }
    fill_attempt(rl, ret_q, &ret_terms->attempt);
    fill_hold(&rl->options, ret_q, &ret_terms->hold);
    return check_validity(rl, &ret_terms->attempt.terms);
}
