/* split.h - who leads when several contenders got votes, and none of them a majority.
 *
 * A node that refuses names the value of its key, so every contender can count the votes of all.
 * The leader keeps its votes, and the others release theirs at once. Contenders that got the same
 * replies agree on the leader. If their replies differ, two may keep their votes, or nobody does,
 * which costs only time. */
#ifndef RLK_CORE_SPLIT_H
#define RLK_CORE_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether we, with votes of the nodes `yes`, lead: no other value has more votes. If another has as
 * many, the one with the lowest node leads. holder: for each node of `no`, a number for the value
 * that it has; all values without a number (0) are taken for one. */
bool rlk_split_leads(const uint64_t *holder, uint64_t yes, uint64_t no);

#endif
