/* question.h - what a lock asks of the masters, and what becomes of the answers.
 *
 * Each question is a row of the table in question.c. An answer goes one way, whatever was asked:
 *
 *     conn -> node (whose request is it?) -> the row: read it, note who said what, complain
 *          -> an event for whoever drives the lock now (attempt.c, hold.c, release.c) -> its step
 *
 * A master that breaks the connection, or cannot be asked, gives the same event: unknown. */
#ifndef RLK_LOCK_QUESTION_H
#define RLK_LOCK_QUESTION_H

#include <stdint.h>

struct redlock_lock;

enum rlk_question {
    RLK_ASK_SET = 0, /* set our key, where there is none */
    RLK_ASK_SET_ALL, /* the same of several keys, or none of them */
    RLK_ASK_FENCED,  /* the same of one or several, and count the acquisitions [S12] */
    RLK_ASK_ADOPT,   /* keep our keys: somebody else acquired them */
    RLK_ASK_CONFIRM, /* let the counters be the fence [S12] */
    RLK_ASK_KEEP,    /* keep our keys [S7] */
    RLK_ASK_HEAL,    /* set our keys again [S8] */
    RLK_ASK_RELEASE  /* delete our keys [S5] */
};

/* Ask these nodes, for the lock's present claim; the keys are to live for ttl_ms. A node that
 * cannot be asked is owed the release; of everything else its answer is unknown, told when all
 * others have been asked: so the lock may be stepped before this returns. */
void rlk_question_ask(struct redlock_lock *lock, enum rlk_question question, uint64_t nodes,
                      uint32_t ttl_ms, uint64_t now_us);

#endif
