/* unit/records.h - records of masters in one line, for tests.
 *
 *     r = records_make(7, 2, "a1 b1 c1:2! C2@c");
 *
 * That is the record of epoch 2 under ballot 7. Each word is an entry: the mark of its data, one
 * letter; from which epoch on it is a master; after ":" from which epoch on it is one no longer,
 * and
 * "!" if it lost its data; after "@" its address, one letter, too. Without an address it is the
 * letter of the mark. */
#ifndef RLK_TESTS_UNIT_RECORDS_H
#define RLK_TESTS_UNIT_RECORDS_H

#include "core/record.h"

#define RECORDS_MAX_TTL_MS 10000

struct rlk_record records_make(uint64_t ballot, uint32_t epoch, const char *entries);

/* The opposite: what comes after the ballot and the epoch. Lives until the next call. */
const char *records_print(const struct rlk_record *r);

/* An address that lives forever. */
const char *records_address(char letter);

/* The marks in a text of letters; returns how many. */
unsigned records_marks(const char *letters, uint64_t *ret_marks);

#endif
