/* testing/sha1.c - SHA-1 as in FIPS 180-4, part 6.1. Simple, not fast. */
#include "testing/sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 64

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

static uint32_t mix(int t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20) {
        return (b & c) | (~b & d);
    }
    if (t >= 40 && t < 60) {
        return (b & c) | (b & d) | (c & d);
    }
    return b ^ c ^ d;
}

static void expand(const unsigned char *block, uint32_t w[80])
{
    int t;

    for (t = 0; t < 16; t++) {
        const unsigned char *at = block + 4 * t;

        w[t] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (t = 16; t < 80; t++) {
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    }
}

static void add_block(uint32_t h[5], const unsigned char *block)
{
    static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80];
    uint32_t v[5];
    int t;

    expand(block, w);
    memcpy(v, h, sizeof(v));
    for (t = 0; t < 80; t++) {
        uint32_t sum = rotate(v[0], 5) + mix(t, v[1], v[2], v[3]) + v[4] + k[t / 20] + w[t];

        v[4] = v[3];
        v[3] = v[2];
        v[2] = rotate(v[1], 30);
        v[1] = v[0];
        v[0] = sum;
    }
    for (t = 0; t < 5; t++) {
        h[t] += v[t];
    }
}

/* The last block or two: what is left, a one bit, zeros, the length in bits. */
static void add_tail(uint32_t h[5], const unsigned char *rest, size_t left, uint64_t bits)
{
    unsigned char tail[2 * BLOCK] = {0};
    size_t size = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    size_t i;

    memcpy(tail, rest, left);
    tail[left] = 0x80;
    for (i = 0; i < 8; i++) {
        tail[size - 1 - i] = (unsigned char)(bits >> (8 * i));
    }
    for (i = 0; i < size; i += BLOCK) {
        add_block(h, tail + i);
    }
}

void rlk_sha1_hex(const void *bytes, size_t len, char ret_hex[41])
{
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const unsigned char *at = bytes;
    size_t left = len;
    int i;

    for (; left >= BLOCK; at += BLOCK, left -= BLOCK) {
        add_block(h, at);
    }
    add_tail(h, at, left, (uint64_t)len * 8);
    for (i = 0; i < 5; i++) {
        snprintf(ret_hex + 8 * i, 9, "%08x", h[i]);
    }
}
