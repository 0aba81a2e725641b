/* command.h - the bytes of the commands that we send.
 *
 * A command is formatted once, and its bytes are appended to every connection that needs it. Keys,
 * tokens and owners may have any bytes: RESP gives the length of each, so no command can be
 * injected.
 *
 * SET, the scripts that act on the keys of a lock, and queries of a key are written straight into a
 * buffer; hiredis formats everything else. docs/design.md, "Formatting commands", says why. */
#ifndef RLK_NODE_COMMAND_H
#define RLK_NODE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/lock.h>

#include "node/claim.h"
#include "scripts/scripts.h"

/* Enough bytes for the longest keys, the incarnation key, the audit stream and a script, with their
 * lengths, and for the token, the reservation and the other words, which are short. */
#define RLK_COMMAND_WORDS 1536
#define RLK_COMMAND_SIZE                                                                           \
    ((REDLOCK_MAX_KEYS + 2) * (REDLOCK_MAX_KEY + 32) + RLK_SCRIPT_SIZE + RLK_COMMAND_WORDS)

/* How much of it is left for the keys, tokens and fencing tokens of several claims. */
#define RLK_COMMAND_KEEP_SIZE (RLK_COMMAND_SIZE - RLK_SCRIPT_SIZE - RLK_COMMAND_WORDS)

/* The audit stream, to which the scripts add what becomes of a lock (src/scripts/shared/audit.lua).
 * An entry has the fields event, id, owner, and perhaps ttl, fence, by and to; and a field for each
 * key. */
struct rlk_audit {
    const char *stream; /* its name */
    uint32_t entries;   /* how many it keeps */
};

/* The name of the audit stream is this, after the manager's prefix. */
#define RLK_COMMAND_AUDIT "redlock:audit"

struct rlk_command {
    const char *bytes; /* in `buffer`, or allocated by hiredis; NULL: nothing formatted */
    size_t len;
    size_t common; /* of a vote: how much of it is the same for all nodes */
    char buffer[RLK_COMMAND_SIZE];
    struct {
        const struct rlk_claim *claim; /* NULL: nothing */
        const char *reservation, *event;
        const struct rlk_audit *audit;
    } behind; /* of a vote: what follows the mark, again the same for all */
};

/* [S12] The name of a counter is that of its key with this behind it. A counter lives for eight
 * days after it was last set. */
#define RLK_COMMAND_COUNTER ":redlock-fence"

/* The incarnation key, after the manager's prefix (node/inspect.h); the size of its whole name, and
 * of the beginning of its value: run and mark. */
#define RLK_COMMAND_INCARNATION "redlock:incarnation"
#define RLK_COMMAND_INCARNATION_SIZE (REDLOCK_MAX_KEY + sizeof(RLK_COMMAND_INCARNATION))
#define RLK_COMMAND_START_SIZE 80

/* The key of the record of the masters, after the manager's prefix (scripts/masters.lua). */
#define RLK_COMMAND_RECORD "redlock:masters"

/* The name of a wait queue is that of its key with this behind it. */
#define RLK_COMMAND_WAITING ":redlock-waiting"

/* The name of the key of the bids is that of the election's with this behind it. */
#define RLK_COMMAND_BID ":redlock-bid"

/* How long a wait queue lives after somebody was listed last. Waiters check more often. */
#define RLK_COMMAND_WAITING_MS 10000

/* An empty command. */
void rlk_command_init(struct rlk_command *c);

/* Free the memory that rlk_command_words() allocated; accepts a command that failed, too. */
void rlk_command_end(struct rlk_command *c);

/* Format `words`, which end with NULL. 0 or REDLOCK_ENOMEM. */
int rlk_command_words(struct rlk_command *c, const char *const *words);

/* SET key token NX PX ttl. get: with GET, which makes a refusal return the value of the key. */
void rlk_command_set(struct rlk_command *c, const struct rlk_claim *claim, bool get);

