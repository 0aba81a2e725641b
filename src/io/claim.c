#include "io/claim.h"

#include <string.h>

#include "base/alloc.h"
#include "io/entropy.h"

static char *make_key_room(struct rlk_claim *c, size_t len)
{
    c->key = len < sizeof(c->key_inline) ? c->key_inline : rlk_alloc(len + 1);
    return c->key;
}

struct rlk_claim *rlk_claim_new(struct rlk_pool *pool, const char *prefix, size_t prefix_len,
                                const char *key, size_t key_len, uint32_t ttl_ms)
{
    struct rlk_claim *c = rlk_pool_take(pool, sizeof(*c));

    if (c == NULL) {
        return NULL;
    }
    if (make_key_room(c, prefix_len + key_len) == NULL) {
        rlk_pool_give(pool, c);
        return NULL;
    }
    memcpy(c->key, prefix, prefix_len);
    memcpy(c->key + prefix_len, key, key_len);
    c->key_len = prefix_len + key_len;
    c->key[c->key_len] = '\0';
    c->refs = 1;
    c->pool = pool;
    c->release = NULL;
    c->set_lost = false;
    c->lock = NULL;
    c->round = 0;
    c->ttl_ms = ttl_ms;
    c->token_len = 0;
    c->token[0] = '\0';
    return c;
}

int rlk_claim_fresh_token(struct rlk_claim *c, struct rlk_entropy *entropy, const char *owner)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[RLK_TOKEN_BYTES];
    size_t i, owner_len = strlen(owner);
    int status = rlk_entropy_take(entropy, random, sizeof(random));

    if (status) {
        return status;
    }
    for (i = 0; i < sizeof(random); i++) {
        c->token[2 * i] = digits[random[i] >> 4];
        c->token[2 * i + 1] = digits[random[i] & 15];
    }
    c->token_len = RLK_TOKEN_HEX;
    if (owner_len > 0) {
        c->token[c->token_len++] = ':';
        memcpy(c->token + c->token_len, owner, owner_len);
        c->token_len += owner_len;
    }
    c->token[c->token_len] = '\0';
    return 0;
}

void rlk_claim_set_token(struct rlk_claim *c, const char *token, size_t len)
{
    memcpy(c->token, token, len);
    c->token[len] = '\0';
    c->token_len = len;
}

struct rlk_claim *rlk_claim_ref(struct rlk_claim *c)
{
    c->refs++;
    return c;
}

void rlk_claim_unref(struct rlk_claim *c)
{
    if (c == NULL || --c->refs > 0) {
        return;
    }
    if (c->key != c->key_inline) {
        rlk_free(c->key);
    }
    rlk_pool_give(c->pool, c);
}
