/* wire.h - connections between clients and servers, and what is on the way.
 *
 * On one connection everything keeps its order; between two there is none. A message is
 * never lost while its connection lives: it is late. When a connection breaks, a first part of
 * what was on its way to the server arrives all the same, perhaps much later (the server may
 * stand still with it in its socket), and of the answers none does. */
#ifndef RLK_TESTS_SIM_WIRE_H
#define RLK_TESTS_SIM_WIRE_H

#include "sim/world.h"

/* Begin to connect; the client hears EVENT_OPENED or EVENT_BROKEN, or nothing for long. */
unsigned wire_open(struct world *w, unsigned client, unsigned node);

/* Append a request; send those that were: they leave when the client is not busy any more. */
void wire_put(struct world *w, unsigned wire, const struct message *m);
void wire_flush(struct world *w, unsigned wire);

/* The next answer that has come, or NULL; valid until something is put. */
const struct message *wire_take_answer(struct world *w, unsigned wire);

/* When the oldest unanswered request was sent; RLK_NEVER when there is none. */
uint64_t wire_oldest_us(const struct world *w, unsigned wire);

/* The client lets go of it; hard: what was sent may be lost. */
void wire_close(struct world *w, unsigned wire, bool hard);

/* It breaks on its way; the client is told a little later. */
void wire_break(struct world *w, unsigned wire);

/* All connections of a server: it has died; it stood still and goes on. */
void wire_server_ended(struct world *w, unsigned server);
void wire_server_goes_on(struct world *w, unsigned server);

void wire_on_request(struct world *w, unsigned wire);

#endif
