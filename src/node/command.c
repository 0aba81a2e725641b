#include "node/command.h"

#include <string.h>

#include "net/format.h"
#include "node/claim.h"

const char rlk_command_release_script[] = "local n = 0\n"
                                          "local taken = false\n"
                                          "for i = 1, #KEYS do\n"
                                          "  local v = redis.call('GET', KEYS[i])\n"
                                          "  if v == ARGV[1] then\n"
                                          "    n = n + redis.call('DEL', KEYS[i])\n"
                                          "  elseif v then\n"
                                          "    taken = true\n"
                                          "  end\n"
                                          "end\n"
                                          "if taken then\n"
                                          "  return -1\n"
                                          "end\n"
                                          "return n == #KEYS and 1 or 0\n";

const char rlk_command_take_script[] =
    "if redis.replicate_commands then redis.replicate_commands() end\n"
    "local mine = 0\n"
    "for i = 1, #KEYS do\n"
    "  local v = redis.call('GET', KEYS[i])\n"
    "  if v == ARGV[1] then\n"
    "    mine = mine + 1\n"
    "  elseif v then\n"
    "    return v\n"
    "  end\n"
    "end\n"
    "local raise = {}\n"
    "for i = 1, ARGV[3] and #KEYS or 0 do\n"
    "  local c = KEYS[i] .. ':redlock-fence'\n"
    "  if (tonumber(redis.call('GET', c)) or 0) <= tonumber(ARGV[3]) then\n"
    "    raise[#raise + 1] = c\n"
    "  end\n"
    "end\n"
    "for i = 1, #KEYS do\n"
    "  if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[2]) then\n"
    "    redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2])\n"
    "  end\n"
    "end\n"
    "for _, c in ipairs(raise) do\n"
    "  redis.call('SET', c, ARGV[3], 'PX', 604800000)\n"
    "end\n"
    "return mine == #KEYS and 2 or 1\n";

const char rlk_command_keep_script[] =
    "if redis.replicate_commands then redis.replicate_commands() end\n"
    "for i = 1, #KEYS do\n"
    "  local v = redis.call('GET', KEYS[i])\n"
    "  if v ~= ARGV[1] then\n"
    "    return v or 0\n"
    "  end\n"
    "end\n"
    "local raise = {}\n"
    "for i = 1, ARGV[3] and #KEYS or 0 do\n"
    "  local c = KEYS[i] .. ':redlock-fence'\n"
    "  if (tonumber(redis.call('GET', c)) or 0) <= tonumber(ARGV[3]) then\n"
    "    raise[#raise + 1] = c\n"
    "  end\n"
    "end\n"
    "for i = 1, #KEYS do\n"
    "  if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[2]) then\n"
    "    redis.call('PEXPIRE', KEYS[i], ARGV[2])\n"
    "  end\n"
    "end\n"
    "for _, c in ipairs(raise) do\n"
    "  redis.call('SET', c, ARGV[3], 'PX', 604800000)\n"
    "end\n"
    "return 1\n";

const char rlk_command_vote_script[] =
    "local mine = 0\n"
    "for i = 1, #KEYS do\n"
    "  local v = redis.call('GET', KEYS[i])\n"
    "  if v == ARGV[1] then\n"
    "    mine = mine + 1\n"
    "  elseif v then\n"
    "    return v\n"
    "  end\n"
    "end\n"
    "if mine > 0 then\n"
    "  return 2\n"
    "end\n"
    "local f = tonumber(ARGV[3])\n"
    "for i = 1, #KEYS do\n"
    "  local c = tonumber(redis.call('GET', KEYS[i] .. ':redlock-fence')) or 0\n"
    "  if c >= f then\n"
    "    f = c + 1\n"
    "  end\n"
    "end\n"
    "if f >= 4503599627370496 then\n"
    "  return redis.error_reply('FENCE the counter has no numbers left: ' ..\n"
    "    'delete it when nothing remembers its fences')\n"
    "end\n"
    "local same = 1\n"
    "if ARGV[5] ~= '' then\n"
    "  local v = redis.call('GET', ARGV[4]) or ''\n"
    "  same = string.sub(v, 1, #ARGV[5]) == ARGV[5] and 1 or 0\n"
    "end\n"
    "for i = 1, #KEYS do\n"
    "  redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2])\n"
    "  redis.call('SET', KEYS[i] .. ':redlock-fence', string.format('%.0f', f), 'PX', 604800000)\n"
    "end\n"
    "return {f, same}\n";

const char rlk_command_confirm_script[] =
    "for i = 1, #KEYS do\n"
    "  local c = tonumber(redis.call('GET', KEYS[i] .. ':redlock-fence')) or 0\n"
    "  if redis.call('GET', KEYS[i]) ~= ARGV[1] or c > tonumber(ARGV[2]) then\n"
    "    return 0\n"
    "  end\n"
    "end\n"
    "for i = 1, #KEYS do\n"
    "  redis.call('SET', KEYS[i] .. ':redlock-fence', ARGV[2], 'PX', 604800000)\n"
    "end\n"
    "return 1\n";

