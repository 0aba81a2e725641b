/* election.c - the calls of redlock/election.h. */
#include <redlock/election.h>

#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "election/drive_election.h"
#include "election/kept.h"
#include "election/observe.h"
#include "lock/drive_release.h"
#include "net/clock.h"

/* ---- the beginning ---- */

static int begin_election(struct redlock_election *e)
{
    int status;

    rlk_election_prepare(e);
    status = rlk_election_observe(e);
    if (status == 0 && e->terms.options.id) {
        status = rlk_bid_begin(&e->bid);
    }
    if (status) {
        rlk_election_unobserve(e);
        return status;
    }
    rlk_election_begin(e);
    return 0;
}

REDLOCK_EXPORT int redlock_election_new(struct redlock *rl,
                                        const struct redlock_election_options *options,
                                        struct redlock_election **ret_election)
{
    int status = rlk_manager_check_call(rl, RLK_OPERATION_NONE);
    struct redlock_election *e;

    if (status == 0 && ret_election == NULL) {
        status = rlk_manager_refuse(rl, REDLOCK_EINVAL, "ret_election is NULL");
    }
    if (status) {
        return status;
    }
    e = rlk_alloc(sizeof(*e));
    if (e == NULL) {
        return REDLOCK_ENOMEM;
    }
    e->rl = rl;
    status = rlk_election_terms_read(rl, options, &e->terms);
    if (status == 0) {
        status = begin_election(e);
    }
    if (status) {
        rlk_free(e);
        return status;
    }
    *ret_election = e;
    return 0;
}

/* ---- campaign, resign, free ---- */

static int check(const struct redlock_election *e)
{
    return rlk_manager_check_call(e ? e->rl : NULL, RLK_OPERATION_NONE);
}

REDLOCK_EXPORT int redlock_election_campaign(struct redlock_election *election)
{
    int status = check(election);

    if (status) {
        return status;
    }
    if (election->terms.options.id == NULL) {
        return rlk_manager_refuse(election->rl, REDLOCK_EINVAL,
                                  "the options had no id: an observer cannot campaign; set id");
    }
    if (election->freeing) {
        return REDLOCK_ESTATE;
    }
    rlk_election_do(election, (struct rlk_election_event){.kind = RLK_ELECTION_CAMPAIGN});
    return 0;
}

REDLOCK_EXPORT int redlock_election_resign(struct redlock_election *election)
{
    int status = check(election);

    if (status == 0) {
        rlk_election_do(election, (struct rlk_election_event){.kind = RLK_ELECTION_RESIGN});
    }
    return status;
}

/* [H1] The reservation is made when the application has stopped. */
static void set_successor(struct redlock_election *e, const struct rlk_successor *successor)
{
    snprintf(e->successor, sizeof(e->successor), "%s", successor->to);
    e->reserved_ms = successor->within_ms;
}

static int check_successor(struct redlock_election *e, const char *to, uint32_t within_ms,
                           struct rlk_successor *ret_successor)
{
    int status = rlk_successor_check(e->rl, to, within_ms, ret_successor);

    if (status == 0) {
        status = rlk_election_check_id(e->rl, "id of the successor", to);
    }
    if (status == 0 && strcmp(to, e->terms.id) == 0) {
        status = rlk_manager_refuse(e->rl, REDLOCK_EINVAL,
                                    "the id of the successor is that of this candidate; name "
                                    "another one");
    }
    return status;
}

REDLOCK_EXPORT int redlock_election_hand_over(struct redlock_election *election, const char *to,
                                              uint32_t within_ms)
{
    struct rlk_successor successor;
    int status = check(election);

    if (status == 0) {
        status = check_successor(election, to, within_ms, &successor);
    }
    if (status == 0) {
        set_successor(election, &successor);
        rlk_election_do(election, (struct rlk_election_event){.kind = RLK_ELECTION_HAND_OVER});
    }
    return status;
}

static bool is_stopping(const struct redlock_election *e)
{
    return e->machine.state == RLK_ELECTION_STOPPING || (e->reporting && !e->machine.stopped);
}

REDLOCK_EXPORT int redlock_election_stopped(struct redlock_election *election)
{
    int status = rlk_manager_check(election ? election->rl : NULL);

    if (status) {
        return status;
    }
    if (!is_stopping(election)) {
        return REDLOCK_ESTATE;
    }
    rlk_election_do(election, (struct rlk_election_event){.kind = RLK_ELECTION_STOPPED});
    return 0;
}

REDLOCK_EXPORT int redlock_election_free(struct redlock_election *election,
                                         redlock_election_free_cb *cb, void *arg)
{
    int status = rlk_manager_check(election ? election->rl : NULL);

    if (status) {
        return status;
    }
    if (election->freeing || election->kept) {
        return REDLOCK_ESTATE;
    }
    election->freeing = true;
    election->free_cb = cb;
    election->free_arg = arg;
    rlk_election_unobserve(election);
    rlk_bid_end(&election->bid);
    rlk_election_do(election, (struct rlk_election_event){.kind = RLK_ELECTION_RESIGN});
    return 0;
}

void rlk_kept_election(struct redlock_election *e, bool kept)
{
    e->kept = kept;
}

/* ---- asking ---- */

REDLOCK_EXPORT uint64_t redlock_election_deadline_us(const struct redlock_election *election)
{
    if (election == NULL || rlk_fork_is_child(&election->rl->loop.fork)) {
        return 0;
    }
    return atomic_load(&election->leadership_until_us);
}

REDLOCK_EXPORT int redlock_election_is_leader(const struct redlock_election *election)
{
    return rlk_clock_us() < redlock_election_deadline_us(election);
}

REDLOCK_EXPORT uint64_t redlock_election_term(const struct redlock_election *election)
{
    return redlock_election_is_leader(election) ? atomic_load(&election->term) : 0;
}

REDLOCK_EXPORT enum redlock_election_state
redlock_election_state(const struct redlock_election *election)
{
    static const enum redlock_election_state states[] = {
        [RLK_ELECTION_IDLE] = REDLOCK_ELECTION_OBSERVER,
        [RLK_ELECTION_ASKING] = REDLOCK_ELECTION_CANDIDATE,
        [RLK_ELECTION_LEAVING] = REDLOCK_ELECTION_OBSERVER,
        [RLK_ELECTION_PAUSED] = REDLOCK_ELECTION_CANDIDATE,
        [RLK_ELECTION_LEADING] = REDLOCK_ELECTION_LEADER,
        [RLK_ELECTION_DEMOTED] = REDLOCK_ELECTION_STOPPING,
        [RLK_ELECTION_STOPPING] = REDLOCK_ELECTION_STOPPING};

    return election ? states[election->machine.state] : REDLOCK_ELECTION_OBSERVER;
}

REDLOCK_EXPORT int redlock_election_failure(const struct redlock_election *election)
{
    return election ? election->failure : 0;
}

REDLOCK_EXPORT const struct redlock_lock *
redlock_election_lock(const struct redlock_election *election)
{
    return election ? election->lock : NULL;
}

REDLOCK_EXPORT int redlock_election_leader(const struct redlock_election *election,
                                           struct redlock_leader *ret_leader)
{
    int status = rlk_manager_check(election ? election->rl : NULL);

    if (status == REDLOCK_EINVAL || status == REDLOCK_EFORK) {
        return status;
    }
    if (ret_leader == NULL || !rlk_sized_valid(ret_leader, sizeof(*ret_leader))) {
        return REDLOCK_EINVAL;
    }
    rlk_sized_write(ret_leader, &election->leader.told.leader, sizeof(*ret_leader));
    return 0;
}
