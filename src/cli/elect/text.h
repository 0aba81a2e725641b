/* text.h - who leads, in words. */
#ifndef CLI_ELECT_TEXT_H
#define CLI_ELECT_TEXT_H

#include <stddef.h>

struct redlock_leader;

/* Write "leader ID, value VALUE, term N", or that nobody leads, or that it is not known who does.
 */
void cli_leader_text(const struct redlock_leader *leader, char *text, size_t size);

#endif
