/* kept.h - as lock/kept.h, for redlock_election_free(). */
#ifndef RLK_ELECTION_KEPT_H
#define RLK_ELECTION_KEPT_H

#include <stdbool.h>

struct redlock_election;

void rlk_kept_election(struct redlock_election *e, bool kept);

#endif
