/* command.h - the bytes that the library sends, as messages to the model of a master. */
#ifndef RLK_TESTS_SIM_COMMAND_H
#define RLK_TESTS_SIM_COMMAND_H

#include "sim/world.h"

/* One whole command. What the model does not know is a violation, and false. */
bool command_read(struct world *w, const char *bytes, size_t len, struct message *ret);

/* The claim with that token, NONE when there is none. */
unsigned command_claim(const struct world *w, const char *token, size_t len);

#endif
