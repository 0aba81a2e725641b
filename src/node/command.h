/* command.h - the commands that we send.
 *
 * A command is formatted once and its bytes are appended to as many connections as need it.
 * Texts inside are of any bytes: RESP is length-prefixed, so nothing can be injected.
 *
 * SET, the scripts that act on the keys of a lock, and questions about a key are written straight
 * into a buffer; everything else goes through hiredis' formatter. Why: docs/design.md,
 * "Formatting". */
#ifndef RLK_NODE_COMMAND_H
#define RLK_NODE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/lock.h>

#include "scripts/scripts.h"

struct rlk_claim;

/* Room for the longest keys, the incarnation key and a script, with their lengths, and for the
 * token and the other words, which are short. */
#define RLK_COMMAND_SIZE ((REDLOCK_MAX_KEYS + 1) * (REDLOCK_MAX_KEY + 32) + RLK_SCRIPT_SIZE + 512)

struct rlk_command {
    const char *bytes; /* in `buffer`, or hiredis'; NULL: nothing formatted */
    size_t len;
    char buffer[RLK_COMMAND_SIZE];
};

/* A counter stands behind its key, and lives for a week after it was raised last. */
#define RLK_COMMAND_COUNTER ":redlock-fence"

/* The incarnation key, behind the manager's prefix (node/health.h); and what its value begins with.
 */
#define RLK_COMMAND_INCARNATION "redlock:incarnation"
#define RLK_COMMAND_INCARNATION_SIZE (REDLOCK_MAX_KEY + sizeof(RLK_COMMAND_INCARNATION))
#define RLK_COMMAND_START_SIZE 80

/* Nothing formatted yet. */
void rlk_command_init(struct rlk_command *c);

/* Gives back what rlk_command_words took; takes a failed one too. */
void rlk_command_end(struct rlk_command *c);

/* From words that end with NULL. 0 or REDLOCK_ENOMEM. */
int rlk_command_words(struct rlk_command *c, const char *const *words);

/* SET key token NX PX ttl, with GET where the server tells the holder that way. */
void rlk_command_set(struct rlk_command *c, const struct rlk_claim *claim, bool get);

/* EVALSHA of a script (src/scripts), or EVAL with its text. */
void rlk_command_release(struct rlk_command *c, const struct rlk_claim *claim, bool text);
void rlk_command_take(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                      bool text);
void rlk_command_keep(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                      bool text);
/* incarnation: the key, and what it should begin with ("" for both: not asked for). */
void rlk_command_vote(struct rlk_command *c, const struct rlk_claim *claim, const char *key,
                      const char *incarnation, bool text);
void rlk_command_confirm(struct rlk_command *c, const struct rlk_claim *claim, bool text);

/* GET or PTTL of the first key; GET of its counter. */
void rlk_command_ask(struct rlk_command *c, const char *verb, const struct rlk_claim *claim);
void rlk_command_ask_fence(struct rlk_command *c, const struct rlk_claim *claim);

#endif
