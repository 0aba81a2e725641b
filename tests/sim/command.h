/* command.h - parses the bytes that the library sends into messages to the model of a master. */
#ifndef RLK_TESTS_SIM_COMMAND_H
#define RLK_TESTS_SIM_COMMAND_H

#include "sim/world.h"

/* The most locks that a process holds. */
#define COMMAND_PARTS 4

/* Parse one whole command. A renewal of several locks is a message for each of them. Returns how
 * many messages it is. A command that the model does not know is a violation; returns 0. */
unsigned command_read(struct world *w, const char *bytes, size_t len,
                      struct message ret[COMMAND_PARTS]);

/* The claim with that token; NONE when there is no such claim. */
unsigned command_claim(const struct world *w, const char *token, size_t len);

#endif
