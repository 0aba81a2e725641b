/* terms.c - checks the options of an election, field by field. */
#include "election/terms.h"

#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/sized.h"
#include "base/time.h"
#include "core/hold.h"
#include "core/validity.h"
#include "lock/leader_text.h"
#include "lock/manager.h"
#include "lock/request.h"
#include "node/command.h"

#define MAX_DELAY_MS 86400000

static const struct redlock_election_options defaults = {
    .size = sizeof(defaults),
    .ttl_ms = 10000,
};

static const struct rlk_request_form options_form = {
    .defaults = &defaults,
    .size = sizeof(defaults),
    .least = RLK_SIZED_UP_TO(struct redlock_election_options, arg),
    .is = "options are",
    .was = "options were",
    .sets = "options set",
    .init = "redlock_election_options_init",
};

REDLOCK_EXPORT void redlock_election_options_init_sized(struct redlock_election_options *options,
                                                        size_t size)
{
    rlk_sized_init(options, size, &defaults, sizeof(defaults));
}

/* ---- texts ---- */

static int check_text(struct redlock *rl, const char *what, const char *text, size_t most,
                      char least_byte)
{
    size_t len = strlen(text), i;

    if (len > most) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "the %s is %zu bytes long; at most %zu are "
                                  "allowed",
                                  what, len, most);
    }
    for (i = 0; i < len; i++) {
        if (text[i] < least_byte || text[i] > '~') {
            return rlk_manager_refuse(
                rl, REDLOCK_EINVAL, "the %s has a byte that is not allowed; use printable ASCII%s",
                what, least_byte > ' ' ? " without spaces" : "");
        }
    }
    return 0;
}

int rlk_election_check_id(struct redlock *rl, const char *what, const char *id)
{
    return check_text(rl, what, id, REDLOCK_MAX_ID, '!');
}

/* The key of the bids is the longest that is made of the name. */
static int check_texts(struct redlock *rl, const struct redlock_election_options *o)
{
    size_t most = REDLOCK_MAX_KEY - rl->options.key_prefix_len - (sizeof(RLK_COMMAND_BID) - 1);
    int status = 0;

    if (o->name == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "no name is given; set the election's name");
    }
    if (strlen(o->name) > most) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "the name is %zu bytes long; at most %zu are allowed",
                                  strlen(o->name), most);
    }
    if (o->id && o->id[0] == '\0') {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "the id is empty; name this candidate, or set NULL to observe");
    }
    if (o->id) {
        status = rlk_election_check_id(rl, "id", o->id);
    }
    if (status == 0 && o->value) {
        status = check_text(rl, "value", o->value, REDLOCK_MAX_VALUE, ' ');
    }
    return status;
}

static int check_callbacks(struct redlock *rl, const struct redlock_election_options *o)
{
    if (o->id && (o->elected_cb == NULL || o->demoted_cb == NULL)) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "%s is NULL; a candidate needs elected_cb and demoted_cb",
                                  o->elected_cb ? "demoted_cb" : "elected_cb");
    }
    if (o->id == NULL && o->leader_cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "leader_cb is NULL; an observer (without id) needs it");
    }
    return rlk_request_switch(rl, "stops_later", o->stops_later);
}

static void copy_texts(struct rlk_election_terms *t)
{
    struct redlock_election_options *o = &t->options;

    snprintf(t->name, sizeof(t->name), "%s", o->name);
    snprintf(t->id, sizeof(t->id), "%s", o->id ? o->id : "");
    rlk_leader_text_write(t->owner, t->id, o->value, o->priority);
    o->name = t->name;
    o->id = o->id ? t->id : NULL;
    o->value = NULL;
}

/* ---- timings ---- */

/* As client-go's leaderelection asks for: ttl > renew deadline > retry. */
static int check_numbers(struct redlock *rl, const struct redlock_election_options *o,
                         const struct rlk_election_config *c)
{
    uint64_t least_us = rlk_time_from_ms(o->ttl_ms) / RLK_HOLD_RENEW_PARTS + c->retry_us;

    if (c->renew_deadline_us >= c->lease_us) {
        return rlk_manager_refuse(
            rl, REDLOCK_EINVAL,
            "renew_deadline_ms is %llu; it must be less than the ttl without the drift (%llu ms)",
            (unsigned long long)c->renew_deadline_us / 1000,
            (unsigned long long)c->lease_us / 1000);
    }
    if (c->renew_deadline_us <= least_us) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "renew_deadline_ms is %llu; it must be more than a third of the "
                                  "ttl and retry_ms together (%llu ms)",
                                  (unsigned long long)c->renew_deadline_us / 1000,
                                  (unsigned long long)least_us / 1000);
    }
    if (o->priority > RLK_LEADER_MAX_PRIORITY) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "priority is %u; it must be at most %d",
                                  o->priority, RLK_LEADER_MAX_PRIORITY);
    }
    if (o->delay_ms > MAX_DELAY_MS) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "delay_ms is %u; it must be at most %d",
                                  o->delay_ms, MAX_DELAY_MS);
    }
    return 0;
}

static struct rlk_election_config config_of(const struct redlock *rl,
                                            const struct redlock_election_options *o)
{
    uint64_t ttl_us = rlk_time_from_ms(o->ttl_ms);

    return (struct rlk_election_config){
        .lease_us = rlk_validity_lease_us(ttl_us, rl->options.drift_ppm),
        .renew_deadline_us =
            o->renew_deadline_ms ? rlk_time_from_ms(o->renew_deadline_ms) : ttl_us / 3 * 2,
        .retry_us = o->retry_ms ? rlk_time_from_ms(o->retry_ms) : ttl_us / 10,
        .priority = o->priority,
        .delay_us = rlk_time_from_ms(o->delay_ms),
        .stops_later = o->stops_later != 0};
}

/* ---- the lock ---- */

/* Leadership that would be over soon is not worth taking: at least half of it must be left. */
static void fill_request(struct rlk_election_terms *t)
{
    const struct rlk_election_config *c = &t->config;
    struct redlock_request *q = &t->request;
    uint64_t least_us = c->lease_us - c->renew_deadline_us / 2;
    uint64_t retry_ms = rlk_time_max(c->retry_us / 1000, 1);

    redlock_request_init(q);
    q->key = t->name;
    q->ttl_ms = t->options.ttl_ms;
    q->owner = t->owner;
    q->fencing = 1;
    q->wait_ms = REDLOCK_FOREVER;
    q->retry_max_ms = (uint32_t)rlk_time_min(retry_ms, q->retry_max_ms);
    q->min_validity_ms = (uint32_t)(least_us / 1000);
    q->needs_heartbeat = t->options.healthy_cb != NULL;
    q->flags = REDLOCK_NOTIFY_MOVES;
}

int rlk_election_terms_read(struct redlock *rl, const struct redlock_election_options *theirs,
                            struct rlk_election_terms *ret_terms)
{
    struct redlock_election_options *o = &ret_terms->options;
    struct redlock_request q;
    struct rlk_terms terms;
    int status = rlk_request_read(rl, &options_form, theirs, o);

    if (status == 0) {
        status = check_texts(rl, o);
    }
    if (status == 0) {
        status = check_callbacks(rl, o);
    }
    if (status == 0) {
        status = rlk_request_ttl(rl, o->ttl_ms);
    }
    if (status) {
        return status;
    }
    ret_terms->config = config_of(rl, o);
    status = check_numbers(rl, o, &ret_terms->config);
    if (status) {
        return status;
    }
    copy_texts(ret_terms);
    fill_request(ret_terms);
    return rlk_request_check(rl, &ret_terms->request, &q, &terms);
}
