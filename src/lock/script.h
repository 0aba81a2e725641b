/* script.h - sends the command of a question to nodes: SET, or a script of src/scripts.
 *
 * A script is sent as text (EVAL) until a node has run it once over the present connection, and by
 * its SHA-1 (EVALSHA) from then on. The release is always sent by its SHA-1, because the handshake
 * loads it. A server that has forgotten a script (SCRIPT FLUSH, or its cache is full) replies
 * NOSCRIPT and has done nothing; it is sent the text at once. That is the same question, and its
 * reply counts. */
#ifndef RLK_LOCK_SCRIPT_H
#define RLK_LOCK_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "node/command.h"

struct rlk_claim;
struct rlk_node;
struct rlk_reply;
struct rlk_exchange_kind;

/* One command for many nodes, formatted when a node first needs a form. */
struct rlk_script_forms {
    const struct rlk_script *script; /* NULL: SET */
    struct rlk_claim *claim;
    uint32_t ttl_ms;
    struct rlk_command form[2]; /* a script: SHA-1, text; SET: without GET, with GET */
};

void rlk_script_init(struct rlk_script_forms *f, const struct rlk_script *script,
                     struct rlk_claim *claim, uint32_t ttl_ms);

/* Send it to a node. False: as rlk_node_send(). */
bool rlk_script_send(struct rlk_script_forms *f, struct rlk_node *n,
                     const struct rlk_exchange_kind *kind, uint64_t now_us);

/* Call one of these two with each reply. _ran: it is no error. */
void rlk_script_ran(struct rlk_node *n, const struct rlk_script *script, struct rlk_claim *claim);

/* It is an error. True: the server has forgotten the script, send its text. False, too, for a
 * NOSCRIPT in reply to the text itself, which no Redis sends. */
bool rlk_script_is_forgotten(struct rlk_node *n, const struct rlk_script *script,
                             struct rlk_claim *claim, const struct rlk_reply *error);

/* Send the text of the script. False: not sent, because ttl_ms is 0 (no longer wanted), or as
 * rlk_node_send(). */
bool rlk_script_send_text(struct rlk_node *n, const struct rlk_script *script,
                          struct rlk_claim *claim, uint32_t ttl_ms,
                          const struct rlk_exchange_kind *kind, uint64_t now_us);

#endif
