/* drive_election.h - the inside of struct redlock_election: a candidate, its lock, and what it
 * observes; and what drives its machine.
 *
 *     lock callbacks, timer, calls --> step core/election.h --> acquire, cancel, release, call back
 *     observe.h                    --> the same, and leader_cb
 *     bid.h                        --> the same
 */
#ifndef RLK_ELECTION_DRIVE_ELECTION_H
#define RLK_ELECTION_DRIVE_ELECTION_H

#include <stdatomic.h>

#include <redlock/election.h>
#include <redlock/lock.h>

#include "core/election.h"
#include "election/bid.h"
#include "election/leader.h"
#include "election/terms.h"
#include "lock/manager.h"

struct redlock_election {
    struct rlk_operation operation;
    struct redlock *rl;
    struct rlk_election_terms terms;
    struct rlk_election machine;
    struct redlock_lock *lock;           /* being acquired, or held; NULL: none */
    struct rlk_observation *observation; /* of who leads; NULL: nobody wants to know */
    struct rlk_leader leader;
    struct rlk_bid bid;
    struct rlk_timer timer;
    struct rlk_call report; /* runs demoted_cb, or ends the election */
    bool scheduled;         /* `report` is queued, and counts as pending in the manager */
    bool reporting;         /* demoted_cb is being called */
    char successor[REDLOCK_MAX_ID + 1]; /* the id of whom the lock is handed over to */
    uint32_t reserved_ms;               /* for how long it is reserved then */
    bool freeing;
    bool kept; /* kept.h */
    redlock_election_free_cb *free_cb;
    void *free_arg;
    /* Read by other threads. */
    _Atomic uint64_t leadership_until_us;
    _Atomic uint64_t term;
    int failure; /* why the last try to be elected failed; 0: none since the last leadership */
};

/* Step the machine with an event whose kind and fields are set, and carry out the actions. */
void rlk_election_do(struct redlock_election *e, struct rlk_election_event ev);

/* Whether it leads now. */
bool rlk_election_leads(const struct redlock_election *e);

/* For the public calls: make the parts of an election with these terms; begin to drive it. */
void rlk_election_prepare(struct redlock_election *e);
void rlk_election_begin(struct redlock_election *e);

/* Report the end of leadership, if that is due; the caller runs at the end of a turn. */
void rlk_election_report_demoted(struct redlock_election *e);

/* Tell the application who leads, unless it knows, or that has to wait for the beginning or the end
 * of its own leadership. */
void rlk_election_tell_leader(struct redlock_election *e);

#endif
