/* script.h - the scripts of an acquire of several keys or with a fence, and of a hold, sent to
 * nodes.
 *
 * By its text until a node has run it once over its connection, and by its SHA-1 from then on. A
 * server that has forgotten it (SCRIPT FLUSH, or its cache is full) says NOSCRIPT, has done
 * nothing, and is sent the text at once: the same question, so the answer to that one counts. */
#ifndef RLK_LOCK_SCRIPT_H
#define RLK_LOCK_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

struct redlock;
struct rlk_claim;
struct rlk_node;
struct rlk_reply;
struct rlk_request_kind;
struct rlk_script;

/* Send it to each of the nodes; a reference to the claim goes with each. Returns those that it
 * could not be sent to. */
uint64_t rlk_script_send(struct redlock *rl, uint64_t nodes, const struct rlk_script *script,
                         struct rlk_claim *claim, uint32_t ttl_ms,
                         const struct rlk_request_kind *kind, uint64_t now_us);

/* A reply to one, first of all. True: the script had been forgotten and was sent again, with the
 * reference; there is nothing to be done. The keys are to live as long as they were ever asked to:
 * at least as long as the lease that was computed with. */
bool rlk_script_again(struct rlk_node *n, const struct rlk_script *script, struct rlk_claim *claim,
                      const struct rlk_request_kind *kind, const struct rlk_reply *reply,
                      uint64_t now_us);

/* The same, for so long. 0: nobody wants that any more, and it is not sent again. */
bool rlk_script_again_for(struct rlk_node *n, const struct rlk_script *script,
                          struct rlk_claim *claim, uint32_t ttl_ms,
                          const struct rlk_request_kind *kind, const struct rlk_reply *reply,
                          uint64_t now_us);

#endif
