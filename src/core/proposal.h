/* proposal.h - the record that has to be written, and whether enough masters have promised to
 * accept it [S15, M1, M4, M5, M7, M8]. */
#ifndef RLK_CORE_PROPOSAL_H
#define RLK_CORE_PROPOSAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/membership.h"

/* Whether the promises of these masters are enough to write what the verdict asks for. */
bool rlk_membership_may_write(const struct rlk_membership *m,
                              const struct rlk_membership_verdict *v, uint64_t promised);

/* The record to write, under that ballot. Its addresses are borrowed from the base and from what
 * was shown. */
void rlk_membership_write(const struct rlk_membership *m, const struct rlk_membership_verdict *v,
                          const struct rlk_ballot *ballot, struct rlk_record *ret_record);

/* The number of the next ballot: above all that were shown. */
uint64_t rlk_membership_next_number(const struct rlk_membership *m);

#endif
