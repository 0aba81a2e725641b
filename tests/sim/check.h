/* check.h - what must hold in every history, watched in true time.
 *
 *     check_exclusion.c  no two clients inside their validity at one instant
 *     check_hold.c       what a holder believes, asks for and is told follows from what it heard
 *     check_strangers.c  who meets a master after a step of its clock does not count its votes
 *     check_doubt.c      what is known of a master reaches whoever relies on it
 *     check_fence.c      fences grow, are agreed on by a majority, and cost one round trip
 *     check_reported.c       every start is answered exactly once, in time, and truthfully
 *     check_left.c       nothing is left behind: no key of a claim that was let go, no
 * pending_release check_live.c       when the faults have ended, everybody has his lock within a
 * bound check_work.c       not more messages than documented, and time goes on
 *
 * The first violation ends a history. */
#ifndef RLK_TESTS_SIM_CHECK_H
#define RLK_TESTS_SIM_CHECK_H

#include "sim/world.h"

/* "exclusion", "fence", "told", "left", "live" or "work", and what happened. Only the first counts.
 */
__attribute__((format(printf, 3, 4))) void check_violated(struct world *w, const char *checker,
                                                          const char *format, ...);

/* A worker has the lock, or has it for longer than before; it has won, and believes in the lock
 * until some time; it goes on asking. */
void check_exclusion(struct world *w, unsigned client, unsigned worker);
void check_validity(struct world *w, unsigned client, unsigned worker);
void check_decided(struct world *w, unsigned client, unsigned worker);

/* What a machine is told must come from an answer of that node to a question about that claim.
 */
void check_comes_from(struct world *w, unsigned claim, unsigned node, bool told,
                      const struct message *m);

/* A vote was heard, with a counter; then the attempt was stepped. */
void check_voted(struct world *w, unsigned node, unsigned claim, const struct message *m,
                 enum rlk_vote vote, uint64_t fence);
void check_stepped(struct world *w, unsigned client, unsigned worker);

/* A master's clock is found to be ahead; a worker is about to hear of a clock [S11]. */
void check_ahead(struct world *w, unsigned client, unsigned node);
void check_timed(struct world *w, unsigned client, unsigned node, const struct message *m,
                 enum rlk_clock_verdict verdict);
void check_clock(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev);

/* [S11] A node is looked at; has told the time, or what data it has; its client stood still, and
 * has run since; a vote is asked for, with a look at the data or without; a lock is handed out. */
void check_role_asked(struct world *w, unsigned client, unsigned node);
void check_compared(struct world *w, unsigned client, unsigned node);
void check_heard_of_suspension(struct world *w, unsigned client, unsigned worker);
void check_heard_of_exchange(struct world *w, unsigned client, unsigned worker);
void check_vote_looks(struct world *w, unsigned client, unsigned node, const struct message *m);
void check_voters(struct world *w, unsigned client, unsigned worker);

/* [S11] A holder believes no longer than what it has seen of the masters' clocks allows. */
void check_steps(struct world *w, unsigned client, unsigned worker);
void check_steps_hidden(struct world *w, unsigned server);

/* [S11] A server's clock is set forward; a client dies, or loses a connection; it counts a vote. */
void check_clock_set(struct world *w, unsigned server, uint64_t by_us);
void check_clock_set_back(struct world *w, unsigned server);
void check_record_lost(struct world *w, unsigned server);
void check_looks_away(struct world *w, unsigned client);
void check_stranger_counts(struct world *w, unsigned client, unsigned node);

/* [S12] A claim is asked for first; a node is asked to confirm its fence, and does or does not. It
 * is decided: by these nodes, or there is hope in so many. A lock is handed out. */
void check_fence_asked(struct world *w, unsigned claim);
void check_fence_voted(struct world *w, unsigned claim, unsigned node, uint64_t counter);
void check_confirm_sent(struct world *w, unsigned claim, unsigned node, uint64_t fence);
void check_confirmed(struct world *w, unsigned claim, unsigned node, bool agrees);
uint64_t check_fence_agreed(const struct world *w, unsigned claim);
uint64_t check_counted(const struct world *w, unsigned claim);
uint64_t check_fence_hoped(const struct world *w, unsigned claim);
void check_fence_told(struct world *w, unsigned client, unsigned worker);

