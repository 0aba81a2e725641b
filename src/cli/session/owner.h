/* owner.h - whose a lock is, from its owner text. */
#ifndef CLI_SESSION_OWNER_H
#define CLI_SESSION_OWNER_H

#include <stdbool.h>

/* Whether the owner text is that of a broken lock, "broken by WHO: REASON". Nobody holds it. */
bool cli_owner_is_broken(const char *owner);

/* What a message says in front of an owner text: "held by ", or "" for that of a broken lock. */
const char *cli_owner_held(const char *owner);

#endif
