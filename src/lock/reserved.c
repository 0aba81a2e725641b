/* reserved.c - reads reservations, and compares their names with the owner texts of requests. */
#include "lock/reserved.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "lock/leader_text.h"
#include "lock/lock.h"

static bool is_named(const char *owner, const char *name)
{
    struct rlk_leader_text leader;

    rlk_leader_text_read(owner, &leader);
    return strcmp(owner, name) == 0 || strcmp(leader.id, name) == 0;
}

bool rlk_reserved_take(struct redlock_lock *lock, const char *value)
{
    const char *name = rlk_claim_reserved_for(value);

    if (name[0] == '\0' || !is_named(lock->acquiring->owner, name)) {
        return false;
    }
    return rlk_claim_set_reservation(lock->claim, value);
}

/* A longer value is not a reservation. */
static void copy_value(char out[RLK_TOKEN_MAX + 1], const char *text, size_t len)
{
    snprintf(out, RLK_TOKEN_MAX + 1, "%.*s", len <= RLK_TOKEN_MAX ? (int)len : 0, text);
}

bool rlk_reserved_take_text(struct redlock_lock *lock, const struct rlk_reply *value)
{
    char text[RLK_TOKEN_MAX + 1];

    if (value->type != RLK_REPLY_STRING || lock->phase != RLK_LOCK_PENDING) {
        return false;
    }
    copy_value(text, value->str, value->len);
    return rlk_reserved_take(lock, text);
}

/* The number at the beginning, and what follows it; NULL: no number, or one that is too large. */
static const char *read_ms(const char *at, const char *end, uint64_t *ret_us)
{
    const char *first = at;
    uint64_t ms = 0;

    while (at < end && *at >= '0' && *at <= '9' && ms <= REDLOCK_MAX_TTL_MS) {
        ms = 10 * ms + (uint64_t)(*at++ - '0');
    }
    *ret_us = rlk_time_from_ms(ms);
    return at == first || ms > REDLOCK_MAX_TTL_MS ? NULL : at;
}

bool rlk_reserved_read(const char *text, size_t len, struct rlk_reserved *ret_reserved)
{
    const char *end = text + len, *line = memchr(text, '\n', len);
    const char *at = line ? read_ms(text, line, &ret_reserved->left_us) : NULL;

    if (at == NULL || at == line || *at != ' ') {
        return false;
    }
    copy_value(ret_reserved->value, at + 1, (size_t)(line - at) - 1);
    ret_reserved->key = line + 1;
    ret_reserved->len = (size_t)(end - line) - 1;
    return true;
}
