/* event.h - the events that the state machines of the core take, and the actions they return.
 *
 * Every machine is a function `step(machine, event, actions)`. An event carries its kind, the time,
 * and the fields of that kind. The actions are sets of nodes, one deadline, and at most one thing
 * to report to the user.
 *
 * A step cannot fail, does not allocate and makes no callback, so it is never re-entered. A machine
 * ignores an event that no longer matters (a late vote, a timer that fires twice) and every kind
 * that is not in its table of steps: a driver does not have to filter events.
 *
 * One type serves all machines: the manager passes what happens to a node to each operation without
 * knowing which machine drives it (lock/hooks.c), and some kinds concern several machines.
 *
 * The driver promises two things. It reads event.now_us from the clock before the step, and it
 * carries out the actions at once, releases before acquires. */
#ifndef RLK_CORE_EVENT_H
#define RLK_CORE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum rlk_vote {
    RLK_VOTE_UNKNOWN = 0, /* an error, a timeout, a broken connection: never a no */
    RLK_VOTE_YES,
    RLK_VOTE_NO,         /* proven: the key has another value */
    RLK_VOTE_OURS,       /* the key had our own token already: one server at two addresses [S10],
                            unless an earlier reply of this node was lost */
    RLK_VOTE_QUARANTINED /* a yes that does not count: the server may have lost a lock [S11] */
};

/* What a node answers to a release, to an extension or to a CONFIRM. */
enum rlk_answer {
    RLK_ANSWER_UNKNOWN = 0,
    RLK_ANSWER_OURS, /* the key had our token */
    RLK_ANSWER_GONE, /* there was no key */
    RLK_ANSWER_TAKEN /* the key has the token of somebody else */
};

enum rlk_event_kind {
    RLK_EVENT_START = 0,
    RLK_EVENT_NODE_UP,   /* a node that was connecting is connected now */
    RLK_EVENT_NODE_DOWN, /* a node that was connecting failed to connect */
    RLK_EVENT_VOTE,
    RLK_EVENT_ANSWER,
    RLK_EVENT_KEPT,    /* a node has replied to an extension, or never will */
    RLK_EVENT_CONFIRM, /* a node has raised its counter to the fencing token, or has not [S12] */
    RLK_EVENT_TIMER,   /* a deadline may have passed */
    RLK_EVENT_CANCEL,
    RLK_EVENT_EXTEND,        /* the user asks for a ttl from now on */
    RLK_EVENT_HEARTBEAT,     /* the application says that it is alive */
    RLK_EVENT_DEQUEUED,      /* the machine asked to be queued, and now it may go on [S13] */
    RLK_EVENT_QUARANTINED,   /* a node may have lost a lock: its vote no longer counts [S11] */
    RLK_EVENT_CLOCK_SUSPECT, /* a node's clock went ahead: our key may have expired there [S11] */
    RLK_EVENT_SUSPENDED,     /* this client was suspended, and its clock did not count that: every
                                lease ends by_us sooner [S11] */
    RLK_EVENT_VOTERS,        /* the voters have changed: core/validity.h */
    RLK_EVENT_CONTEND,       /* the position of the attempt in the local queue has changed: if it
                                is no longer behind another one, it may ask */
    RLK_EVENT_POSITION,      /* a node has replied to a position check, or never will */
    RLK_EVENT_WOKEN,         /* a node says: the keys are free, and we are granted next */
    RLK_EVENT_NEXT,          /* a node says: we are the first in its wait queue now */
    RLK_EVENT_RESERVED,      /* a node says: a holder has handed its lock over [H3] */
    RLK_EVENT_CHANGED,       /* a key that we track has changed on a node */
    RLK_EVENT_SUBSCRIBED, /* the subscriber connection of a node is up, or may have missed something
                           */
    RLK_EVENT_UNSUBSCRIBED, /* the subscriber connection of a node is down */
    RLK_EVENT_LOOKED,       /* a look at a node is over: core/observer.h */
    RLK_EVENT_DELIVER       /* the driver is about to call back: the last moment to decide */
};

#define RLK_EVENT_KINDS (RLK_EVENT_DELIVER + 1)

