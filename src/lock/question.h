/* question.h - the questions that a lock may ask the masters, as a table.
 *
 * A row says which command is sent, how its reply is classified, and which event the driver of the
 * lock gets. ask.c sends the command and handles the reply, for all rows alike. */
#ifndef RLK_LOCK_QUESTION_H
#define RLK_LOCK_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/lock.h>

#include "core/event.h"
#include "core/pending.h"
#include "core/reply.h"
#include "lock/lock.h"
#include "node/claim.h"
#include "node/node.h"
#include "scripts/scripts.h"

enum rlk_ask {
    RLK_ASK_SET = 0, /* set our key, if there is no key */
    RLK_ASK_SET_ALL, /* set several keys, all or none of them */
    RLK_ASK_FENCED,  /* set one or several keys, and raise their counters [S12] */
    RLK_ASK_ADOPT,   /* let keys live longer that another client acquired */
    RLK_ASK_CONFIRM, /* raise the counters to the fencing token [S12] */
    RLK_ASK_KEEP,    /* let our keys live longer [S7] */
    RLK_ASK_RESTORE, /* set our keys again [S8] */
    RLK_ASK_RELEASE, /* delete our keys [S5] */
    RLK_ASK_WAIT,    /* list us among those who wait for the keys, or say that it is our turn */
    RLK_ASK_LEAVE,   /* take us out of those lists */

    /* Parts of a release (lock/native.h). */
    RLK_ASK_DELETE,  /* delete our key by the server's own command */
    RLK_ASK_REMAINS, /* it was not ours: is there another one? */
    RLK_ASK_LISTED,  /* does somebody wait for it? */
    RLK_ASKS
};

/* The phases of a lock, as bits. */
enum rlk_while {
    RLK_WHILE_PENDING = 1u << RLK_LOCK_PENDING,
    RLK_WHILE_HELD = 1u << RLK_LOCK_HELD,
    RLK_WHILE_RELEASING = 1u << RLK_LOCK_RELEASING
};

struct rlk_question {
    struct rlk_exchange_kind kind;   /* the first member: a command in flight leads to its row */
    const struct rlk_script *script; /* NULL: SET, or a part of a release */
    enum rlk_leftover left;          /* [S5] what a node may have of ours when no reply comes */
    enum rlk_trouble_kind refused;   /* noted for a node that replies with an error */

    /* Classify a reply: fills in the vote, answer, fence or place of an event that has its kind,
     * node, time and round already. NULL: the reply becomes no event. */
    enum redlock_said (*read)(struct rlk_node *n, const struct rlk_claim *claim,
                              const struct rlk_reply *reply, struct rlk_event *ev);
    bool (*is_quarantined)(const struct rlk_node *n,
                           uint64_t now_us); /* whether a yes does not count; NULL: it does */
    /* Whether a node has capacity for the command. NULL: it had its turn in the queue, or takes the
     * place of a command that was just answered. */
    bool (*has_capacity)(const struct rlk_node *n);
    enum rlk_event_kind event; /* that the driver gets */
    unsigned phases;           /* bits of enum rlk_while: where the driver wants the event */
};

extern const struct rlk_question rlk_questions[RLK_ASKS];

/* The functions of the kinds, in ask.c. _released: of the script. _deleted: of the server's own
 * command. */
void rlk_ask_on_answer(struct rlk_node *n, const struct rlk_exchange *r,
                       const struct rlk_reply *reply, uint64_t now_us);
void rlk_ask_on_released(struct rlk_node *n, const struct rlk_exchange *r,
                         const struct rlk_reply *reply, uint64_t now_us);
void rlk_ask_on_deleted(struct rlk_node *n, const struct rlk_exchange *r,
                        const struct rlk_reply *reply, uint64_t now_us);
void rlk_ask_on_listed(struct rlk_node *n, const struct rlk_exchange *r,
                       const struct rlk_reply *reply, uint64_t now_us);
void rlk_ask_on_broken(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us);
void rlk_ask_ref(void *claim);
void rlk_ask_unref(void *claim);

/* [S10] Whether a vote found our own token already there. The token is fresh for the round, so
 * another address of the same server was asked before. */
bool rlk_question_shows_duplicate(const struct rlk_question *q, const struct rlk_event *ev);

#endif
