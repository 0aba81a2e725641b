/* event.h - what the core's machines are told, and what they answer.
 *
 * Every machine is a function `step(machine, event, actions)`. The event carries its time,
 * and what belongs to its kind; the actions are sets of nodes, one deadline, and at most one thing
 * to tell the user. A step cannot fail, allocate, call out or be re-entered. An event that no
 * longer matters (a late vote, a doubled timer) is ignored by the machine, and so is a kind that is
 * not in its table: a driver needs no care to silence anything.
 *
 * The driver's part of the bargain: event.now_us was read from the clock before the step;
 * what the actions ask for is carried out at once, releases before acquires.
 */
#ifndef RLK_CORE_EVENT_H
#define RLK_CORE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum rlk_vote {
    RLK_VOTE_UNKNOWN = 0, /* an error, a timeout, a broken connection: never a no */
    RLK_VOTE_YES,
    RLK_VOTE_NO,   /* proven: the key had another value */
    RLK_VOTE_OURS, /* our own token was there before: one server under two addresses [S10], unless
                      an answer of this node was lost */
    RLK_VOTE_QUARANTINED /* a yes that does not count: the server may have forgotten another [S11]
                          */
};

/* What a node said to a release, or to an extension. */
enum rlk_answer {
    RLK_ANSWER_UNKNOWN = 0,
    RLK_ANSWER_OURS, /* our key was there */
    RLK_ANSWER_GONE, /* no key was there */
    RLK_ANSWER_TAKEN /* somebody else's key is there */
};

enum rlk_event_kind {
    RLK_EVENT_START = 0,
    RLK_EVENT_NODE_UP,   /* a node that was connecting is connected now */
    RLK_EVENT_NODE_DOWN, /* a node that was connecting could not be connected */
    RLK_EVENT_VOTE,
    RLK_EVENT_ANSWER,
    RLK_EVENT_CONFIRM, /* a node has raised its counter to the fence, or has not [S12] */
    RLK_EVENT_TIMER,   /* some deadline may have come */
    RLK_EVENT_CANCEL,
    RLK_EVENT_EXTEND,        /* the user wants the lock to live for so long from now on */
    RLK_EVENT_PET,           /* the application is alive */
    RLK_EVENT_DEQUEUED,      /* it is the turn of whoever asked to stand in line [S13] */
    RLK_EVENT_QUARANTINED,   /* a node may have forgotten a vote: its own no longer counts [S11] */
    RLK_EVENT_CLOCK_SUSPECT, /* a node's clock went forward: its lease may have ended [S11] */
    RLK_EVENT_SUSPENDED, /* our own clock stood still for by_us: so every lease ends sooner [S11] */
    RLK_EVENT_DELIVER    /* the user is about to be told: the last moment to decide */
};

#define RLK_EVENT_KINDS (RLK_EVENT_DELIVER + 1)

/* What stands in the union is there for the kinds that are named, and for no others. */
struct rlk_event {
    enum rlk_event_kind kind;
    unsigned node;   /* NODE_UP, NODE_DOWN, VOTE, ANSWER, CONFIRM, QUARANTINED, CLOCK_SUSPECT */
    uint64_t now_us; /* all */
    union {
        struct {                 /* START, TIMER, EXTEND, DEQUEUED: something may begin */
            uint64_t ready;      /* nodes that can be asked at once */
            uint64_t backlogged; /* others that can be asked, and have no room: to be asked only by
                              who has no majority without them [S7, S13]; not for START */
            uint64_t connecting; /* nodes being connected; may become ready; not for EXTEND */
            uint64_t ttl_us;     /* EXTEND: whole milliseconds */
            bool full; /* they have no room: what would begin stands in line [S13]; not for
                          DEQUEUED */
        };
        struct {                    /* VOTE, ANSWER, CONFIRM: a node has answered, or never will */
            enum rlk_vote vote;     /* VOTE */
            enum rlk_answer answer; /* ANSWER; CONFIRM: _OURS when it did */
            uint32_t round;         /* VOTE, CONFIRM: which round it answers */
            bool clock_suspect;     /* by a clock that cannot be relied on [S11] */
            uint64_t fence;         /* VOTE: the counter that came with a yes [S12]; 0: none */
        };
        bool data_replaced; /* QUARANTINED: its data are not those that it had: a key may be a copy
                             */
        uint64_t by_us;     /* SUSPENDED */
    };
};

struct rlk_actions {
    bool fresh;       /* a round begins: make a new claim, with a fresh token [S4] */
    uint64_t acquire; /* ask these nodes for the key; their lease counts from now_us */
    uint64_t extend;  /* ask these nodes to keep it for ttl_ms from now_us */
    uint64_t heal;    /* ask these nodes, which may have none, for the key for ttl_ms */
    uint32_t ttl_ms;  /* of extend or heal: never both */
    uint64_t confirm; /* ask these nodes to raise their counter to `fence` [S12] */
    uint64_t fence;
    uint64_t release;     /* release the claim on these nodes */
    uint64_t deadline_us; /* send a TIMER at this time; RLK_NEVER for none */
    bool queue;           /* send a DEQUEUED when the nodes have room and it is this one's turn */
    bool report;          /* it is decided: tell the user */
    bool report_extended; /* the extension that he asked for has ended */
};

#endif
