/* question.h - what a lock may ask of the masters, a row for each question.
 *
 * A row says what is asked, how the answer is read, and what it is to whoever drives the lock. What
 * is sent, and what becomes of an answer, is ask.c. */
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
    RLK_ASK_SET = 0, /* set our key, where there is none */
    RLK_ASK_SET_ALL, /* the same of several keys, or none of them */
    RLK_ASK_FENCED,  /* the same of one or several, and count the acquisitions [S12] */
    RLK_ASK_ADOPT,   /* keep our keys: somebody else acquired them */
    RLK_ASK_CONFIRM, /* let the counters be the fence [S12] */
    RLK_ASK_KEEP,    /* keep our keys [S7] */
    RLK_ASK_HEAL,    /* set our keys again [S8] */
    RLK_ASK_RELEASE, /* delete our keys [S5] */
    RLK_ASKS
};

/* While its lock is in which phases somebody cares for an answer. */
enum rlk_while {
    RLK_WHILE_PENDING = 1u << RLK_LOCK_PENDING,
    RLK_WHILE_HELD = 1u << RLK_LOCK_HELD,
    RLK_WHILE_RELEASING = 1u << RLK_LOCK_RELEASING
};

struct rlk_question {
    const struct rlk_script *script; /* NULL: SET */
    enum rlk_leftover left;          /* [S5] */
    enum rlk_trouble_kind refused;   /* of a node that answers with an error */

    /* How a reply is classified: by one of these, or by both of the last two. */
    void (*read)(struct rlk_node *n, const struct rlk_claim *claim, const struct rlk_reply *reply,
                 struct rlk_event *ev);
    enum rlk_vote (*vote)(const struct rlk_reply *reply);
    enum rlk_answer (*answer)(const struct rlk_reply *reply);

    bool (*is_quarantined)(const struct rlk_node *n, uint64_t now_us); /* its yes; NULL: never */
    enum rlk_event_kind event;
    unsigned heard; /* of enum rlk_while: when the lock cares */
};

extern const struct rlk_question rlk_questions[RLK_ASKS];

/* Read a reply into an event that is all zero but for when, where and of which round. */
enum redlock_said rlk_question_read(const struct rlk_question *q, struct rlk_node *n,
                                    const struct rlk_claim *claim, const struct rlk_reply *reply,
                                    struct rlk_event *ev);

/* [S10] Our key cannot have been there before the round that it is made for. */
bool rlk_question_shows_duplicate(const struct rlk_question *q, const struct rlk_event *ev);

#endif