/* A script of src/scripts: EVALSHA, or EVAL when `text`. The release has claim->channel; so has the
 * hand-over, and claim->reservation, for ttl_ms. What sets keys has claim->reservation, if there is
 * one. Here and below `audit` is the stream to which the script adds an entry; NULL: none. A lock
 * is acquired by _set_all and _vote, and adopted by _keep and _adopt. The event of a release is
 * "released", "lost" for a lock that was lost before, or "withdrawn" for a round that was not won.
 */
void rlk_command_release(struct rlk_command *c, const struct rlk_claim *claim, bool text,
                         const struct rlk_audit *audit);
void rlk_command_hand_over(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                           bool text, const struct rlk_audit *audit);
void rlk_command_set_all(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                         bool text, const struct rlk_audit *audit);
void rlk_command_keep(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                      bool text, const struct rlk_audit *audit);

/* The same for `n` claims in one command. They are alike: as many keys each, and all with a fencing
 * token or none; and the sum of rlk_command_keep_size() of them is at most RLK_COMMAND_KEEP_SIZE.
 */
void rlk_command_keep_all(struct rlk_command *c, struct rlk_claim *const *claims, unsigned n,
                          uint32_t ttl_ms, bool text);
size_t rlk_command_keep_size(const struct rlk_claim *claim);

/* Complete a vote with the mark of a node: the incarnation key, and how its value must begin; ""
 * for both: no check. _mark may be called again, with that of the next node. _adopt is the vote for
 * a lock that is taken over. */
void rlk_command_vote(struct rlk_command *c, const struct rlk_claim *claim, bool text,
                      const struct rlk_audit *audit);
void rlk_command_adopt(struct rlk_command *c, const struct rlk_claim *claim, bool text,
                       const struct rlk_audit *audit);
void rlk_command_mark(struct rlk_command *c, const char *key, const char *start);
void rlk_command_confirm(struct rlk_command *c, const struct rlk_claim *claim, bool text);

/* Put the claim's token in the place of another one, at its first key. The entry is about the
 * former token, and says by whom. */
void rlk_command_swap(struct rlk_command *c, const struct rlk_claim *claim, const char *former,
                      bool text, const struct rlk_audit *audit);

/* Enter the wait queues of the claim's keys, after so long a wait; leave them. */
void rlk_command_wait(struct rlk_command *c, const struct rlk_claim *claim, uint64_t waited_us,
                      const char *channel, bool text);
void rlk_command_leave(struct rlk_command *c, const struct rlk_claim *claim, const char *channel,
                       bool text);

/* Deletes a key that has our token, in one step and without a script. */
enum rlk_native {
    RLK_NATIVE_NONE = 0,
    RLK_NATIVE_DELEX,  /* DELEX key IFEQ token: Redis 8.4, Valkey 9.2 */
    RLK_NATIVE_DELIFEQ /* DELIFEQ key token: Valkey 9.0 */
};

/* The release of the only key of a claim; `native` is not NONE. */
void rlk_command_delete(struct rlk_command *c, const struct rlk_claim *claim,
                        enum rlk_native native);

/* EXISTS of all keys: the server notes that this client has read them. */
void rlk_command_exist(struct rlk_command *c, const struct rlk_claim *claim);

/* The same of the first key and of its counter. */
void rlk_command_exist_counted(struct rlk_command *c, const struct rlk_claim *claim);

/* A command with one argument: the name of the first key with `ending` behind it. The ending is "",
 * that of the counter or that of the wait queue. */
void rlk_command_ask(struct rlk_command *c, const char *verb, const struct rlk_claim *claim,
                     const char *ending);

/* SCAN from a cursor on: some `count` of the keys, those of them that are strings and whose names
 * begin with `prefix`. */
void rlk_command_scan(struct rlk_command *c, uint64_t cursor, const struct rlk_key *prefix,
                      unsigned count);

/* Read a part of an audit stream: what is about the first key of the claim, from `newest` back to
 * `oldest`, which are ids. */
void rlk_command_history(struct rlk_command *c, const struct rlk_claim *claim, const char *stream,
                         const char *newest, const char *oldest, bool text);

#endif
