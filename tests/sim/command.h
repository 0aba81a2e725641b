/* command.h - parses the bytes that the library sends into messages to the model of a master. */
#ifndef RLK_TESTS_SIM_COMMAND_H
#define RLK_TESTS_SIM_COMMAND_H

#include "sim/world.h"

/* Parse one whole command. A command that the model does not know is a violation; returns false. */
bool command_read(struct world *w, const char *bytes, size_t len, struct message *ret);

/* The claim with that token; NONE when there is no such claim. */
unsigned command_claim(const struct world *w, const char *token, size_t len);

#endif
