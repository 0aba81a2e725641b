/* native.h - releases by the server's own command instead of the script [S5].
 *
 *     DELEX key IFEQ token   1: deleted -------------------------------> our key was there
 *                            0: not ours ---> EXISTS key  0 or 1 ------> gone, or somebody else's
 *                            an error ------> the script, from now on
 *     EXISTS wait-queue      1: somebody waits ---> the script, which wakes the first
 *
 * The two commands of the first column are sent together, in this order: who enters the list after
 * it was looked at finds the key free. The second one is left out for a round that was lost, which
 * wakes nobody. If its reply is lost, nobody is woken either: the waiters look after the key [W4,
 * W5].
 *
 * The script is used for several keys, and when we know that somebody waits: it deletes and wakes
 * in one round trip. Where one of the two ways is refused, the other is used at once, and from then
 * on: by the command alone nobody is woken. */
#ifndef RLK_LOCK_NATIVE_H
#define RLK_LOCK_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "node/command.h"

struct rlk_claim;
struct rlk_exchange_kind;
struct rlk_node;
struct rlk_reply;

/* The commands for many nodes, formatted when a node first needs them. */
struct rlk_native_forms {
    enum rlk_native formatted; /* the command in `release` */
    bool listed_formatted;
    struct rlk_command release, listed;
};

void rlk_native_init(struct rlk_native_forms *f);

/* Whether the claim is released on this node by its own command. */
bool rlk_native_fits(const struct rlk_node *n, const struct rlk_claim *claim);

/* Send the release, and the look at the wait queue if it is wanted. False: as rlk_node_send(),
 * for the release. */
bool rlk_native_send(struct rlk_native_forms *f, struct rlk_node *n, struct rlk_claim *claim,
                     const struct rlk_exchange_kind *release,
                     const struct rlk_exchange_kind *listed, uint64_t now_us);

/* The key was not ours: ask whether it is there. False: as rlk_node_send(). */
bool rlk_native_send_remains(struct rlk_node *n, struct rlk_claim *claim,
                             const struct rlk_exchange_kind *kind, uint64_t now_us);

/* The node has refused a release for more than now. Returns whether it may take it in another way:
 * then send it again, and rlk_native_fits() tells how. */
bool rlk_native_refused(struct rlk_node *n, struct rlk_claim *claim, bool by_native,
                        const struct rlk_reply *reply);

#endif
