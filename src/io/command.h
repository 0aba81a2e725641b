/* command.h - the commands that we send.
 *
 * A command is formatted once and its bytes are appended to as many connections as need it.
 * Texts inside are of any bytes: RESP is length-prefixed, so nothing can be injected.
 *
 * The two commands of the hot path, SET and the release, are written straight into a buffer;
 * everything else goes through hiredis' formatter. Why: docs/design.md, "Formatting". */
#ifndef RLK_IO_COMMAND_H
#define RLK_IO_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/lock.h>

struct rlk_claim;

/* Room for the longest key, token and script with their lengths and the fixed words. */
#define RLK_COMMAND_ROOM (REDLOCK_MAX_KEY + 768)

struct rlk_command {
    const char *bytes; /* in `room`, or hiredis'; NULL: nothing formatted */
    size_t len;
    char room[RLK_COMMAND_ROOM];
};

/* The compare-and-delete script: 1 deleted, 0 no key, -1 another value. It has no shebang, so
 * that it runs on a server that is out of memory too: -OOM refuses the whole of a script with
 * a shebang, but no DEL of one without. */
extern const char rlk_command_release_script[];

/* Nothing formatted yet. */
void rlk_command_init(struct rlk_command *c);

/* Gives back what rlk_command_words took; takes a failed one too. */
void rlk_command_end(struct rlk_command *c);

/* From words that end with NULL. 0 or REDLOCK_ENOMEM. */
int rlk_command_words(struct rlk_command *c, const char *const *words);

/* SET key token NX PX ttl, with GET where the server tells the holder that way. */
void rlk_command_set(struct rlk_command *c, const struct rlk_claim *claim, bool get);

/* EVALSHA of the release script, or EVAL with its text. */
void rlk_command_release(struct rlk_command *c, const struct rlk_claim *claim, bool text);

/* GET key or PTTL key. */
void rlk_command_ask(struct rlk_command *c, const char *verb, const struct rlk_claim *claim);

#endif
