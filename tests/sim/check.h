/* check.h - what must hold in every history, checked in true time.
 *
 *     check_exclusion.c  no two clients inside their validity at one instant
 *     check_hold.c       what a holder believes, asks for and reports follows from the answers
 *     check_strangers.c  a client that meets a master after its clock step does not count its votes
 *     check_doubt.c      what is known about a master reaches everything that relies on it
 *     check_fence.c      fences grow, are agreed on by a majority, and cost one round trip
 *     check_reported.c   every call gets exactly one result, in time, and a true one
 *     check_left.c       nothing is left behind: no key of a claim let go, no pending release
 *     check_live.c       when the faults have ended, every user gets a lock within a bound
 *     check_work.c       no more messages than documented, and time goes on
 *     check_wait.c       who waits is served, in turn, and for few messages
 *     check_election.c   one leader at a time, who hears of the beginning and the end of each lead
 *     check_bid.c        who has the highest priority leads
 *     check_leader.c     what is told about who leads is true, and right in the end
 *     check_heir.c       of a process that died: its work, its keys, who waits for them
 *     check_split.c      only the leader of a split vote keeps its votes, and not for ever
 *     check_masters.c    who has other masters than those on record holds nothing
 *
 * The first violation ends a history. */
#ifndef RLK_TESTS_SIM_CHECK_H
#define RLK_TESTS_SIM_CHECK_H

#include "sim/world.h"

/* "exclusion", "election", "fence", "reported", "left", "live", "wait" or "work", and what
 * happened. Only the first violation counts. */
__attribute__((format(printf, 3, 4))) void check_violated(struct world *w, const char *checker,
                                                          const char *format, ...);

/* A worker has acquired the lock, or extended its validity; has won, and believes in the lock
 * until some time; goes on asking. */
void check_exclusion(struct world *w, unsigned client, unsigned worker);

/* A lock is about to be left to its time; its claim is about to be adopted by another worker, whose
 * call has begun; a node is asked for an adoption, for the first time or again. */
void check_left_to_its_time(struct world *w, unsigned client, unsigned worker);
void check_adopts(struct world *w, unsigned client, unsigned worker, unsigned claim);
void check_adoption_sent(struct world *w, unsigned claim, unsigned node);
void check_adoption_again(struct world *w, unsigned claim, unsigned node);
void check_validity(struct world *w, unsigned client, unsigned worker);
void check_decided(struct world *w, unsigned client, unsigned worker);

/* What a state machine gets as an answer must come from an answer of that node about that claim. */
void check_comes_from(struct world *w, unsigned claim, unsigned node, bool answered,
                      const struct message *m);

/* A vote has come, with a counter; then the attempt was stepped. */
void check_voted(struct world *w, unsigned node, unsigned claim, const struct message *m,
                 enum rlk_vote vote, uint64_t fence);
void check_stepped(struct world *w, unsigned client, unsigned worker);

/* A master's clock is found to be ahead; a master's time was compared; a clock event is about to
 * be passed to a worker [S11]. */
void check_ahead(struct world *w, unsigned client, unsigned node);
void check_timed(struct world *w, unsigned client, unsigned node, const struct message *m,
                 enum rlk_clock_verdict verdict);
void check_clock(struct world *w, unsigned client, unsigned worker, const struct rlk_event *ev);

/* [S11] A node is inspected; it has sent its time, or its data were replaced; the client was
 * suspended; a vote is asked for, with or without reading the mark; a lock is handed out. */
void check_role_asked(struct world *w, unsigned client, unsigned node,
                      const struct message *question);
void check_compared(struct world *w, unsigned client, unsigned node);
void check_suspension_notified(struct world *w, unsigned client, unsigned worker);
void check_data_replaced_notified(struct world *w, unsigned client, unsigned worker);
void check_vote_reads_mark(struct world *w, unsigned client, unsigned node,
                           const struct message *m);
void check_voters(struct world *w, unsigned client, unsigned worker);

/* [S11] A holder believes in its lock no longer than the clock steps that it has seen allow. */
void check_steps(struct world *w, unsigned client, unsigned worker);
void check_steps_hidden(struct world *w, unsigned server);

/* [S11] A server's clock is set forward, or back; its record of a step is lost; a client dies,
 * or loses a connection; it counts a vote. */
void check_clock_set(struct world *w, unsigned server, uint64_t by_us);
void check_clock_set_back(struct world *w, unsigned server);
void check_record_lost(struct world *w, unsigned server);
void check_witness_lost(struct world *w, unsigned client);
void check_newcomer_vote(struct world *w, unsigned client, unsigned node);

/* [S12] A claim is asked for first; a node has voted with a counter; a node is asked to confirm
 * the fence, and has answered. Which nodes agree on the fence, whose votes count, and which
 * nodes may still agree. A lock is handed out. */
