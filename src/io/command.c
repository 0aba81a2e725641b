#include "io/command.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "io/claim.h"

#define MAX_WORDS 8

const char rlk_command_release_script[] = "local v = redis.call('GET', KEYS[1])\n"
                                          "if v == ARGV[1] then\n"
                                          "  return redis.call('DEL', KEYS[1])\n"
                                          "end\n"
                                          "if v then\n"
                                          "  return -1\n"
                                          "end\n"
                                          "return 0\n";

/* SHA-1 of the text above; a live test compares it with what SCRIPT LOAD says. */
static const char release_sha[] = "d054866951eb7318cb6d2b8c2156e25fafc92d0d";

static int format(struct rlk_command *c, int argc, const char **argv, const size_t *lens)
{
    int len = redisFormatCommandArgv(&c->bytes, argc, argv, lens);

    if (len < 0) {
        c->bytes = NULL;
        c->len = 0;
        return REDLOCK_ENOMEM;
    }
    c->len = (size_t)len;
    return 0;
}

void rlk_command_end(struct rlk_command *c)
{
    if (c->bytes) {
        redisFreeCommand(c->bytes);
    }
    c->bytes = NULL;
}

int rlk_command_words(struct rlk_command *c, const char *const *words)
{
    const char *argv[MAX_WORDS];
    size_t lens[MAX_WORDS];
    int argc = 0;

    while (argc < MAX_WORDS && words[argc]) {
        argv[argc] = words[argc];
        lens[argc] = strlen(words[argc]);
        argc++;
    }
    return format(c, argc, argv, lens);
}

int rlk_command_set(struct rlk_command *c, const struct rlk_claim *claim, bool get)
{
    const char *argv[7] = {"SET", claim->key, claim->token, "NX", "PX", claim->ttl_text, "GET"};
    const size_t lens[7] = {3, claim->key_len, claim->token_len, 2, 2, claim->ttl_len, 3};

    return format(c, get ? 7 : 6, argv, lens);
}

int rlk_command_release(struct rlk_command *c, const struct rlk_claim *claim, bool text)
{
    const char *argv[5] = {text ? "EVAL" : "EVALSHA",
                           text ? rlk_command_release_script : release_sha, "1", claim->key,
                           claim->token};
    const size_t lens[5] = {strlen(argv[0]), strlen(argv[1]), 1, claim->key_len, claim->token_len};

    return format(c, 5, argv, lens);
}

int rlk_command_ask(struct rlk_command *c, const char *verb, const char *key, size_t key_len)
{
    const char *argv[2] = {verb, key};
    const size_t lens[2] = {strlen(verb), key_len};

    return format(c, 2, argv, lens);
}
