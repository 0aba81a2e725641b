/* tally.h - the violations of many histories: how many there are of each kind, and their seeds.
 *
 * Two violations are of one kind if their texts differ in numbers only. Each process writes its
 * violations to a file of its own, in the form of a file of seeds: "SEED [ASSUMPTION] # text". */
#ifndef RLK_TESTS_SIM_TALLY_H
#define RLK_TESTS_SIM_TALLY_H

#include <stdint.h>
#include <stdio.h>

#include "sim/options.h"

struct tally {
    struct violation *all;
    size_t n, cap;
};

void tally_write(FILE *f, uint64_t seed, enum assumption broken, const char *text);

/* Add what was written to a file, from its beginning on. */
void tally_read(struct tally *t, FILE *f);

/* Each kind with its number and its seeds, of which the first hundred; the kinds in the order of
 * the alphabet. */
void tally_print(struct tally *t);

/* All violations to a file, as they were written, in the order of their seeds. Returns 0 or -1. */
int tally_save(struct tally *t, const char *path);

void tally_free(struct tally *t);

#endif
