#include "io/command.h"

#include <hiredis/hiredis.h>
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
#define RELEASE_SHA "d054866951eb7318cb6d2b8c2156e25fafc92d0d"

/* One element in wire form, for words that are known when this is compiled. */
#define BULK2(text) "$2\r\n" text "\r\n"
#define BULK3(text) "$3\r\n" text "\r\n"

void rlk_command_init(struct rlk_command *c)
{
    c->bytes = NULL;
    c->len = 0;
}

void rlk_command_end(struct rlk_command *c)
{
    if (c->bytes && c->bytes != c->room) {
        redisFreeCommand((char *)(uintptr_t)c->bytes);
    }
    rlk_command_init(c);
}

int rlk_command_words(struct rlk_command *c, const char *const *words)
{
    const char *argv[MAX_WORDS];
    size_t lens[MAX_WORDS];
    char *bytes;
    long long len; /* an int before hiredis 1.0 */
    int argc = 0;

    while (argc < MAX_WORDS && words[argc]) {
        argv[argc] = words[argc];
        lens[argc] = strlen(words[argc]);
        argc++;
    }
    rlk_command_init(c);
    len = redisFormatCommandArgv(&bytes, argc, argv, lens);
    if (len < 0) {
        return REDLOCK_ENOMEM;
    }
    c->bytes = bytes;
    c->len = (size_t)len;
    return 0;
}

static void put(struct rlk_command *c, const char *bytes, size_t len)
{
    memcpy(c->room + c->len, bytes, len);
    c->len += len;
}

/* The digits of a number, at the end of `out`; returns the first of them. */
static char *digits(uint32_t n, char *out, size_t size)
{
    char *at = out + size;

    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    return at;
}

static void put_bulk(struct rlk_command *c, const char *text, size_t len)
{
    char room[12];
    char *first = digits((uint32_t)len, room, sizeof(room));

    *--first = '$';
    put(c, first, (size_t)(room + sizeof(room) - first));
    put(c, "\r\n", 2);
    put(c, text, len);
    put(c, "\r\n", 2);
}

static void put_number(struct rlk_command *c, uint32_t n)
{
    char room[12];
    char *first = digits(n, room, sizeof(room));

    put_bulk(c, first, (size_t)(room + sizeof(room) - first));
}

static void begin(struct rlk_command *c, const char *head, size_t len)
{
    c->bytes = c->room;
    c->len = 0;
    put(c, head, len);
}

#define BEGIN(c, head) begin(c, head, sizeof(head) - 1)
#define PUT(c, text) put(c, text, sizeof(text) - 1)

void rlk_command_set(struct rlk_command *c, const struct rlk_claim *claim, bool get)
{
    if (get) {
        BEGIN(c, "*7\r\n" BULK3("SET"));
    } else {
        BEGIN(c, "*6\r\n" BULK3("SET"));
    }
    put_bulk(c, claim->key, claim->key_len);
    put_bulk(c, claim->token, claim->token_len);
    PUT(c, BULK2("NX") BULK2("PX"));
    put_number(c, claim->ttl_ms);
    if (get) {
        PUT(c, BULK3("GET"));
    }
}

void rlk_command_release(struct rlk_command *c, const struct rlk_claim *claim, bool text)
{
    if (text) {
        BEGIN(c, "*5\r\n$4\r\nEVAL\r\n");
        put_bulk(c, rlk_command_release_script, strlen(rlk_command_release_script));
        PUT(c, "$1\r\n1\r\n");
    } else {
        BEGIN(c, "*5\r\n$7\r\nEVALSHA\r\n$40\r\n" RELEASE_SHA "\r\n$1\r\n1\r\n");
    }
    put_bulk(c, claim->key, claim->key_len);
    put_bulk(c, claim->token, claim->token_len);
}

void rlk_command_ask(struct rlk_command *c, const char *verb, const struct rlk_claim *claim)
{
    BEGIN(c, "*2\r\n");
    put_bulk(c, verb, strlen(verb));
    put_bulk(c, claim->key, claim->key_len);
}