/* A call was accepted and must be told within a time of the client's clock; was cancelled; is
 * told now; nobody is left to be told. */
void check_started(struct world *w, unsigned client, unsigned worker, uint64_t limit_us);
void check_cancelled(struct world *w, unsigned client, unsigned worker);
void check_reported(struct world *w, unsigned client, unsigned worker, int status);
void check_closing(struct world *w, unsigned client);
void check_closed(struct world *w, unsigned client);
void check_forgotten(struct world *w, unsigned client, unsigned worker);

/* Of claims: nobody wants it any more; its process died; its request may be carried out
 * behind its release; a pending_release of it is not paid, because its ttl has passed. */
void check_let_go(struct world *w, unsigned claim);
void check_died(struct world *w, unsigned client);
void check_may_outlive(struct world *w, unsigned claim);
void check_set_back(struct world *w, unsigned server); /* its clock */
void check_resurrected(struct world *w, unsigned server);
void check_copied(struct world *w, unsigned claim); /* to a replica, which nobody has asked */
void check_expired(struct world *w, unsigned claim, unsigned node);

/* A node has answered a release with an error: nothing was done. */
void check_refused(struct world *w, unsigned claim, unsigned node);

/* A server has set a key of a claim. */
void check_granted(struct world *w, unsigned claim, unsigned server, enum message_kind by);

void check_set_sent(struct world *w, unsigned claim, unsigned node);
void check_set_again(struct world *w, unsigned claim, unsigned node);
void check_release_sent(struct world *w, unsigned claim, unsigned node);
void check_owed(struct world *w, unsigned claim, unsigned node);

/* Of a lock that is held: from now on; a node was asked; is healed once more, for so long, because
 * it had forgotten the script; it answered; then the hold was stepped, and had been valid until
 * some time; the user lets go. */
void check_held(struct world *w, unsigned client, unsigned worker);
void check_held_asked(struct world *w, unsigned client, unsigned worker, unsigned node,
                      const struct message *m);
void check_healed_again(struct world *w, unsigned node, const struct message *m);
void check_kept_again(struct world *w, unsigned node, const struct message *m);
void check_held_voted(struct world *w, unsigned client, unsigned worker, unsigned node,
                      enum rlk_vote vote, bool clock_suspect);
void check_held_answered(struct world *w, unsigned client, unsigned worker, unsigned node,
                         enum rlk_answer answer, uint64_t since_us, bool clock_suspect);
void check_held_stepped(struct world *w, unsigned client, unsigned worker, uint64_t until_us,
                        const struct rlk_actions *out);
void check_held_clock(struct world *w, unsigned client, unsigned worker,
                      const struct rlk_event *ev);
void check_held_ends(struct world *w, unsigned client, unsigned worker);

/* The user wants an extension; is told how it ended; that there is trouble; that the lock is
 * lost. */
void check_extending(struct world *w, unsigned client, unsigned worker, uint32_t ttl_ms);
void check_extended(struct world *w, unsigned client, unsigned worker);
void check_trouble_told(struct world *w, unsigned client, unsigned worker);
void check_lost_told(struct world *w, unsigned client, unsigned worker);

/* A connection breaks, and this has not been answered; and the driver knows of it. */
void check_unanswered(struct world *w, unsigned client, unsigned node, const struct message *m);
void check_heard(struct world *w, unsigned client, unsigned node, const struct message *m);

/* A request goes to a node. */
void check_pending_releases_first(struct world *w, unsigned claim, unsigned node);
void check_not_stuck(struct world *w, unsigned claim, unsigned node);

/* An event has come. */
void check_work(struct world *w);

/* The history has ended. */
void check_reported_at_end(struct world *w);
void check_left_at_end(struct world *w);
void check_live_at_end(struct world *w);

/* How long after the faults everybody must have had his lock. */
uint64_t check_live_bound_us(const struct world *w);

/* How long a release may take when nothing is broken. */
#define CHECK_SETTLE_US 5000000

#endif
