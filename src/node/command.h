/* command.h - the commands that we send.
 *
 * A command is formatted once and its bytes are appended to as many connections as need it.
 * Texts inside are of any bytes: RESP is length-prefixed, so nothing can be injected.
 *
 * The two commands of the hot path, SET and the release, are written straight into a buffer;
 * everything else goes through hiredis' formatter. Why: docs/design.md, "Formatting". */
#ifndef RLK_NODE_COMMAND_H
#define RLK_NODE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/lock.h>

struct rlk_claim;

/* Room for the longest keys, token and script with their lengths and the fixed words. */
#define RLK_COMMAND_ROOM (REDLOCK_MAX_KEYS * (REDLOCK_MAX_KEY + 16) + REDLOCK_MAX_KEY + 2048)

struct rlk_command {
    const char *bytes; /* in `room`, or hiredis'; NULL: nothing formatted */
    size_t len;
    char room[RLK_COMMAND_ROOM];
};

/* The scripts work on all keys of a claim. They have no shebang, so that they run on a server that
 * is out of memory too: -OOM refuses the whole of a script with a shebang, but no DEL or PEXPIRE
 * of one without. All reading is done before anything is written.
 *
 * Below Redis 7 a script may be replicated as a whole, and may then not write once it has asked for
 * PTTL or TIME. One that does both begins with redis.replicate_commands(), which Redis has from 3.2
 * on: what it writes is replicated instead.
 *
 * Release, compare and delete: 1 all were ours and are deleted, -1 some have another value, 0 some
 * were not there. */
extern const char rlk_command_release_script[];
/* Set all keys for ttl, or none: 1 done, 2 all were ours already (they live as long now), or the
 * value of one that is somebody else's. Some of several were ours where the others were lost. With
 * a fence their counters are at least that from then on [S12]. */
extern const char rlk_command_take_script[];
/* Let our keys live for ttl, if they do not live longer: 1 done, 0 one is not there, or the value
 * of one that is somebody else's. [S7] It never sets a key and never shortens. With a fence their
 * counters are at least that from then on. */
extern const char rlk_command_keep_script[];
/* [S12] Set all keys for ttl, or none, and raise their counters above all that they ever were, to
 * `hint` at least: {counter, 1}, or {counter, 0} when the incarnation key is not the one that we
 * know; 2 or a value as by the take script. */
extern const char rlk_command_vote_script[];
/* [S12] Raise the counters to the fence where all keys are ours and no counter is above it: 1 done,
 * 0 not. */
extern const char rlk_command_confirm_script[];

/* A counter stands behind its key, and lives for a week after it was raised last. */
#define RLK_COMMAND_COUNTER ":redlock-fence"

/* Nothing formatted yet. */
void rlk_command_init(struct rlk_command *c);

/* Gives back what rlk_command_words took; takes a failed one too. */
void rlk_command_end(struct rlk_command *c);

/* From words that end with NULL. 0 or REDLOCK_ENOMEM. */
int rlk_command_words(struct rlk_command *c, const char *const *words);

/* SET key token NX PX ttl, with GET where the server tells the holder that way. */
void rlk_command_set(struct rlk_command *c, const struct rlk_claim *claim, bool get);

/* EVALSHA of a script, or EVAL with its text. */
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
