/* election.h - the inside of struct redlock_election: a candidate, its lock, and what it observes.
 *
 *     lock callbacks, timer, calls --> step core/election.h --> acquire, cancel, release, call back
 *     lock/observation.h           --> leader_cb
 */
#ifndef RLK_ELECTION_ELECTION_H
#define RLK_ELECTION_ELECTION_H

#include <stdatomic.h>

#include <redlock/election.h>
#include <redlock/lock.h>

#include "core/election.h"
#include "election/bid.h"
#include "lock/manager.h"

struct rlk_observation;

/* Who leads. */
struct rlk_heard {
    struct redlock_leader leader; /* with the texts below */
    char id[REDLOCK_MAX_OWNER + 1];
    char value[REDLOCK_MAX_VALUE + 1];
};

struct redlock_election {
    struct rlk_operation operation;
    struct redlock *rl;
    struct rlk_election machine;
    struct redlock_lock *lock;           /* being acquired, or held; NULL: none */
    struct rlk_observation *observation; /* of who leads; NULL: nobody wants to know */
    struct rlk_bid bid;
    struct rlk_timer timer;
    struct rlk_call report; /* runs demoted_cb, or ends the election */
    bool scheduled;         /* `report` is queued, and counts as pending in the manager */
    bool reporting;         /* demoted_cb is being called */
    bool freeing;
    bool kept; /* kept.h */
    redlock_election_free_cb *free_cb;
    void *free_arg;
    /* Read by other threads. */
    _Atomic uint64_t leadership_until_us;
    _Atomic uint64_t term;
    int failure; /* why the last try to be elected failed; 0: none since the last leadership */
    struct rlk_heard heard; /* what the masters say */
    struct rlk_heard told;  /* what leader_cb was told last */
    bool has_told;          /* leader_cb was told something */
    bool untold;            /* leader_cb was not told yet what was heard last */
    /* Of the options; the texts are copies. */
    struct redlock_election_options options;
    struct redlock_request request; /* what to acquire */
    char owner[REDLOCK_MAX_OWNER + 1];
    char name[REDLOCK_MAX_KEY + 1];
};

/* Step the machine with an event whose kind and fields are set, and carry out the actions. */
void rlk_election_do(struct redlock_election *e, struct rlk_election_event ev);

/* Ask the application whether it is fit to lead. It may call everything meanwhile. */
bool rlk_election_is_healthy(struct redlock_election *e);

/* For the public calls: begin to drive; whether the election can be gone now. */
void rlk_election_begin(struct redlock_election *e);
void rlk_election_settle(struct redlock_election *e);

/* Report the end of leadership, if that is due; the caller runs at the end of a turn. */
void rlk_election_report_demoted(struct redlock_election *e);

#endif
