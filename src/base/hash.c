/* hash.c - SipHash-2-4. */
#include "base/hash.h"

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4], unsigned rounds)
{
    for (; rounds > 0; rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

/* Up to eight bytes, the first one lowest, on every machine. */
static uint64_t word_of(const unsigned char *bytes, size_t len)
{
    uint64_t word = 0;
    size_t i;

    for (i = 0; i < len; i++) {
        word |= (uint64_t)bytes[i] << (8 * i);
    }
    return word;
}

uint64_t rlk_hash(const struct rlk_hash_seed *seed, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t v[4] = {seed->words[0] ^ UINT64_C(0x736f6d6570736575),
                     seed->words[1] ^ UINT64_C(0x646f72616e646f6d),
                     seed->words[0] ^ UINT64_C(0x6c7967656e657261),
                     seed->words[1] ^ UINT64_C(0x7465646279746573)};
    size_t left = len;

    for (; left >= 8; at += 8, left -= 8) {
        absorb(v, word_of(at, 8));
    }
    absorb(v, word_of(at, left) | (uint64_t)len << 56);
    v[2] ^= 0xff;
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
