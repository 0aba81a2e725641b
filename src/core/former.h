/* former.h - connections to one server process that ended with requests unanswered.
 *
 * What was sent over one may still be on its way, or lie in the socket of a server that stands
 * still. So that it is not carried out behind the pending_releases that are paid over the next
 * connection, the server is told to end the former ones first [S5]. One is kept until the server
 * has answered that; the connection that carried the word may have broken, too. */
#ifndef RLK_CORE_FORMER_H
#define RLK_CORE_FORMER_H

#include <stddef.h>
#include <stdint.h>

/* The most that are kept; the oldest goes first. */
#define RLK_FORMER_MAX 16

struct rlk_former {
    char run_id[48];             /* of the process that they were to */
    int64_t ids[RLK_FORMER_MAX]; /* CLIENT ID */
    unsigned count;
};

/* One has ended, with so many questions unanswered. Nothing is kept of one that has answered all,
 * nor of a process that does not say who it is. */
void rlk_former_ended(struct rlk_former *f, const char *run_id, int64_t id, size_t unanswered);

/* This process answers now: the connections of another one have ended with it. */
void rlk_former_note_run(struct rlk_former *f, const char *run_id);

/* The server has heard of the first. */
void rlk_former_drop(struct rlk_former *f);

#endif
