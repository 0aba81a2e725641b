/* peer.h - a node as a client has it: connected, greeted, asked, owed. As src/node/node.c.
 *
 * Nothing is queued for a node that is not UP; a break leaves debts; debts are paid before
 * anything is asked [S5]; a node whose oldest answer is overdue is not asked [S14]. */
#ifndef RLK_TESTS_SIM_PEER_H
#define RLK_TESTS_SIM_PEER_H

#include "sim/world.h"

void peer_init(struct world *w, unsigned client, unsigned node);

/* Send a request; false when the node is not UP. */
bool peer_ask(struct world *w, unsigned client, unsigned node, const struct message *m);

/* Owe it a release, for as long as the key may be there. */
void peer_owe(struct world *w, unsigned client, unsigned node, unsigned claim);

/* End the connection, and greet it anew. */
void peer_refuse(struct world *w, unsigned client, unsigned node);

/* The nodes that can be asked; that are being connected; that are UP. */
void peer_nodes(const struct world *w, unsigned client, uint64_t *ret_ready, uint64_t *ret_coming,
                uint64_t *ret_open);

/* The process dies. */
void peer_end(struct world *w, unsigned client, unsigned node);

void peer_on_opened(struct world *w, unsigned wire);
void peer_on_reply(struct world *w, unsigned wire);
void peer_on_broken(struct world *w, unsigned wire);
void peer_on_timer(struct world *w, unsigned client, unsigned node, unsigned stamp);

#endif
