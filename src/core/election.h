/* election.h - one candidate of an election: it asks for leadership, leads, stops, and asks again.
 *
 *           CAMPAIGN         WON               leadership is over         REPORTED
 *    IDLE ------------> ASKING ------> LEADING ----------------> DEMOTED -----------> STOPPING
 *     ^                  |    ^                                                          |
 *     |           RESIGN |    | the pause is over                           STOPPED      |
 *     |                  v    +------------------------ PAUSED <-------------------------+
 *     +--------------- LEAVING                                                           |
 *     +----------------------------------------------------------------------------------+ RESIGN
 *
 * Leadership is a lock with a fencing token. A hold (core/hold.h) renews it and knows how long it
 * is valid; this machine decides when leadership begins, and what comes in which order:
 *
 * [L1] Leadership ends before the lock does: renew_deadline after the last renewal. The clock says
 *      so, not an event: each call that asks compares it with leadership_until_us.
 * [L2] Each leadership that was reported as begun is reported as ended, once. The lock is released
 *      only after that: nobody else is elected before. So is a lock that is handed over.
 * [L3] The next leadership does not begin before the application has stopped after the last one.
 * [L4] An application that stops later keeps the lock for what is left of it, but does not renew
 *      it. So one that never stops does not lead forever.
 * [L5] A candidate bids for leadership while the leader has a lower priority. While a candidate
 *      with a higher priority bids, a leader resigns, and other candidates do not ask. A candidate
 *      that is called upon bids, too, for one time; if it does not ask just then, as soon as it
 *      asks again. */
#ifndef RLK_CORE_ELECTION_H
#define RLK_CORE_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

struct rlk_election_config {
    uint64_t lease_us;          /* how long the lock is valid after a renewal began */
    uint64_t renew_deadline_us; /* less than that: how long leadership lasts */
    uint64_t retry_us;          /* the pause after a failed attempt */
    uint64_t delay_us;          /* the pause after leadership was lost */
    uint32_t priority;
    bool stops_later;
};

enum rlk_election_state {
    RLK_ELECTION_IDLE = 0,
    RLK_ELECTION_ASKING,  /* the lock is being acquired */
    RLK_ELECTION_LEAVING, /* that is cancelled, and has not ended yet */
    RLK_ELECTION_PAUSED,  /* a candidate that does not ask just now */
    RLK_ELECTION_LEADING,
    RLK_ELECTION_DEMOTED, /* the end of leadership is to be reported */
    RLK_ELECTION_STOPPING /* it was reported, and the application stops */
};

enum rlk_election_event_kind {
    RLK_ELECTION_CAMPAIGN = 0,
    RLK_ELECTION_RESIGN,
    RLK_ELECTION_HAND_OVER, /* resign, and leave the lock to somebody */
    RLK_ELECTION_CLOSE,     /* the manager closes: resign, and do not wait for STOPPED */
    RLK_ELECTION_WON,       /* the lock is acquired: valid_until_us, healthy */
    RLK_ELECTION_FAILED,    /* it is not */
    RLK_ELECTION_MOVED,     /* it is valid until another time: valid_until_us, reason */
    RLK_ELECTION_LOST,      /* reason */
    RLK_ELECTION_SICK,      /* the application is not fit to lead */
    RLK_ELECTION_LED,       /* who leads now: led, priority */
    RLK_ELECTION_OUTRANKED, /* whether somebody with a higher priority bids: outranked
                             */
    RLK_ELECTION_CALLED,    /* somebody wants us to lead; or the bid for that is over: called */
    RLK_ELECTION_REPORTED,  /* the end of leadership was reported */
    RLK_ELECTION_STOPPED,   /* the application has stopped; also while that is reported */
    RLK_ELECTION_TIMER      /* reason */
};

#define RLK_ELECTION_EVENT_KINDS (RLK_ELECTION_TIMER + 1)

struct rlk_election_event {
    enum rlk_election_event_kind kind;
    uint64_t now_us;
    uint64_t valid_until_us; /* WON, MOVED */
    int reason;   /* LOST; MOVED, TIMER: why renewals fail, if leadership is over; 0: they do not */
    bool healthy; /* WON: the application is fit to lead */
    bool outranked;    /* OUTRANKED */
    bool called;       /* CALLED */
    bool led;          /* LED: false: nobody leads */
    uint32_t priority; /* LED: of the leader; UINT32_MAX: it is no candidate */
};

struct rlk_election_actions {
    bool acquire;         /* begin to acquire the lock */
    bool cancel;          /* cancel that */
    bool release;         /* release the lock */
    bool hand_over;       /* and do so by handing it over */
    bool stop_renewing;   /* let the lock end */
    bool elected;         /* report that leadership has begun */
    bool demoted;         /* report that it has ended, then step REPORTED */
    bool moved;           /* report that it has another deadline */
    bool bids;            /* bid for leadership, and go on until a step says otherwise */
    uint64_t deadline_us; /* send a TIMER at this time; RLK_NEVER: none */
};

struct rlk_election {
    enum rlk_election_state state;
    bool wants;        /* to lead: a CAMPAIGN since the last RESIGN */
    bool outranked;    /* somebody with a higher priority bids for leadership */
    bool called;       /* somebody wants us to lead; ASKING: and we bid for it */
    bool led_by_lower; /* the last leader that was seen has a lower priority than we have */
    bool stopped;      /* DEMOTED: the application has stopped, or stops in demoted_cb */
    bool released;     /* STOPPING: the lock is over, and released */
    bool hands_over;   /* LEADING to STOPPING: the lock is for somebody, once we have stopped */
    int reason;        /* why the last leadership ended */
    uint64_t leadership_until_us; /* LEADING: until when; 0 in all other states */
    uint64_t valid_until_us;      /* LEADING to STOPPING: of the lock */
    uint64_t pause_us;            /* PAUSED: until when */
    uint64_t called_until_us;     /* called, and not ASKING: until when that counts */
    struct rlk_election_config config;
};

void rlk_election_init(struct rlk_election *e, const struct rlk_election_config *config);

/* `out` is written completely. */
void rlk_election_step(struct rlk_election *e, const struct rlk_election_event *ev,
                       struct rlk_election_actions *out);

#endif
