/* command.h - the commands that we send, formatted by hiredis.
 *
 * A command is formatted once and its bytes are appended to as many connections as need it.
 * Texts inside are of any bytes: RESP is length-prefixed, so nothing can be injected. */
#ifndef RLK_IO_COMMAND_H
#define RLK_IO_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rlk_claim;

/* Formatted bytes. Ends with rlk_command_end, also after a failure. */
struct rlk_command {
    char *bytes; /* NULL: nothing formatted */
    size_t len;
};

/* The compare-and-delete script: 1 deleted, 0 no key, -1 another value. It has no shebang, so
 * that it runs on a server that is out of memory too (SAFETY: -OOM refuses the whole of a
 * script with a shebang, but no DEL of one without). */
extern const char rlk_command_release_script[];

/* All: 0, or REDLOCK_ENOMEM. */

/* From words that end with NULL. */
int rlk_command_words(struct rlk_command *c, const char *const *words);

/* SET key token NX PX ttl, with GET where the server tells the holder that way. */
int rlk_command_set(struct rlk_command *c, const struct rlk_claim *claim, bool get);

/* EVALSHA of the release script, or EVAL with its text. */
int rlk_command_release(struct rlk_command *c, const struct rlk_claim *claim, bool text);

/* GET key or PTTL key. */
int rlk_command_ask(struct rlk_command *c, const char *verb, const char *key, size_t key_len);

void rlk_command_end(struct rlk_command *c);

#endif
