/* hand_over.c - the calls that hand a lock over to a waiter [H1]. A hand-over is a release that
 * leaves a reservation in the place of the token. */
#include <redlock/error.h>
#include <redlock/lock.h>

#include "lock/drive_release.h"
#include "lock/lock.h"
#include "lock/request.h"

static int check_name(struct redlock *rl, const char *to)
{
    if (to == NULL || to[0] == '\0') {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "to is NULL or empty; it must be the owner text of a waiter");
    }
    return rlk_request_owner(rl, "to", to, REDLOCK_MAX_OWNER);
}

/* A reservation has the digits of the token. A lock that was broken is its former holder's until it
 * ends. */
static int check_token(struct redlock *rl, const char *token)
{
    if (!rlk_claim_is_fresh(token)) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                                  "the token was not made by this library, so its lock cannot be "
                                  "handed over; release it instead");
    }
    if (rlk_claim_is_broken(rlk_claim_owner(token))) {
        return rlk_manager_refuse(
            rl, REDLOCK_EINVAL, "the token is that of a broken lock, which cannot be handed over");
    }
    return 0;
}

static int check_within(struct redlock *rl, uint32_t within_ms)
{
    if (within_ms <= rl->options.max_ttl_ms) {
        return 0;
    }
    return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                              "within_ms is %u; it must be 0 to %u (max_ttl_ms)", within_ms,
                              rl->options.max_ttl_ms);
}

int rlk_successor_check(struct redlock *rl, const char *to, uint32_t within_ms,
                        struct rlk_successor *ret_successor)
{
    uint32_t usual_ms = REDLOCK_RESERVED_MS;
    int status = check_name(rl, to);

    if (status == 0) {
        status = check_within(rl, within_ms);
    }
    usual_ms = usual_ms < rl->options.max_ttl_ms ? usual_ms : rl->options.max_ttl_ms;
    *ret_successor =
        (struct rlk_successor){.to = to, .within_ms = within_ms ? within_ms : usual_ms};
    return status;
}

static int make_successor(struct redlock *rl, const char *to, uint32_t within_ms, const char *token,
                          struct rlk_successor *ret_successor)
{
    int status = rlk_successor_check(rl, to, within_ms, ret_successor);

    return status ? status : check_token(rl, token);
}

REDLOCK_EXPORT int redlock_hand_over(struct redlock_lock *lock, const char *to, uint32_t within_ms,
                                     redlock_release_cb *cb, void *arg)
{
    struct rlk_successor successor;
    int status = rlk_manager_check_call(lock ? lock->rl : NULL, RLK_OPERATION_NONE);

    if (status == 0 && lock->phase != RLK_LOCK_HELD) {
        status = rlk_manager_refuse(lock->rl, REDLOCK_ESTATE, "the lock is not held");
    }
    if (status == 0) {
        status = make_successor(lock->rl, to, within_ms, rlk_claim_token(lock->claim), &successor);
    }
    return status ? status : rlk_lock_release(lock, &successor, cb, arg);
}

REDLOCK_EXPORT int redlock_hand_over_token(struct redlock *rl, const char *const *keys,
                                           const size_t *key_lens, size_t n_keys, const char *token,
                                           const char *to, uint32_t within_ms,
                                           redlock_release_cb *cb, void *arg)
{
    struct rlk_successor successor;
    struct rlk_terms request;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_RELEASE);

    if (status == 0) {
        status = rlk_request_keys(rl, keys, key_lens, n_keys, &request);
    }
    if (status == 0) {
        status = rlk_request_token(rl, token);
    }
    if (status == 0) {
        status = make_successor(rl, to, within_ms, token, &successor);
    }
    return status ? status : rlk_lock_release_token(rl, &request, token, &successor, cb, arg);
}
