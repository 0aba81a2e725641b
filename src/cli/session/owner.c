/* owner.c - tells the owner text of a broken lock from others. */
#include "cli/session/owner.h"

#include <string.h>

#include <redlock/redlock.h>

bool cli_owner_is_broken(const char *owner)
{
    return strncmp(owner, REDLOCK_BROKEN_BY, strlen(REDLOCK_BROKEN_BY)) == 0;
}

const char *cli_owner_held(const char *owner)
{
    return cli_owner_is_broken(owner) ? "" : "held by ";
}
