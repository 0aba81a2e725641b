/* commands.h - what a floor sends to acquire a key and to release it.
 *
 * Two files define these functions, and a program is linked with one of them:
 *
 *     bare.c   the least that any Redlock client must send
 *     same.c   what libredlock sends for a plain lock, byte for byte */
#ifndef BENCH_COMMANDS_H
#define BENCH_COMMANDS_H

#include <stdbool.h>

#include "wire.h"

#define COMMANDS_SHA_SIZE 41

/* What the masters know. They are all alike, so the replies of the last one count. */
struct commands {
    char sha[COMMANDS_SHA_SIZE]; /* of the release script */
    bool returns_holder;         /* SET ... NX GET works; bare.c does not ask */
    unsigned native;             /* enum rlk_native; bare.c does not ask */
};

/* Teach a master the release script, and find out what it knows. */
void commands_learn(struct commands *c, const struct wire_node *n);

void commands_set_init(const struct commands *c, struct wire_command *set, const char *key,
                       unsigned ttl_ms);
void commands_release_init(const struct commands *c, struct wire_command *release, const char *key);

#endif
