/* hash.h - a number of some bytes that nobody can predict without its seed.
 *
 * The names of keys come from users, and from users of users. With a plain hash somebody could
 * choose names that all get the same number, and make each search in a table as slow as a list.
 *
 * SipHash-2-4 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012). Its authors publish
 * numbers to compare with. */
#ifndef RLK_BASE_HASH_H
#define RLK_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* 16 random bytes. */
struct rlk_hash_seed {
    uint64_t words[2];
};

uint64_t rlk_hash(const struct rlk_hash_seed *seed, const void *bytes, size_t len);

#endif
