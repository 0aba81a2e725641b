/* question.h - the questions that a lock may ask the masters, as a table.
 *
 * A row is a conversation (node/talk.h), of one line, whose context is a claim. It also says how
 * the reply is classified, and which event the driver of the lock gets. ask.c sends the line and
 * handles the reply, for all rows alike: what is different about a question is said in its row. */
#ifndef RLK_LOCK_QUESTION_H
#define RLK_LOCK_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/lock.h>
#include <redlock/trace.h>

#include "core/event.h"
#include "core/pending.h"
#include "core/reply.h"
#include "lock/lock.h"
#include "node/claim.h"
#include "node/node.h"
#include "node/talk.h"

enum rlk_ask {
    RLK_ASK_SET = 0,      /* set our key, if there is no key */
    RLK_ASK_SET_ALL,      /* set several keys, all or none of them */
    RLK_ASK_FENCED,       /* set one or several keys, and raise their counters [S12] */
    RLK_ASK_ADOPT,        /* extend keys that another client acquired */
    RLK_ASK_ADOPT_FENCED, /* the same, and raise their counters [S12] */
    RLK_ASK_CONFIRM,      /* raise the counters to the fencing token [S12] */
    RLK_ASK_KEEP,         /* extend our keys [S7] */
    RLK_ASK_RESTORE,      /* set our keys again [S8] */
    RLK_ASK_RELEASE,      /* delete our keys [S5] */
    RLK_ASK_HAND_OVER,    /* reserve our keys for somebody [H1] */
    RLK_ASK_WAIT,         /* list us in the wait queue, or wake us */
    RLK_ASK_LEAVE,        /* take us out of those queues */

    /* Parts of a release (native.c). */
    RLK_ASK_DELETE,  /* delete our key by the server's own command */
    RLK_ASK_REMAINS, /* it was not ours: is there another one? */
    RLK_ASK_LISTED,  /* are there waiters for it? */
    RLK_ASKS
};

/* The phases of a lock, as bits. */
enum rlk_while {
    RLK_WHILE_PENDING = 1u << RLK_LOCK_PENDING,
    RLK_WHILE_HELD = 1u << RLK_LOCK_HELD,
    RLK_WHILE_RELEASING = 1u << RLK_LOCK_RELEASING
};

struct rlk_question {
    struct rlk_talk talk;          /* the first member: a command in flight leads to its row */
    enum redlock_question public;  /* what it is called in a trace */
    enum rlk_leftover left;        /* [S5] what a node may have of ours when no reply comes */
    enum rlk_trouble_kind refused; /* noted for a node that replies with an error */
    enum rlk_event_kind event;     /* that the driver gets */
    /* Bits of enum rlk_while: where the driver takes the event. After NOSCRIPT the question is sent
     * again in these phases only. */
    unsigned phases;
    bool hint;          /* about the wait queues, which are hints: it may be dropped */
    bool outlives_lock; /* it is needed even when the lock is gone */

    /* What a reply says: only an answer; or else a function that fills in the vote, answer, fence
     * or position of an event whose kind, node, time and round are set already. Both NULL: the
     * line has a `take` of its own, and the reply becomes no event. */
    enum rlk_answer (*classify)(const struct rlk_reply *reply);
    enum redlock_said (*read)(struct rlk_node *n, const struct rlk_claim *claim,
                              const struct rlk_reply *reply, struct rlk_event *ev);
    /* Whether a yes does not count; NULL: it does. */
    bool (*is_quarantined)(const struct rlk_node *n, uint64_t now_us);
    /* Whether a node has capacity for the command. NULL: it has waited in the send queue, or
     * replaces a command whose reply just came. */
    bool (*has_capacity)(const struct rlk_node *n);
    /* Send it to a node. NULL: as the conversation of the row. False: as rlk_talk_begin(). */
    bool (*send)(struct rlk_draft *d, struct rlk_node *n, uint64_t now_us);
    /* The ttl for a script that is sent again; 0: do not send it. NULL: that of the claim. */
    uint32_t (*ttl_again_ms)(const struct rlk_node *n, const struct rlk_claim *claim,
                             uint64_t now_us);
    /* The node has refused it: whether it was sent in another way, whose reply counts. NULL: it
     * has no other way. */
    bool (*otherwise)(struct rlk_node *n, struct rlk_claim *claim, const struct rlk_reply *error,
                      uint64_t now_us);
};

extern const struct rlk_question rlk_questions[RLK_ASKS];

/* ---- functions of the rows, in ask.c ---- */

void rlk_ask_take(const struct rlk_heard *h);
void rlk_ask_broken(const struct rlk_heard *h);
bool rlk_ask_again(const struct rlk_heard *h);

/* ---- functions of the rows of a release, in native.c ---- */

/* RELEASE: sent by the command if that fits the node and the claim, else by the script. */
bool rlk_native_send(struct rlk_draft *d, struct rlk_node *n, uint64_t now_us);

/* Lines. The form of DELETE is the command that the server has. */
unsigned rlk_native_form(const struct rlk_node *n);
bool rlk_native_format_delete(struct rlk_command *c, const struct rlk_say *say);
bool rlk_native_format_remains(struct rlk_command *c, const struct rlk_say *say);
bool rlk_native_format_listed(struct rlk_command *c, const struct rlk_say *say);

/* Replies: to the script, and to two of the commands. */
void rlk_native_take_released(const struct rlk_heard *h);
void rlk_native_take_deleted(const struct rlk_heard *h);
void rlk_native_take_listed(const struct rlk_heard *h);

/* Refusals: whether the release was sent in the other way. _needs_script: our user may not use
 * EXISTS there, and without that the command tells too little. */
bool rlk_native_instead_of_script(struct rlk_node *n, struct rlk_claim *claim,
                                  const struct rlk_reply *error, uint64_t now_us);
bool rlk_native_instead_of_command(struct rlk_node *n, struct rlk_claim *claim,
                                   const struct rlk_reply *error, uint64_t now_us);
bool rlk_native_needs_script(struct rlk_node *n, struct rlk_claim *claim,
                             const struct rlk_reply *error, uint64_t now_us);

/* ---- */

/* What a reply says: by `classify` or `read` of its row. */
enum redlock_said rlk_question_read(const struct rlk_question *q, struct rlk_node *n,
                                    const struct rlk_claim *claim, const struct rlk_reply *reply,
                                    struct rlk_event *ev);

/* [S10] Whether a vote found our own token already there. The token is fresh for the round, so
 * another address of the same server was asked before. */
bool rlk_question_shows_duplicate(const struct rlk_question *q, const struct rlk_event *ev);

#endif
