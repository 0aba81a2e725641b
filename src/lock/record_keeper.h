/* record_keeper.h - keeps the record of the masters: compares what they show, decides with
 * core/membership.h whose votes count, and writes the record where that is needed [S15].
 *
 *             something is to be written       enough have promised
 *     IDLE ------- a random pause ----> PROMISING ----------> ACCEPTING
 *      ^                                    |                     |
 *      +------------------------------------+---------------------+
 *          too few; all replies are in, or their time is over
 *
 * Where the record has another server in the place of one of our masters, we connect to that one;
 * where it has one more, we add a node; and where a master was removed, we leave it.
 *
 * Writing is Paxos, with this manager as a proposer: two that write at the same time overrule each
 * other, and try again after a longer pause. */
#ifndef RLK_LOCK_RECORD_KEEPER_H
#define RLK_LOCK_RECORD_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "core/membership.h"
#include "lock/record_list.h"
#include "net/timers.h"
#include "net/turn.h"

struct rlk_event;
struct rlk_loop;
struct rlk_node;
struct rlk_options;
struct rlk_prng;
struct rlk_reply;

enum rlk_keeper_phase {
    RLK_KEEPER_IDLE = 0,
    RLK_KEEPER_PROMISING,
    RLK_KEEPER_ACCEPTING
};

struct rlk_record_keeper;

/* What it tells its manager. */
struct rlk_keeper_hooks {
    /* The votes of a master can count now: RLK_EVENT_NODE_UP once more. */
    void (*node_up)(struct rlk_record_keeper *k, const struct rlk_event *ev);
    /* Another server takes the place of a master, whose connection has ended. */
    void (*moved)(struct rlk_record_keeper *k, unsigned node);
    /* Whether there is memory for as many nodes as the options have room for. */
    bool (*fits)(struct rlk_record_keeper *k);
    /* There is one node more, the last one of the options: set it up. */
    void (*added)(struct rlk_record_keeper *k);
    /* The master of a node was removed, and its connection has ended. */
    void (*left)(struct rlk_record_keeper *k, unsigned node, uint64_t now_us);
    /* Others decide by their majority from now on. */
    void (*voters)(struct rlk_record_keeper *k, uint64_t now_us);
};

struct rlk_record_keeper {
    struct rlk_node *nodes; /* NULL: the manager keeps no record */
    struct rlk_loop *loop;
    struct rlk_options *options;
    struct rlk_prng *prng;
    const struct rlk_keeper_hooks *hooks;
    struct rlk_membership membership;
    struct rlk_membership_verdict verdict;
    struct rlk_record_list records;
    char error[512], address[320];       /* for redlock_get_record() and _master() */
    char *addresses;                     /* of the masters, one after the other */
    uint64_t denied;                     /* masters that do not show us their record */
    uint64_t unkept;                     /* those whose record could not be kept: out of memory */
    uint64_t released;                   /* those that were pending, and may be asked now */
    struct rlk_call release;             /* tells the operations */
    struct rlk_call move;                /* another server takes the place of a master */
    const struct rlk_record *moved_by;   /* the record that says so */
    const struct rlk_record *looked_for; /* a later one, for which all were inspected at once */
    uint64_t failed_moves;               /* our masters for which that failed */
    char add_error[160];                 /* why a master on record could not be added; "" */
    uint64_t retry_us;                   /* when to try that again; RLK_NEVER: not */
    struct rlk_timer again;              /* when the clock alone changes who votes */
    void (*judged)(struct rlk_record_keeper *k, uint64_t now_us); /* NULL: nobody wants to know */
    void *judged_arg;
    struct rlk_timer patience; /* until then a master that is being connected may show a record */
    bool impatient;            /* that is over */
    bool may_begin; /* a lock was asked for: write the first record, if no master has one */
    bool retired;   /* write nothing again */
    enum rlk_keeper_phase phase;
    struct rlk_ballot ballot; /* of this writing */
    uint64_t asked, promised;
    const char *text;       /* what is being sent: the record, or "" */
    bool planned;           /* IDLE: the timer is set */
    unsigned failures;      /* in a row */
    struct rlk_timer timer; /* IDLE: when to write; else: when to wait no longer */
};

/* What a keeper works on. */
struct rlk_keeper_of {
    struct rlk_loop *loop;
    struct rlk_options *options;
    struct rlk_node *nodes;
    struct rlk_prng *prng;
    const struct rlk_keeper_hooks *hooks;
};

/* 0 or REDLOCK_ENOMEM. */
int rlk_keeper_init(struct rlk_record_keeper *k, const struct rlk_keeper_of *of);

/* After the nodes have ended. */
void rlk_keeper_end(struct rlk_record_keeper *k);

/* A master showed its record, and its time. */
void rlk_keeper_take_shown(struct rlk_record_keeper *k, struct rlk_node *n,
                           const struct rlk_reply *record, uint64_t server_us, uint64_t now_us);

/* [S11] This process was suspended, and its clock did not count that. */
void rlk_keeper_suspended(struct rlk_record_keeper *k, uint64_t now_us);

/* A master was connected, or is not. */
void rlk_keeper_check(struct rlk_record_keeper *k, uint64_t now_us);

/* [M7, M8] One of ours is to become a master, or is to be one no more, or both: -1: none. judged:
 * called after each judgement. */
void rlk_keeper_move(struct rlk_record_keeper *k, int joins, int leaves,
                     void (*judged)(struct rlk_record_keeper *k, uint64_t now_us));

/* [M4] A lock is asked for: from now on this manager writes the first record where no master has
 * one. A client that only looks does not: its max_ttl_ms may be anything. */
void rlk_keeper_begin(struct rlk_record_keeper *k, uint64_t now_us);

/* [S15] The masters whose votes cannot count yet, but may soon. A request that waits for
 * connections waits for these, too: RLK_EVENT_NODE_UP comes once more. */
static inline uint64_t rlk_keeper_pending(const struct rlk_record_keeper *k)
{
    return k->verdict.pending;
}

/* The record is about to be deleted: write it nowhere again. What is known of it stays. */
void rlk_keeper_retire(struct rlk_record_keeper *k);

/* What differs, or why we are not connected to a master on record, as a sentence; "": nothing is
 * wrong. Valid until the next call. */
const char *rlk_keeper_explain(struct rlk_record_keeper *k);

/* The manager closes: write nothing more. */
void rlk_keeper_stop(struct rlk_record_keeper *k);

/* [S15] Our masters are not those on record. */
static inline bool rlk_keeper_has_misfit(const struct rlk_record_keeper *k)
{
    return k->verdict.misfit != RLK_MISFIT_NOT;
}

#endif
