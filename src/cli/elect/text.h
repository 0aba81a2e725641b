/* text.h - who leads, in words. */
#ifndef CLI_ELECT_TEXT_H
#define CLI_ELECT_TEXT_H

#include <stddef.h>

struct redlock_leader;

/* Write "leader ID, value VALUE, term N", "nobody" or "not known". */
void cli_leader_text(const struct redlock_leader *leader, char *text, size_t size);

#endif
