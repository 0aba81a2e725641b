/* classify.h - turns a server's reply into a vote or an answer.
 *
 * Only proof counts. A yes is the one reply that says "set", and a no is a reply that shows that
 * the key has another value. Every other reply, and every error, is unknown [S5]: the command may
 * have been carried out. */
#ifndef RLK_CORE_CLASSIFY_H
#define RLK_CORE_CLASSIFY_H

#include "core/event.h"
#include "core/reply.h"

/* SET key token NX PX ttl: +OK is yes, nil is no. */
enum rlk_vote rlk_classify_set(const struct rlk_reply *reply);

/* SET key token NX GET PX ttl (Redis 7.0 and later): nil is yes, a string is the value of the
 * holder and so a no. Our own token as the old value is RLK_VOTE_OURS: neither a second yes nor a
 * no. */
enum rlk_vote rlk_classify_set_get(const struct rlk_reply *reply, const char *token, size_t len);

/* Either of these two: returns_holder says which one was sent. */
enum rlk_vote rlk_classify_key(const struct rlk_reply *reply, bool returns_holder,
                               const char *token, size_t len);

/* A number for the value that a refusal names, the same for equal values; 0: it names none. */
uint64_t rlk_classify_holder(const struct rlk_reply *reply);

/* set_all.lua: 1 the keys are set, 2 all were ours already, a string is the value of the holder. */
enum rlk_vote rlk_classify_set_all(const struct rlk_reply *reply);

/* vote.lua [S12]: {counter, same} the keys are set, where `same` is 1 if the data are those that we
 * know [S11]; the rest as set_all.lua. *ret_fence is the counter, 0 if the keys were not set. */
enum rlk_vote rlk_classify_fenced(const struct rlk_reply *reply, uint64_t *ret_fence);

/* confirm.lua: 1 the counters are raised, 0 they are not. */
enum rlk_answer rlk_classify_confirm(const struct rlk_reply *reply);

/* keep.lua: 1 the keys are ours and were extended, 0 a key is not there, a string is the value of
 * the holder. */
enum rlk_answer rlk_classify_keep(const struct rlk_reply *reply);

/* keep.lua as a vote, when a lock is adopted by its token. */
enum rlk_vote rlk_classify_adopt(const struct rlk_reply *reply);

/* adopt.lua [S12]: {counter, same} as vote.lua; 0 a key is not there; a string is the value of the
 * holder. */
enum rlk_vote rlk_classify_adopt_fenced(const struct rlk_reply *reply, uint64_t *ret_fence);

/* release.lua: 1 or 2 deleted, 0 a key was not there, -1 a key has another value. */
enum rlk_answer rlk_classify_release(const struct rlk_reply *reply);

/* swap.lua: 1 or more, the new token is there, and *ret_left_us is how long the key lives on; 0
 * there is no key; a string is another value. Our own new token (of `len` bytes) proves nothing:
 * another address of the same server was asked before [S10]. */
enum rlk_answer rlk_classify_swap(const struct rlk_reply *reply, const char *token, size_t len,
                                  uint64_t *ret_left_us);

/* DELEX or DELIFEQ: 1 deleted, 0 there is no key, or it has another value. */
enum rlk_answer rlk_classify_delete(const struct rlk_reply *reply);

/* EXISTS of the key after that: 0 it is not there, 1 it has another value. */
enum rlk_answer rlk_classify_remains(const struct rlk_reply *reply);

/* EXISTS of the wait queue: whether there are waiters. */
bool rlk_classify_is_listed(const struct rlk_reply *reply);

/* release.lua: whether it has woken a waiter. */
bool rlk_classify_woke(const struct rlk_reply *reply);

/* wait.lua: {0, -2, ""} we are woken, {position, left, value} we are listed, {-1, left, value} the
 * queue is full; `left` in milliseconds, -1 no ttl, -2 no key. Fills in the fields of POSITION. */
void rlk_classify_wait(const struct rlk_reply *reply, struct rlk_event *ev);

/* leave.lua: 1 or 0, we are in no queue. */
enum rlk_answer rlk_classify_leave(const struct rlk_reply *reply);

/* Whether the server does not know the script of an EVALSHA. Nothing was carried out. */
bool rlk_classify_no_script(const struct rlk_reply *reply);

/* Whether the server rejected the command only for now, without carrying it out: a retry may
 * succeed. */
bool rlk_classify_refused_for_now(const struct rlk_reply *reply);

/* Whether the server will never carry out a release in this way: it does not know the command, our
 * user may not use it, or it is wrong there. WRONGTYPE is an answer, and no refusal. */
bool rlk_classify_refused(const struct rlk_reply *reply);

/* Whether the server does not know the command: it is too old, or the command was renamed. */
bool rlk_classify_unknown_command(const struct rlk_reply *reply);

/* The reply to a command without its arguments: whether the server knows the command. It carries
 * out nothing. */
bool rlk_classify_known_command(const struct rlk_reply *reply);

/* Whether the reply is an error with this first word. Redis before 7.0 puts the place in the script
 * in front of an error from a script: the first word is the one after that. */
bool rlk_classify_is_error(const struct rlk_reply *reply, const char *word);

/* Whether our user may not do this. In a script, Redis 7.0 says that without NOPERM. */
bool rlk_classify_denied(const struct rlk_reply *reply);

/* An error without that place. */
const char *rlk_classify_skip_places(const char *error);

#endif
