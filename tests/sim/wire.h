/* wire.h - connections between clients and servers, and the messages in flight.
 *
 * On one connection everything keeps its order; between two there is no order. A message is
 * never lost while its connection lives: it is late. When a connection breaks, the first
 * messages in flight to the server still arrive, perhaps much later (they may lie in the socket
 * of a server that is stopped), and no answer arrives. */
#ifndef RLK_TESTS_SIM_WIRE_H
#define RLK_TESTS_SIM_WIRE_H

#include "sim/world.h"

/* Begin to connect a node to a server; EVENT_OPENED or EVENT_BROKEN follows, or nothing for long.
 */
unsigned wire_open(struct world *w, unsigned client, unsigned node, unsigned server);

/* Append a request; send those that were appended: they leave when the client is no longer busy. */
void wire_put(struct world *w, unsigned wire, const struct message *m);
void wire_flush(struct world *w, unsigned wire);

/* The next answer that has arrived, or NULL; valid until the next wire_put(). */
const struct message *wire_take_answer(struct world *w, unsigned wire);

/* Whether the next one is a part of the command of the one that was taken last. */
bool wire_is_part_next(const struct world *w, unsigned wire);

/* The server sends something by itself; it arrives so much later than usual. */
void wire_push(struct world *w, unsigned wire, enum push_kind kind, unsigned key, uint64_t late_us);

/* When the oldest unanswered request was sent; RLK_NEVER when all are answered. */
uint64_t wire_oldest_us(const struct world *w, unsigned wire);

/* The client closes it; hard: what was sent may be lost. */
void wire_close(struct world *w, unsigned wire, bool hard);

/* It breaks in the network; the client notices a little later. */
void wire_break(struct world *w, unsigned wire);

/* All connections of a server: it has died; it was stopped and goes on. */
void wire_server_ended(struct world *w, unsigned server);
void wire_server_goes_on(struct world *w, unsigned server);

void wire_on_request(struct world *w, unsigned wire);

#endif
