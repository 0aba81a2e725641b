/* leader.h - who leads, in words and as JSON. */
#ifndef CLI_SESSION_LEADER_H
#define CLI_SESSION_LEADER_H

#include <stddef.h>
#include <stdio.h>

struct cli_broken;
struct redlock_leader;

/* Write "leader ID, value VALUE, term N", or that nobody leads, or that it is not known who does.
 */
void cli_leader_text(const struct redlock_leader *leader, char *text, size_t size);

/* A leadership that somebody has broken, and the id of the leader; NULL: not known. */
struct cli_former_leader {
    const struct cli_broken *broken;
    const char *id;
};

/* Write one object. A value that is not known is null. former NULL: nobody has broken it. */
void cli_leader_json(FILE *out, const char *key, const struct redlock_leader *leader,
                     const struct cli_former_leader *former);

#endif
