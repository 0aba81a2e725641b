/* same.c - what libredlock sends for a plain lock that nobody waits for, byte for byte.
 *
 * The library's own functions (src/node/command.h) write the commands, with the library's script.
 * As the library does, this program asks each master which commands it knows.
 * tests/io/test_floor.c compares the bytes. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"

#include "base/pool.h"
#include "core/server.h"
#include "node/command.h"

/* An error about the arguments shows that the master knows the command. */
static bool knows(const struct wire_node *n, const char *command)
{
    const char *const words[] = {command, NULL};
    char answer[128];

    wire_ask(n, words, answer, sizeof(answer));
    return strstr(answer, "wrong number of arguments") != NULL;
}

static unsigned native_of(const struct wire_node *n)
{
    if (knows(n, "DELEX")) {
        return RLK_NATIVE_DELEX;
    }
    return knows(n, "DELIFEQ") ? RLK_NATIVE_DELIFEQ : RLK_NATIVE_NONE;
}

/* Valkey names itself in INFO. */
static bool returns_holder(const struct wire_node *n)
{
    static const char field[] = "redis_version:";
    const char *const words[] = {"INFO", "server", NULL};
    char info[4096];
    const char *version;

    wire_ask(n, words, info, sizeof(info));
    version = strstr(info, field);
    return rlk_server_returns_holder(strstr(info, "server_name:valkey") ? "valkey" : "redis",
                                     version ? version + sizeof(field) - 1 : "");
}

static void load(const struct wire_node *n)
{
    const char *const words[] = {"SCRIPT", "LOAD", rlk_script_release.text, NULL};
    char sha[sizeof(rlk_script_release.sha)];

    wire_ask(n, words, sha, sizeof(sha));
    if (strcmp(sha, rlk_script_release.sha) != 0) {
        errx(1, "%s: did not take the script: %s", n->uri, sha);
    }
}

void commands_learn(struct commands *c, const struct wire_node *n)
{
    load(n);
    strcpy(c->sha, rlk_script_release.sha);
    c->native = native_of(n);
    c->returns_holder = returns_holder(n);
}

/* A claim to the key, with a token that is filled in later; its release wakes the first waiter. */
static struct rlk_claim *new_claim(const char *key, unsigned ttl_ms)
{
    static struct rlk_pool pool;
    static struct rlk_claim_source source = {.pool = &pool};
    struct rlk_key prefix = {"", 0}, name = {key, strlen(key)};
    struct rlk_claim *claim = rlk_claim_new(&source, &prefix, &name, 1, WIRE_TOKEN_HEX, ttl_ms);

    if (claim == NULL) {
        errx(1, "out of memory");
    }
    rlk_claim_set_token(claim, WIRE_NO_TOKEN, WIRE_TOKEN_HEX);
    claim->channel = "";
    return claim;
}

void commands_set_init(const struct commands *c, struct wire_command *set, const char *key,
                       unsigned ttl_ms)
{
    static struct rlk_command written;
    struct rlk_claim *claim = new_claim(key, ttl_ms);

    rlk_command_set(&written, claim, c->returns_holder);
    wire_command_init(set, written.bytes, written.len, c->returns_holder ? "$-1\r\n" : "+OK\r\n");
    rlk_claim_unref(claim);
}

/* The command that looks for waiters follows in the same packet. */
static void release_natively(const struct commands *c, struct wire_command *release,
                             const struct rlk_claim *claim)
{
    static struct rlk_command written;
    static char both[2 * RLK_COMMAND_SIZE];
    size_t len;

    rlk_command_delete(&written, claim, (enum rlk_native)c->native);
    len = written.len;
    memcpy(both, written.bytes, len);
    rlk_command_ask(&written, "EXISTS", claim, RLK_COMMAND_WAITING);
    memcpy(both + len, written.bytes, written.len);
    wire_command_init(release, both, len + written.len, ":1\r\n:0\r\n");
}

void commands_release_init(const struct commands *c, struct wire_command *release, const char *key)
{
    static struct rlk_command written;
    struct rlk_claim *claim = new_claim(key, 0);

    if (c->native != RLK_NATIVE_NONE) {
        release_natively(c, release, claim);
    } else {
        rlk_command_release(&written, claim, false, NULL);
        wire_command_init(release, written.bytes, written.len, ":1\r\n");
    }
    rlk_claim_unref(claim);
}
