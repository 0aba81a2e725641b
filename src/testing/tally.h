/* testing/tally.h - how often clients did what with each key of one master. */
#ifndef RLK_TESTING_TALLY_H
#define RLK_TESTING_TALLY_H

#include "testing/model.h"

struct tally_key;

struct tally {
    struct tally_key *keys;
};

/* Add one. When out of memory it is not counted, as rlk_testing_memory_failed() then says. */
void rlk_testing_tally_add(struct tally *tally, enum model_deed deed, const char *key);

uint64_t rlk_testing_tally_count(const struct tally *tally, enum model_deed deed, const char *key);

void rlk_testing_tally_free(struct tally *tally);

#endif
