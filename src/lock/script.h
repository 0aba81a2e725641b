/* script.h - what asks for a lock's keys, sent to nodes: SET, or a script of src/scripts.
 *
 * A script is sent by its text until a node has run it once over its connection, and by its SHA-1
 * from then on; the release always by its SHA-1, because the greeting loads it. A server that has
 * forgotten one (SCRIPT FLUSH, or its cache is full) says NOSCRIPT, has done nothing, and is sent
 * the text at once: the same question, so the answer to that one counts. */
#ifndef RLK_LOCK_SCRIPT_H
#define RLK_LOCK_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "node/command.h"

struct rlk_claim;
struct rlk_node;
struct rlk_reply;
struct rlk_exchange_kind;

/* One command for many nodes. */
struct rlk_script_forms {
    const struct rlk_script *script; /* NULL: SET */
    struct rlk_claim *claim;
    uint32_t ttl_ms;
    struct rlk_command form[2]; /* by its SHA-1 or its text; SET alone or with GET */
};

void rlk_script_init(struct rlk_script_forms *f, const struct rlk_script *script,
                     struct rlk_claim *claim, uint32_t ttl_ms);

/* Ask a node; it is formatted when it is needed. As rlk_node_send(). */
bool rlk_script_send(struct rlk_script_forms *f, struct rlk_node *n,
                     const struct rlk_exchange_kind *kind, uint64_t now_us);

/* A reply to one, first of all: true when the script had been forgotten. Not of the text as well:
 * who says that is no Redis. */
bool rlk_script_is_forgotten(struct rlk_node *n, const struct rlk_script *script,
                             struct rlk_claim *claim, const struct rlk_reply *reply);

/* Then: false when it was not sent again. ttl_ms 0: nobody wants that any more. */
bool rlk_script_send_text(struct rlk_node *n, const struct rlk_script *script,
                          struct rlk_claim *claim, uint32_t ttl_ms,
                          const struct rlk_exchange_kind *kind, uint64_t now_us);

#endif
