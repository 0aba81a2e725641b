/* variables.c - writes what is known of a lock into our environment, which CMD inherits. */
#include "cli/run/variables.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <redlock/lock.h>

#include "cli/args/keys.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"

int cli_variables_put(const char *name, const char *value)
{
    return value ? setenv(name, value, 1) : unsetenv(name);
}

static int put_number(const char *name, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    return setenv(name, text, 1);
}

static int put_keys(const struct cli_keys *keys)
{
    char *lines = cli_keys_join(keys, "\n");
    bool failed = lines == NULL || setenv("REDLOCK_KEY", keys->keys[0], 1) != 0 ||
                  setenv("REDLOCK_KEYS", lines, 1) != 0;

    free(lines);
    return failed ? -1 : 0;
}

/* A fencing token that was inherited belongs to another lock. */
static int put_fence(const struct redlock_lock *lock)
{
    uint64_t fence = redlock_lock_fencing_token(lock);

    return fence ? put_number("REDLOCK_FENCING_TOKEN", fence) : unsetenv("REDLOCK_FENCING_TOKEN");
}

int cli_variables_set(const struct cli_keys *keys, const struct redlock_lock *lock)
{
    uint32_t tries;
    uint64_t took_us;

    redlock_lock_effort(lock, &tries, &took_us);
    if (put_keys(keys) != 0 || put_fence(lock) != 0 || put_number("REDLOCK_TRIES", tries) != 0 ||
        cli_variables_put("REDLOCK_TOKEN", redlock_lock_token(lock)) != 0 ||
        put_number("REDLOCK_TOOK_US", took_us) != 0) {
        cli_say("out of memory");
        return CLI_INTERNAL;
    }
    return CLI_OK;
}