void check_fence_asked(struct world *w, unsigned claim);
void check_fence_voted(struct world *w, unsigned claim, unsigned node, uint64_t counter);
void check_fence_recount(struct world *w, unsigned claim);
void check_confirm_sent(struct world *w, unsigned claim, unsigned node, uint64_t fence);
void check_confirmed(struct world *w, unsigned claim, unsigned node, bool agrees);
uint64_t check_fence_agreed(const struct world *w, unsigned claim);
uint64_t check_counted(const struct world *w, unsigned claim);
uint64_t check_fence_hoped(const struct world *w, unsigned claim);
void check_fence_reported(struct world *w, unsigned client, unsigned worker);

/* A call was accepted and its result must be reported within a time of the client's clock; it
 * was cancelled; it is reported now; its manager begins to close, and is closed; nobody is left
 * to report to. */
void check_started(struct world *w, unsigned client, unsigned worker, uint64_t limit_us);
void check_cancelled(struct world *w, unsigned client, unsigned worker);
void check_reported(struct world *w, unsigned client, unsigned worker, int status);
void check_closing(struct world *w, unsigned client);
void check_closed(struct world *w, unsigned client);
void check_forgotten(struct world *w, unsigned client, unsigned worker);

/* Of claims: nobody wants it any more; its process died; its request may be carried out after
 * its release; its pending release is dropped, because its ttl has passed. */
void check_let_go(struct world *w, unsigned claim);
void check_died(struct world *w, unsigned client);
void check_may_outlive(struct world *w, unsigned claim, unsigned client, unsigned node);
void check_set_back(struct world *w, unsigned server); /* the server's clock */
void check_server_dies(struct world *w);
void check_resurrected(struct world *w, unsigned server);
void check_copied(struct world *w, unsigned claim); /* to a replica that no client has asked */
void check_expired(struct world *w, unsigned claim, unsigned node);

/* A node has answered a client's release with an error: nothing was done. */
void check_refused(struct world *w, unsigned client, unsigned node, unsigned claim);

/* A server has set a key of a claim. */
void check_granted(struct world *w, unsigned claim, unsigned server, enum message_kind by);

/* A node has refused a claim; a round is about to ask again who refused it; a SET of it is sent to
 * a node. */
void check_split_refused(struct world *w, unsigned claim, unsigned node, const struct message *m);
void check_split_kept(struct world *w, unsigned claim);
void check_split_sent(struct world *w, unsigned claim, unsigned node);

void check_set_sent(struct world *w, unsigned claim, unsigned node);
void check_set_again(struct world *w, unsigned claim, unsigned node);
void check_release_sent(struct world *w, unsigned claim, unsigned node);
void check_native_known(struct world *w, unsigned client, unsigned node, const struct message *m);
void check_release_pending(struct world *w, unsigned claim, unsigned node);

/* Of a lock that is held: it begins; a node was asked; a node that did not know the script is
 * asked to heal or extend once more; a node has answered; then the hold was stepped, and had
 * been valid until some time; a clock event came; the user lets go. */
void check_held(struct world *w, unsigned client, unsigned worker);
void check_held_asked(struct world *w, unsigned client, unsigned worker, unsigned node,
                      const struct message *m);
void check_restored_again(struct world *w, unsigned node, const struct message *m);
void check_kept_again(struct world *w, unsigned node, const struct message *m);
void check_held_voted(struct world *w, unsigned client, unsigned worker, unsigned node,
                      enum rlk_vote vote, bool clock_suspect);
void check_held_answered(struct world *w, unsigned client, unsigned worker, unsigned node,
                         enum rlk_answer answer, uint64_t since_us, bool clock_suspect);
void check_held_stepped(struct world *w, unsigned client, unsigned worker, uint64_t until_us,
                        const struct rlk_actions *out);
void check_held_voters(struct world *w, unsigned client, unsigned worker);
void check_held_clock(struct world *w, unsigned client, unsigned worker,
                      const struct rlk_event *ev);
void check_held_ends(struct world *w, unsigned client, unsigned worker);

/* The user asks for an extension; its result is reported; trouble is reported; the loss is
 * reported. */
void check_extending(struct world *w, unsigned client, unsigned worker, uint32_t ttl_ms);
void check_extended(struct world *w, unsigned client, unsigned worker);
void check_trouble_reported(struct world *w, unsigned client, unsigned worker);
void check_lost_reported(struct world *w, unsigned client, unsigned worker);

/* A connection breaks before this was answered; and the driver has handled that. */
void check_unanswered(struct world *w, unsigned client, unsigned node, const struct message *m);
void check_disconnect_handled(struct world *w, unsigned client, unsigned node,
                              const struct message *m);

/* A request goes to a node. */
void check_pending_releases_first(struct world *w, unsigned claim, unsigned node);
void check_not_unresponsive(struct world *w, unsigned claim, unsigned node);

