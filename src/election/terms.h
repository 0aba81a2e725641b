/* terms.h - checks the options of an election, and translates them for its machine and its lock. */
#ifndef RLK_ELECTION_TERMS_H
#define RLK_ELECTION_TERMS_H

#include <redlock/election.h>
#include <redlock/lock.h>

#include "core/election.h"

struct redlock;

/* What an election is about. The request and the options point to the texts: it is not moved. */
struct rlk_election_terms {
    struct redlock_election_options options; /* without `value`, which is in `owner` */
    struct rlk_election_config config;
    struct redlock_request request; /* what to acquire */
    char name[REDLOCK_MAX_KEY + 1];
    char id[REDLOCK_MAX_ID + 1];
    char owner[REDLOCK_MAX_OWNER + 1];
};

/* Read the caller's options, of whatever version, and copy them and everything that follows from
 * them. 0; or REDLOCK_EINVAL or REDLOCK_ETTL with a sentence for redlock_error_text(). */
int rlk_election_terms_read(struct redlock *rl, const struct redlock_election_options *theirs,
                            struct rlk_election_terms *ret_terms);

/* Check the id of a candidate, which `what` names. 0, or REDLOCK_EINVAL with a sentence. */
int rlk_election_check_id(struct redlock *rl, const char *what, const char *id);

#endif
