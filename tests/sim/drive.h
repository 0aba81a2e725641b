/* drive.h - the core's machines, carried out: a reply is classified into a vote or an answer,
 * the machine is stepped with it, and what the step asks for is done. As src/lock/acquire.c,
 * src/lock/release.c (drive.c) and src/lock/hold.c (drive_hold.c), with the same object code of
 * src/core. */
#ifndef RLK_TESTS_SIM_DRIVE_H
#define RLK_TESTS_SIM_DRIVE_H

#include "core/reply.h"
#include "sim/world.h"

struct drive_request {
    unsigned keys; /* as bits */
    uint32_t ttl_ms;
    uint64_t wait_us, retry_min_us, retry_max_us;
    uint32_t max_retries;
    bool renew, gated, fenced;
    uint64_t max_hold_us;
    uint32_t max_renewals;
};

/* Each is told to the user once: user_acquired(), user_released(), user_extended(). */
void drive_acquire(struct world *w, unsigned client, unsigned worker,
                   const struct drive_request *q);
void drive_cancel(struct world *w, unsigned client, unsigned worker);
void drive_release(struct world *w, unsigned client, unsigned worker);
/* False when an extension is under way, or the lock is lost. */
bool drive_extend(struct world *w, unsigned client, unsigned worker, uint32_t ttl_ms);
void drive_pet(struct world *w, unsigned client, unsigned worker);

/* redlock_lock_validity_ms() > 0: the lock may be relied on. */
bool drive_holds(const struct world *w, unsigned client, unsigned worker);
uint64_t drive_valid_until_us(const struct worker *k);

/* What the peers tell. */
void drive_answered(struct world *w, unsigned client, unsigned node, const struct message *m);
void drive_broken(struct world *w, unsigned client, unsigned node, const struct message *m);
void drive_node_up(struct world *w, unsigned client, unsigned node);
void drive_node_down(struct world *w, unsigned client, unsigned node);
/* A clock: RLK_EVENT_MISTIMED or RLK_EVENT_STOOD. */
void drive_clock(struct world *w, unsigned client, const struct rlk_event *ev);

/* Send it, or owe it. */
void drive_send_release(struct world *w, unsigned client, unsigned node, unsigned claim, bool text);

void drive_on_timer(struct world *w, unsigned client, unsigned worker, unsigned stamp);
/* Its clock runs at another rate: the timers come at other times. */
void drive_rate_changed(struct world *w, unsigned client);
void drive_on_deliver(struct world *w, unsigned client, unsigned worker, unsigned stamp);
void drive_on_notice(struct world *w, unsigned client, unsigned worker, unsigned stamp);
void drive_on_extended(struct world *w, unsigned client, unsigned worker, unsigned stamp);

/* ---- between drive.c, drive_fence.c and drive_hold.c ---- */

/* Of an attempt: step it; a vote has come. */
void drive_step(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev);
void drive_voted(struct world *w, unsigned client, unsigned node, const struct message *m,
                 enum rlk_vote vote, uint64_t fence);
/* A script that the server does not know goes out again with its text; else false. */
bool drive_asked_again(struct world *w, unsigned client, unsigned node, const struct message *m,
                       const struct rlk_reply *reply);

/* [S12] What a fresh claim is to get; a vote for it; who is to confirm; what they said. */
uint64_t drive_hint(const struct world *w, unsigned client, const struct worker *k);
struct message drive_vote_message(const struct world *w, unsigned node, unsigned claim,
                                  uint64_t now_us);
void drive_answered_vote(struct world *w, unsigned client, unsigned node, const struct message *m,
                         const struct rlk_reply *reply);
void drive_ask_to_confirm(struct world *w, unsigned client, unsigned worker,
                          const struct rlk_actions *out, uint64_t now_us);
void drive_confirmed(struct world *w, unsigned client, unsigned node, const struct message *m,
                     enum rlk_answer answer);

/* The process may stand still in the middle of a step. */
void drive_stall(struct world *w, unsigned client);
/* The node has run the script over its connection: it can be asked by its hash. */
bool drive_knows(const struct world *w, unsigned client, unsigned node, enum message_kind script);
/* The worker's one timer. */
void drive_set_timer(struct world *w, unsigned client, unsigned worker, uint64_t at_us);
/* The worker that has the claim now; NULL when none has. */
struct worker *drive_owner(struct world *w, unsigned claim);

/* A lock that has just been handed out; a timer; the user lets go. */
void drive_hold_begin(struct world *w, unsigned client, unsigned worker);
void drive_hold_timer(struct world *w, unsigned client, unsigned worker);
void drive_hold_end(struct world *w, unsigned client, unsigned worker);

/* A late vote of the first round, or one of a heal; the answer to an extension; or none. */
void drive_hold_broken(struct world *w, unsigned client, unsigned node, const struct message *m);
void drive_hold_voted(struct world *w, unsigned client, unsigned node, const struct message *m,
                      enum rlk_vote vote);
void drive_hold_clock(struct world *w, unsigned client, unsigned worker,
                      const struct rlk_event *ev);
uint32_t drive_hold_ttl_again(struct world *w, unsigned client, unsigned node,
                              const struct message *m);
/* [S7] What it confirms of a lock that is held does not count. */
bool drive_is_mistimed(const struct world *w, unsigned client, unsigned node);
void drive_hold_answered(struct world *w, unsigned client, unsigned node, const struct message *m,
                         enum rlk_answer answer);

#endif