/* A master has answered a question for a place; a worker has got its lock; the faults end. */
void check_listed(struct world *w, unsigned client, const struct message *m);
void check_waited(struct world *w, unsigned client, unsigned worker);
void check_effort(struct world *w);

/* Of a candidate: its user campaigns; is not fit to lead; is told that it leads; has resigned; is
 * told that it is demoted, and that has returned; has stopped. Its election is gone, alone or with
 * its process. */
void check_campaigns(struct world *w, unsigned client, unsigned worker);
void check_not_fit(struct world *w, unsigned client, unsigned worker);
void check_elected(struct world *w, unsigned client, unsigned worker, uint64_t term);
void check_resigned(struct world *w, unsigned client, unsigned worker);
void check_demoted(struct world *w, unsigned client, unsigned worker,
                   const struct redlock_demotion *demotion);
void check_demoted_returns(struct world *w, unsigned client, unsigned worker,
                           const struct redlock_demotion *demotion);
void check_stopped(struct world *w, unsigned client, unsigned worker);
void check_freed(struct world *w, unsigned client, unsigned worker);
void check_candidate_gone(struct world *w, unsigned client, unsigned worker);

/* Its code has run, so its lead may have moved; the election gives its lock up; a release of the
 * claim is sent, or pending; its lock begins a renewal. The faults end. */
void check_lead(struct world *w, unsigned client, unsigned worker);
void check_lead_given_up(struct world *w, unsigned client, unsigned worker);
void check_lead_released(struct world *w, unsigned claim);
void check_lead_renewed(struct world *w, unsigned client, unsigned worker);
void check_vacancies(struct world *w);

/* A server has set a key of a claim; that is let go; a server is about to say that a key is held.
 */
void check_key_set(struct world *w, unsigned claim, unsigned server);
void check_key_let_go(struct world *w, unsigned claim);
void check_key_seen(struct world *w, unsigned server, unsigned key);

/* A client has died, and its claims are orphans: what it has left. */
void check_keys_left(struct world *w, unsigned client);

/* [L5] Somebody leads, is elected, is demoted. How soon everybody has heard of a change. */
void check_not_outranked(struct world *w, unsigned client, unsigned worker);
void check_first_in_rank(struct world *w, unsigned client, unsigned worker);
void check_outranked(struct world *w, unsigned client, unsigned worker, int reason);
uint64_t check_news_us(const struct world *w);

/* leader_cb is called; a lead is about to end; the history has ended. */
void check_leader_told(struct world *w, unsigned client, unsigned worker,
                       const struct redlock_leader *leader);
void check_lead_known(struct world *w, unsigned client, unsigned worker);
void check_leaders_at_end(struct world *w);

/* A lock was handed out: nothing that a former holder has begun may still work; who waits for a key
 * that an heir has released. Both releases were carried out. How soon the next one has the key, and
 * when all messages have arrived. */
void check_heirs_exclusion(struct world *w, const struct worker *k);
void check_heir_taken(struct world *w, const struct worker *k);
void check_heir_waiters(struct world *w, unsigned key);
void check_heir_left(struct world *w, const struct heir *h);
uint64_t check_heir_soon_us(const struct world *w);
uint64_t check_heir_arrival_us(const struct world *w);

/* [S15] A node shows its record of the masters; a server has accepted one. A lock is handed out; a
 * vote counts; a node extends a lock that is held. */
void check_masters_shown(struct world *w, unsigned client, unsigned node, const struct message *m);
void check_masters_accepted(struct world *w, const struct on_record *there);
void check_masters_fit(struct world *w, unsigned client, unsigned worker);
void check_masters_vote(struct world *w, unsigned client, unsigned node, uint64_t asked_us);
void check_masters_extend(struct world *w, unsigned client, unsigned node);

/* The addresses of the masters, by the latest record on any server; of those before its change; and
 * of all that it knows. */
uint64_t check_masters_on_record(const struct world *w);
uint64_t check_masters_before(const struct world *w);
uint64_t check_masters_known(const struct world *w);

/* The last record that was agreed on has this server as a former master, and it does not know that:
 * it has no record, or one from before. */
bool check_masters_left_unaware(const struct world *w, unsigned server);

/* The same by the record that a client has last seen to be agreed on; 0: none. */
uint64_t check_masters_shown_to(const struct world *w, unsigned client);

/* [M8] Others decide by their majority from now on; a client leaves a master. */
void check_masters_voters(struct world *w, unsigned client);
void check_masters_left(struct world *w, unsigned client, unsigned node);

/* An event has come. */
void check_work(struct world *w);

/* The history has ended. */
void check_reported_at_end(struct world *w);
void check_left_at_end(struct world *w);
void check_live_at_end(struct world *w);

/* How long after the faults every user must have got a lock. */
uint64_t check_live_bound_us(const struct world *w);

/* How long a release may take when nothing is broken. */
#define CHECK_SETTLE_US 5000000

#endif
