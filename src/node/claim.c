/* claim.c - makes claims and tokens, and counts references. */
#include "node/claim.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/rare.h"
#include "net/entropy.h"
#include "node/entries.h"

/* Where the token is written, and the keys. */
static char *token_of(struct rlk_claim *c)
{
    return (char *)(uintptr_t)rlk_claim_token(c);
}

static char *keys_of(struct rlk_claim *c)
{
    return (char *)(uintptr_t)rlk_claim_keys(c);
}

/* A claim with `room` bytes of memory for the keys, which the caller writes. */
static struct rlk_claim *make_claim(struct rlk_claim_source *source, size_t room, unsigned n_keys,
                                    size_t token_len, uint32_t ttl_ms)
{
    size_t lens = n_keys * sizeof(uint16_t);
    size_t size = offsetof(struct rlk_claim, key_len) + lens + token_len + 1 + room;
    struct rlk_claim *c = rlk_pool_take(source->pool, size);

    if (c == NULL) {
        return NULL;
    }
    c->refs = 1;
    c->source = source;
    c->entry = 0;
    c->size = (uint16_t)size;
    c->release = NULL;
    c->set_lost = false;
    c->native_refused = c->script_refused = 0;
    c->hint = c->fence = 0;
    c->lock = NULL;
    c->channel = NULL;
    c->reservation = NULL;
    c->yields = c->contended = c->was_lost = false;
    c->round = 0;
    c->first_node = 0;
    c->ttl_ms = c->life_ms = ttl_ms;
    c->n_keys = (uint8_t)n_keys;
    c->token_len = 0;
    token_of(c)[0] = '\0';
    c->keys_at = (uint16_t)(size - room);
    return c;
}

struct rlk_claim *rlk_claim_new(struct rlk_claim_source *source, const struct rlk_key *prefix,
                                const struct rlk_key *keys, unsigned n_keys, size_t token_len,
                                uint32_t ttl_ms)
{
    struct rlk_claim *c;
    size_t room = n_keys * (prefix->len + 1);
    unsigned i;
    char *at;

    for (i = 0; i < n_keys; i++) {
        room += keys[i].len;
    }
    c = make_claim(source, room, n_keys, token_len, ttl_ms);
    if (c == NULL) {
        return NULL;
    }
    at = keys_of(c);
    for (i = 0; i < n_keys; i++) {
        c->key_len[i] = (uint16_t)(prefix->len + keys[i].len);
        memcpy(at, prefix->bytes, prefix->len);
        memcpy(at + prefix->len, keys[i].bytes, keys[i].len);
        at += c->key_len[i];
        *at++ = '\0';
    }
    return c;
}

uint32_t rlk_claim_key_hash(const struct rlk_claim *c)
{
    static const struct rlk_hash_seed same_everywhere = {{0, 0}};
    const char *at = rlk_claim_keys(c);
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < c->n_keys; i++) {
        sum += rlk_hash(&same_everywhere, at, c->key_len[i]);
        at += c->key_len[i] + 1;
    }
    return (uint32_t)sum;
}

struct rlk_claim *rlk_claim_again(const struct rlk_claim *old)
{
    struct rlk_key keys[REDLOCK_MAX_KEYS];
    static const struct rlk_key none = {"", 0};
    const char *at = rlk_claim_keys(old);
    struct rlk_claim *claim;
    unsigned i;

    for (i = 0; i < old->n_keys; i++) {
        keys[i] = (struct rlk_key){at, old->key_len[i]};
        at += old->key_len[i] + 1;
    }
    claim = rlk_claim_new(old->source, &none, keys, old->n_keys, old->token_len, old->ttl_ms);
    if (claim) {
        claim->first_node = old->first_node;
    }
    return claim;
}

size_t rlk_claim_token_len(const char *owner)
{
    return RLK_TOKEN_HEX + (owner && owner[0] ? 1 + strlen(owner) : 0);
}

static char hex_digit(unsigned char value)
{
    return (char)(value + '0' + (value > 9 ? 'a' - '0' - 10 : 0));
}

/* Without a table, and into its own memory, so that the compiler makes many digits at once. */
static void write_hex(const unsigned char *bytes, char *out)
{
    char digits[RLK_TOKEN_HEX];
    size_t i;

    for (i = 0; i < RLK_TOKEN_BYTES; i++) {
        digits[2 * i] = hex_digit(bytes[i] >> 4);
        digits[2 * i + 1] = hex_digit(bytes[i] & 15);
    }
    memcpy(out, digits, sizeof(digits));
}

