/* bare.c - the least that any Redlock client must send: SET NX PX, and a script that compares and
 * deletes. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"

static const char script[] = "local v = redis.call('GET', KEYS[1])\n"
                             "if v == ARGV[1] then\n"
                             "  return redis.call('DEL', KEYS[1])\n"
                             "end\n"
                             "if v then\n"
                             "  return -1\n"
                             "end\n"
                             "return 0\n";

void commands_learn(struct commands *c, const struct wire_node *n)
{
    const char *const words[] = {"SCRIPT", "LOAD", script, NULL};

    wire_ask(n, words, c->sha, sizeof(c->sha));
    if (strlen(c->sha) + 1 != sizeof(c->sha)) {
        errx(1, "%s: did not take the script: %s", n->uri, c->sha);
    }
}

void commands_set_init(const struct commands *c, struct wire_command *set, const char *key,
                       unsigned ttl_ms)
{
    char bytes[WIRE_COMMAND_SIZE], ttl[16];
    int len;

    (void)c;
    snprintf(ttl, sizeof(ttl), "%u", ttl_ms);
    len = snprintf(bytes, sizeof(bytes),
                   "*6\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%d\r\n" WIRE_NO_TOKEN
                   "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$%zu\r\n%s\r\n",
                   strlen(key), key, WIRE_TOKEN_HEX, strlen(ttl), ttl);
    wire_command_init(set, bytes, (size_t)len, "+OK\r\n");
}

void commands_release_init(const struct commands *c, struct wire_command *release, const char *key)
{
    char bytes[WIRE_COMMAND_SIZE];
    int len = snprintf(
        bytes, sizeof(bytes),
        "*5\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$%zu\r\n%s\r\n$%d\r\n" WIRE_NO_TOKEN "\r\n",
        c->sha, strlen(key), key, WIRE_TOKEN_HEX);

    wire_command_init(release, bytes, (size_t)len, ":1\r\n");
}
