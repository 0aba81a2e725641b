/* command.c - writes SET and the scripts in RESP. */
#include "node/command.h"

#include <string.h>

#include "base/digits.h"
#include "net/format.h"

/* A word of 2 or 3 bytes in RESP, made by the compiler. */
#define BULK2(text) "$2\r\n" text "\r\n"
#define BULK3(text) "$3\r\n" text "\r\n"

void rlk_command_init(struct rlk_command *c)
{
    c->bytes = NULL;
    c->len = 0;
}

void rlk_command_end(struct rlk_command *c)
{
    if (c->bytes && c->bytes != c->buffer) {
        rlk_format_free(c->bytes, c->len);
    }
    rlk_command_init(c);
}

int rlk_command_words(struct rlk_command *c, const char *const *words)
{
    rlk_command_init(c);
    return rlk_format_words(words, &c->bytes, &c->len);
}

/* These are called for each word of each command, so they are small enough to be inlined. */
static inline void put_bytes(struct rlk_command *c, const char *bytes, size_t len)
{
    memcpy(c->buffer + c->len, bytes, len);
    c->len += len;
}

#define PUT(c, text) put_bytes(c, text, sizeof(text) - 1)

static void put_decimal(struct rlk_command *c, uint64_t n, size_t digits)
{
    c->len += digits;
    rlk_digits(n, c->buffer + c->len);
}

/* The kind of what follows, and its length: "$40\r\n". */
static void put_length(struct rlk_command *c, char kind, size_t n)
{
    c->buffer[c->len++] = kind;
    put_decimal(c, n, rlk_digits_count(n));
    PUT(c, "\r\n");
}

static void put_bulk(struct rlk_command *c, const char *text, size_t len)
{
    put_length(c, '$', len);
    put_bytes(c, text, len);
    PUT(c, "\r\n");
}

static void put_number(struct rlk_command *c, uint64_t n)
{
    size_t digits = rlk_digits_count(n);

    put_length(c, '$', digits);
    put_decimal(c, n, digits);
    PUT(c, "\r\n");
}

static inline void begin_command(struct rlk_command *c, const char *head, size_t len)
{
    c->bytes = c->buffer;
    c->len = 0;
    put_bytes(c, head, len);
}

#define BEGIN(c, head) begin_command(c, head, sizeof(head) - 1)

void rlk_command_set(struct rlk_command *c, const struct rlk_claim *claim, bool get)
{
    if (get) {
        BEGIN(c, "*7\r\n" BULK3("SET"));
    } else {
        BEGIN(c, "*6\r\n" BULK3("SET"));
    }
    put_bulk(c, claim->key, claim->key_len[0]);
    put_bulk(c, claim->token, claim->token_len);
    PUT(c, BULK2("NX") BULK2("PX"));
    put_number(c, claim->ttl_ms);
    if (get) {
        PUT(c, BULK3("GET"));
    }
}

/* The caller adds so many words. */
static void begin_array(struct rlk_command *c, unsigned words)
{
    BEGIN(c, "");
    put_length(c, '*', words);
}

static void put_keys(struct rlk_command *c, const struct rlk_claim *claim)
{
    const char *key = claim->key;
    unsigned i;

    for (i = 0; i < claim->n_keys; i++) {
        put_bulk(c, key, claim->key_len[i]);
        key += claim->key_len[i] + 1;
    }
}

/* The script and how many keys it gets. The caller adds these and the arguments. */
static void begin_call(struct rlk_command *c, const struct rlk_script *script, bool text,
                       unsigned n_keys, unsigned arguments)
{
    begin_array(c, n_keys + 3 + arguments);
    if (text) {
        PUT(c, "$4\r\nEVAL\r\n");
        put_bulk(c, script->text, script->len);
    } else {
        PUT(c, "$7\r\nEVALSHA\r\n$40\r\n");
        put_bytes(c, script->sha, sizeof(script->sha) - 1);
        PUT(c, "\r\n");
    }
    put_number(c, n_keys);
}

/* The script and the keys. The caller adds the arguments. */
static void begin_keys(struct rlk_command *c, const struct rlk_script *script, bool text,
                       const struct rlk_claim *claim, unsigned arguments)
{
    begin_call(c, script, text, claim->n_keys, arguments);
    put_keys(c, claim);
}

/* The same and the token. The caller adds `more` arguments. */
static void begin_script(struct rlk_command *c, const struct rlk_script *script, bool text,
                         const struct rlk_claim *claim, unsigned more)
{
    begin_keys(c, script, text, claim, 1 + more);
    put_bulk(c, claim->token, claim->token_len);
}

void rlk_command_release(struct rlk_command *c, const struct rlk_claim *claim, bool text)
{
    begin_script(c, &rlk_script_release, text, claim, claim->channel ? 1 : 0);
    if (claim->channel) {
        put_bulk(c, claim->channel, strlen(claim->channel));
    }
}