int rlk_claim_fresh_token(struct rlk_claim *c, struct rlk_entropy *entropy, const char *owner)
{
    unsigned char random[RLK_TOKEN_BYTES];
    size_t owner_len = strlen(owner);
    char *token = token_of(c);
    int status = rlk_entropy_take(entropy, random, sizeof(random));

    if (status) {
        return status;
    }
    write_hex(random, token);
    c->token_len = RLK_TOKEN_HEX;
    if (owner_len > 0) {
        token[c->token_len++] = ':';
        memcpy(token + c->token_len, owner, owner_len);
        c->token_len = (uint16_t)(c->token_len + owner_len);
    }
    token[c->token_len] = '\0';
    return 0;
}

bool rlk_claim_is_token(const char *token)
{
    return token && token[0] != '\0' && strlen(token) <= RLK_TOKEN_MAX;
}

bool rlk_claim_is_fresh(const char *token)
{
    return strspn(token, "0123456789abcdef") == RLK_TOKEN_HEX &&
           (token[RLK_TOKEN_HEX] == ':' || token[RLK_TOKEN_HEX] == '\0');
}

const char *rlk_claim_owner(const char *token)
{
    return rlk_claim_is_fresh(token) && token[RLK_TOKEN_HEX] ? token + RLK_TOKEN_HEX + 1 : "";
}

bool rlk_claim_is_broken(const char *owner)
{
    return owner && strncmp(owner, REDLOCK_BROKEN_BY, strlen(REDLOCK_BROKEN_BY)) == 0;
}

void rlk_claim_set_token(struct rlk_claim *c, const char *token, size_t len)
{
    memcpy(token_of(c), token, len);
    token_of(c)[len] = '\0';
    c->token_len = (uint16_t)len;
}

_Static_assert(RLK_LEDGER_TOKEN >= RLK_TOKEN_MAX && RLK_LEDGER_KEYS >= REDLOCK_MAX_KEYS &&
                   RLK_LEDGER_KEY >= REDLOCK_MAX_KEY,
               "an entry takes every claim");

void rlk_claim_enter(struct rlk_claim *c)
{
    const struct rlk_ledger_entry entry = {
        .token = rlk_claim_token(c),
        .keys = rlk_claim_keys(c),
        .token_len = c->token_len,
        .n_keys = c->n_keys,
        .key_len = c->key_len,
    };

    if (c->source->entries && c->entry == 0) {
        c->entry = rlk_entries_add(c->source->entries, &entry);
    }
}

void rlk_claim_leave(struct rlk_claim *c)
{
    if (c->source->entries && c->entry) {
        rlk_entries_remove(c->source->entries, c->entry);
    }
    c->entry = 0;
}

/* ---- reservations ---- */

_Static_assert(sizeof(RLK_RESERVED) + RLK_TOKEN_HEX + 1 + REDLOCK_MAX_OWNER <= RLK_TOKEN_MAX + 1,
               "a reservation is no longer than a token");

void rlk_claim_write_reservation(char reservation[RLK_TOKEN_MAX + 1], const char *token,
                                 const char *to)
{
    snprintf(reservation, RLK_TOKEN_MAX + 1, RLK_RESERVED "%.*s:%s", (int)RLK_TOKEN_HEX, token, to);
}

const char *rlk_claim_reserved_for(const char *value)
{
    bool reserved = strncmp(value, RLK_RESERVED, strlen(RLK_RESERVED)) == 0;

    return reserved ? rlk_claim_owner(value + strlen(RLK_RESERVED)) : "";
}

RLK_RARE static void drop_reservation(struct rlk_claim *c)
{
    rlk_pool_give(c->source->pool, c->reservation, strlen(c->reservation) + 1);
    c->reservation = NULL;
}

bool rlk_claim_set_reservation(struct rlk_claim *c, const char *reservation)
{
    size_t size = strlen(reservation) + 1;
    char *copy = rlk_pool_take(c->source->pool, size);

    if (copy == NULL) {
        return false;
    }
    if (c->reservation) {
        drop_reservation(c);
    }
    c->reservation = memcpy(copy, reservation, size);
    return true;
}

/* ---- references ---- */

struct rlk_claim *rlk_claim_ref(struct rlk_claim *c)
{
    c->refs++;
    return c;
}

void rlk_claim_unref(struct rlk_claim *c)
{
    if (c && --c->refs == 0) {
        rlk_claim_free(c);
    }
}

void rlk_claim_free(void *claim)
{
    struct rlk_claim *c = claim;

    rlk_claim_leave(c);
    if (c->reservation) {
        drop_reservation(c);
    }
    rlk_pool_give(c->source->pool, c, c->size);
}