/* Each field of the union belongs to the kinds that its comment names. */
struct rlk_event {
    enum rlk_event_kind kind;
    unsigned node;   /* NODE_UP, NODE_DOWN, VOTE, ANSWER, KEPT, CONFIRM, QUARANTINED, CLOCK_SUSPECT,
                        POSITION to LOOKED */
    uint64_t now_us; /* all kinds */
    union {
        struct {                   /* START, CONTEND, TIMER, EXTEND, DEQUEUED: a round may begin */
            uint64_t ready;        /* nodes that can be asked at once */
            uint64_t backlogged;   /* nodes that can be asked, but have too many commands in flight
                                      [S13]. A held lock asks them when it has no majority without
                                      them [S7], an adoption at once; for others there are none */
            uint64_t connecting;   /* nodes that may become ready; not for EXTEND */
            uint64_t ttl_us;       /* EXTEND: whole milliseconds */
            uint64_t subscribable; /* nodes whose subscriber connection is up or being connected:
                                   they can list us in a wait queue. Of these */
            uint64_t subscribed;   /* these have it up */
            bool behind;           /* START, CONTEND, TIMER: another request of this manager is
                                      before this one */
            bool rests;            /* CONTEND: a back-off comes first [W2] */
            bool yield;            /* START, CONTEND: this manager has just let another client go
                                      first: wait instead of asking */
            bool full;             /* the nodes have no capacity for another round: it has to be
                                      queued [S13]; not for DEQUEUED */
        };
        struct {                /* VOTE, ANSWER, KEPT, CONFIRM: a node has replied, or never will */
            enum rlk_vote vote; /* VOTE */
            enum rlk_answer
                answer;         /* ANSWER, KEPT; CONFIRM: RLK_ANSWER_OURS when the node agrees */
            uint32_t round;     /* VOTE, CONFIRM: the number of the round that was asked */
            bool clock_suspect; /* the node's clock cannot be relied on [S11] */
            uint64_t fence;     /* VOTE: the counter that came with a yes [S12]; 0: none */
            uint64_t holder;    /* VOTE: a number for the value that refused, the same for
                                   equal values; 0: the node did not name it */
        };
        struct {               /* POSITION: all 0 when the reply is lost, or an error. RESERVED */
            bool woken;        /* the keys are free, and we are granted next; or reserved for us */
            bool listed;       /* we are in the node's wait queue; of POSITION, also when woken */
            uint32_t position; /* in that queue, from 1 */
            uint64_t left_us;  /* what is left of the ttl of the key that we wait for; RLK_NEVER: it
                                  has none */
        };
        struct {              /* LOOKED: all 0 when the reply is lost, or an error */
            bool unsent;      /* the questions could not be sent; nothing else counts */
            bool answered;    /* the node has said what it has for the key */
            bool held;        /* a value. Then: */
            uint64_t value;   /* a number for it, the same for equal values */
            uint64_t ttl_us;  /* what is left of its ttl; RLK_NEVER: it has none */
            uint64_t counter; /* of the fencing token; 0: none */
            bool hears;       /* the node will report the next change of the key or the counter */
        } look;
        bool data_replaced; /* QUARANTINED: the node has other data than before, so our key there
                               may be a copy */
        uint64_t by_us;     /* SUSPENDED: for how long */
    };
};

/* The parts of the union belong to different machines. That keeps the struct small, because each
 * step clears it. */
struct rlk_actions {
    uint64_t deadline_us; /* send a TIMER at this time; RLK_NEVER: none */
    bool queue;           /* queue this machine, and send DEQUEUED when it may go on */
    bool report;          /* the machine has decided: report it to the user */
    bool report_extended; /* hold: the user's extension has ended: report that */
    bool fresh;           /* attempt: a round begins: make a new claim, with a fresh token [S4] */
    bool rest;            /* attempt: others of its manager go first [W2] */
    bool wait_yields;     /* attempt, of `wait`: list us even if the keys are free */
    uint64_t release;     /* attempt, release: release the claim on these nodes */
    union {
        struct {              /* attempt: */
            uint64_t acquire; /* ask these nodes for the key; their leases count from now_us */
            uint64_t confirm; /* ask these nodes to raise their counter to `fence` [S12] */
            uint64_t fence;
            uint64_t wait;  /* enter the wait queues of these nodes, or check our position there */
            uint64_t track; /* of `wait`: have these report when a key changes, too */
        };
        struct {             /* hold: */
            uint64_t extend; /* ask these nodes to keep the key for ttl_ms from now_us */
            uint64_t
                restore;     /* ask these nodes, which may not have the key, to set it for ttl_ms */
            uint32_t ttl_ms; /* of extend or restore; a step never asks for both */
        };
        uint64_t look; /* observer: ask these nodes who holds the key */
    };
};

#endif
