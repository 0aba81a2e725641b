/* owner.h - whose a lock is, from its owner text. */
#ifndef CLI_SESSION_OWNER_H
#define CLI_SESSION_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct redlock_query_result;

/* Whether the owner text is that of a broken lock, "broken by WHO: REASON". Nobody holds it. */
bool cli_owner_is_broken(const char *owner);

/* What a message says in front of an owner text: "held by ", or "" for that of a broken lock. */
const char *cli_owner_held(const char *owner);

/* A lock that somebody has broken, and whose former holder may not have noticed. */
struct cli_broken {
    const char *by;   /* "WHO: REASON", of the result; NULL: it is not broken */
    uint64_t left_ms; /* for how long the former holder may go on, at most */
};

/* Whether a majority of the masters has the key of a broken lock. */
struct cli_broken cli_broken_find(const struct redlock_query_result *result);

/* Write the fields broken_by and broken_ms; null, when it is not broken. */
void cli_broken_json(FILE *out, const struct cli_broken *broken);

#endif