/* SHA-1 of the texts above; a live test compares them with what SCRIPT LOAD says. */
static const char release_sha[] = "488a19661b61470318f71acdc390dc7429f941ee";
static const char take_sha[] = "8b3e7945ba78e342d17a43cb09a7d8e7d35ece6b";
static const char keep_sha[] = "9311cc1fa3ae9dd75966942f9226760cd2e0b1b0";
static const char vote_sha[] = "d3b5c32a0e22d298476a88f79fd13c00edcbf71f";
static const char confirm_sha[] = "983b7f7683c6a4370afb7a86a76d1652d2c2d643";

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
        rlk_format_free(c->bytes);
    }
    rlk_command_init(c);
}

int rlk_command_words(struct rlk_command *c, const char *const *words)
{
    rlk_command_init(c);
    return rlk_format_words(words, &c->bytes, &c->len);
}

static void put(struct rlk_command *c, const char *bytes, size_t len)
{
    memcpy(c->room + c->len, bytes, len);
    c->len += len;
}

/* The digits of a number, at the end of `out`; returns the first of them. */
static char *digits(uint64_t n, char *out, size_t size)
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

static void put_number(struct rlk_command *c, uint64_t n)
{
    char room[24];
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
    put_bulk(c, claim->key, claim->key_len[0]);
    put_bulk(c, claim->token, claim->token_len);
    PUT(c, BULK2("NX") BULK2("PX"));
    put_number(c, claim->ttl_ms);
    if (get) {
        PUT(c, BULK3("GET"));
    }
}

static void put_keys(struct rlk_command *c, const struct rlk_claim *claim)
{
    const char *key = claim->key;
    unsigned i;

    put_number(c, claim->n_keys);
    for (i = 0; i < claim->n_keys; i++) {
        put_bulk(c, key, claim->key_len[i]);
        key += claim->key_len[i] + 1;
    }
}

/* EVAL or EVALSHA of a script with the keys, the token and `more` further arguments to come. */
static void begin_script(struct rlk_command *c, const struct rlk_claim *claim, const char *script,
                         const char *sha, unsigned more)
{
    char room[12];
    char *first = digits(claim->n_keys + 4 + more, room, sizeof(room));

    BEGIN(c, "*");
    put(c, first, (size_t)(room + sizeof(room) - first));
    if (script) {
        PUT(c, "\r\n$4\r\nEVAL\r\n");
        put_bulk(c, script, strlen(script));
    } else {
        PUT(c, "\r\n$7\r\nEVALSHA\r\n");
        put_bulk(c, sha, 40);
    }
    put_keys(c, claim);
    put_bulk(c, claim->token, claim->token_len);
}

void rlk_command_release(struct rlk_command *c, const struct rlk_claim *claim, bool text)
{
    begin_script(c, claim, text ? rlk_command_release_script : NULL, release_sha, 0);
}

/* The ttl, and the fence of a lock that has one. */
static void put_ttl_and_fence(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms)
{
    put_number(c, ttl_ms);
    if (claim->fence) {
        put_number(c, claim->fence);
    }
}

void rlk_command_take(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                      bool text)
{
    begin_script(c, claim, text ? rlk_command_take_script : NULL, take_sha, claim->fence ? 2 : 1);
    put_ttl_and_fence(c, claim, ttl_ms);
}

void rlk_command_keep(struct rlk_command *c, const struct rlk_claim *claim, uint32_t ttl_ms,
                      bool text)
{
    begin_script(c, claim, text ? rlk_command_keep_script : NULL, keep_sha, claim->fence ? 2 : 1);
    put_ttl_and_fence(c, claim, ttl_ms);
}

void rlk_command_vote(struct rlk_command *c, const struct rlk_claim *claim, const char *key,
                      const char *incarnation, bool text)
{
    begin_script(c, claim, text ? rlk_command_vote_script : NULL, vote_sha, 4);
    put_number(c, claim->ttl_ms);
    put_number(c, claim->hint);
    put_bulk(c, key, strlen(key));
    put_bulk(c, incarnation, strlen(incarnation));
}

void rlk_command_confirm(struct rlk_command *c, const struct rlk_claim *claim, bool text)
{
    begin_script(c, claim, text ? rlk_command_confirm_script : NULL, confirm_sha, 1);
    put_number(c, claim->fence);
}

void rlk_command_ask(struct rlk_command *c, const char *verb, const struct rlk_claim *claim)
{
    BEGIN(c, "*2\r\n");
    put_bulk(c, verb, strlen(verb));
    put_bulk(c, claim->key, claim->key_len[0]);
}

void rlk_command_ask_fence(struct rlk_command *c, const struct rlk_claim *claim)
{
    char key[REDLOCK_MAX_KEY + sizeof(RLK_COMMAND_COUNTER)];

    memcpy(key, claim->key, claim->key_len[0]);
    memcpy(key + claim->key_len[0], RLK_COMMAND_COUNTER, sizeof(RLK_COMMAND_COUNTER));
    BEGIN(c, "*2\r\n" BULK3("GET"));
    put_bulk(c, key, claim->key_len[0] + sizeof(RLK_COMMAND_COUNTER) - 1);
}
