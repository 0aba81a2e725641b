/* classify.h - from a server's reply to a vote or an answer.
 *
 * Only a proof counts: a yes is the one reply that says "set", a no the one that shows that
 * the key has another value. Everything else, every error included, is unknown [S5]: the
 * command may have been carried out. */
#ifndef RLK_CORE_CLASSIFY_H
#define RLK_CORE_CLASSIFY_H

#include "core/event.h"
#include "core/reply.h"

/* SET key token NX PX ttl: +OK granted, nil refused. */
enum rlk_vote rlk_classify_set(const struct rlk_reply *reply);

/* SET key token NX GET PX ttl (Redis 7.0 and later): nil granted, a string is the holder's.
 * Our own token as the old value is RLK_VOTE_OURS: not a second vote, and no refusal. */
enum rlk_vote rlk_classify_set_get(const struct rlk_reply *reply, const char *token, size_t len);

/* Whichever of the two it was asked. */
enum rlk_vote rlk_classify_key(const struct rlk_reply *reply, bool returns_holder,
                               const char *token, size_t len);

/* The script that sets all keys or none: 1 done, 2 all were ours already, a string is the
 * holder's. */
enum rlk_vote rlk_classify_take(const struct rlk_reply *reply);

/* The same with a fence [S12]: {counter, same} done, where `same` is 1 when the data are those that
 * we knew [S11]. *ret_fence is the counter, 0 without a yes. */
enum rlk_vote rlk_classify_fenced(const struct rlk_reply *reply, uint64_t *ret_fence);

/* The script that raises the counter: 1 done, anything else not. */
enum rlk_answer rlk_classify_confirm(const struct rlk_reply *reply);

/* The script that lets our keys live on: 1 done, 0 one is not there, a string is the holder's. */
enum rlk_answer rlk_classify_keep(const struct rlk_reply *reply);

/* The same as a vote, for who takes over a lock by its token. */
enum rlk_vote rlk_classify_adopt(const struct rlk_reply *reply);

/* The release script: 1 deleted, 0 nothing there, -1 somebody else's. */
enum rlk_answer rlk_classify_release(const struct rlk_reply *reply);

/* The server does not know the script of an EVALSHA: nothing was run. */
bool rlk_classify_no_script(const struct rlk_reply *reply);

/* The server refuses everything for the moment, and ran nothing: worth saying again later. */
bool rlk_classify_refused_for_now(const struct rlk_reply *reply);

/* The server does not know the command: it is too old, or the command was renamed. */
bool rlk_classify_unknown_command(const struct rlk_reply *reply);

/* The reply is an error whose first word is `word`; of one from within a script, as Redis
 * before 7.0 words it, the first behind the places where it was refused. */
bool rlk_classify_is_error(const struct rlk_reply *reply, const char *word);

#endif