/* Take or keep: the ttl follows, and the fencing token when the lock has one. */
static void format_with_ttl(struct rlk_command *c, const struct rlk_script *script, bool text,
                            const struct rlk_claim *claim, uint32_t ttl_ms)
{
    begin_script(c, script, text, claim, claim->fence ? 2 : 1);
    put_number(c, ttl_ms);
    if (claim->fence) {
        put_number(c, claim->fence);
    }
}

void rlk_command_take(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                      bool text)
{
    format_with_ttl(c, &rlk_script_take, text, claim, ttl_ms);
}

void rlk_command_keep(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                      bool text)
{
    format_with_ttl(c, &rlk_script_keep, text, claim, ttl_ms);
}

/* Each key, the token and the fencing token: a length with its "$" and two line ends. */
#define WORD_SIZE 16

size_t rlk_command_keep_size(const struct rlk_claim *claim)
{
    size_t size = (claim->n_keys + 1) * WORD_SIZE + claim->token_len + 2 * WORD_SIZE;
    unsigned i;

    for (i = 0; i < claim->n_keys; i++) {
        size += claim->key_len[i];
    }
    return size;
}

void rlk_command_keep_all(struct rlk_command *c, struct rlk_claim *const *claims, unsigned n,
                          uint32_t ttl_ms, bool text)
{
    bool fenced = claims[0]->fence != 0;
    unsigned each = claims[0]->n_keys, i;

    begin_call(c, &rlk_script_keep_all, text, n * each, 2 + n + (fenced ? n : 0));
    for (i = 0; i < n; i++) {
        put_keys(c, claims[i]);
    }
    put_number(c, ttl_ms);
    put_number(c, each);
    for (i = 0; i < n; i++) {
        put_bulk(c, claims[i]->token, claims[i]->token_len);
    }
    for (i = 0; i < n && fenced; i++) {
        put_number(c, claims[i]->fence);
    }
}

void rlk_command_vote(struct rlk_command *c, const struct rlk_claim *claim, bool text)
{
    begin_script(c, &rlk_script_vote, text, claim, 4);
    put_number(c, claim->ttl_ms);
    put_number(c, claim->hint);
    c->common = c->len;
}

void rlk_command_mark(struct rlk_command *c, const char *key, const char *start)
{
    c->len = c->common;
    put_bulk(c, key, strlen(key));
    put_bulk(c, start, strlen(start));
}

void rlk_command_confirm(struct rlk_command *c, const struct rlk_claim *claim, bool text)
{
    begin_script(c, &rlk_script_confirm, text, claim, 1);
    put_number(c, claim->fence);
}

void rlk_command_wait(struct rlk_command *c, const struct rlk_claim *claim, const char *channel,
                      bool text)
{
    begin_keys(c, &rlk_script_wait, text, claim, 4);
    put_bulk(c, channel, strlen(channel));
    put_number(c, claim->ticket_us);
    put_number(c, claim->yields);
    put_number(c, RLK_COMMAND_WAITING_MS);
}

void rlk_command_leave(struct rlk_command *c, const struct rlk_claim *claim, const char *channel,
                       bool text)
{
    begin_keys(c, &rlk_script_leave, text, claim, 1);
    put_bulk(c, channel, strlen(channel));
}

void rlk_command_delete(struct rlk_command *c, const struct rlk_claim *claim,
                        enum rlk_native native)
{
    if (native == RLK_NATIVE_DELEX) {
        BEGIN(c, "*4\r\n$5\r\nDELEX\r\n");
        put_keys(c, claim);
        PUT(c, "$4\r\nIFEQ\r\n");
    } else {
        BEGIN(c, "*3\r\n$7\r\nDELIFEQ\r\n");
        put_keys(c, claim);
    }
    put_bulk(c, claim->token, claim->token_len);
}

void rlk_command_exist(struct rlk_command *c, const struct rlk_claim *claim)
{
    begin_array(c, claim->n_keys + 1);
    PUT(c, "$6\r\nEXISTS\r\n");
    put_keys(c, claim);
}

/* The name of the first key with `ending` behind it. */
static void put_named(struct rlk_command *c, const struct rlk_claim *claim, const char *ending)
{
    char key[REDLOCK_MAX_KEY + sizeof(RLK_COMMAND_COUNTER) + sizeof(RLK_COMMAND_WAITING)];
    size_t len = claim->key_len[0], more = strlen(ending);

    memcpy(key, claim->key, len);
    memcpy(key + len, ending, more);
    put_bulk(c, key, len + more);
}

void rlk_command_exist_counted(struct rlk_command *c, const struct rlk_claim *claim)
{
    BEGIN(c, "*3\r\n$6\r\nEXISTS\r\n");
    put_named(c, claim, "");
    put_named(c, claim, RLK_COMMAND_COUNTER);
}

void rlk_command_ask(struct rlk_command *c, const char *verb, const struct rlk_claim *claim,
                     const char *ending)
{
    BEGIN(c, "*2\r\n");
    put_bulk(c, verb, strlen(verb));
    put_named(c, claim, ending);
}
