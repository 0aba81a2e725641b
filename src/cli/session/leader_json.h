/* leader_json.h - who leads, as JSON. */
#ifndef CLI_SESSION_LEADER_JSON_H
#define CLI_SESSION_LEADER_JSON_H

#include <stdio.h>

struct redlock_leader;

/* Write one object. A value that is not known is null. */
void cli_leader_json(FILE *out, const char *key, const struct redlock_leader *leader);

#endif
