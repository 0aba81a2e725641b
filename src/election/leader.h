/* leader.h - who leads: what the masters said last, and what the application was told last. */
#ifndef RLK_ELECTION_LEADER_H
#define RLK_ELECTION_LEADER_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/election.h>
#include <redlock/lock.h>
#include <redlock/query.h>

/* Who leads, with copies of the texts. */
struct rlk_heard {
    struct redlock_leader leader;
    char id[REDLOCK_MAX_OWNER + 1];
    char value[REDLOCK_MAX_VALUE + 1];
};

struct rlk_leader {
    struct rlk_heard heard; /* what the masters say */
    struct rlk_heard told;  /* what the application was told last */
    bool has_told;          /* it was told something */
    bool untold;            /* it was not told yet what was heard last */
};

/* Nobody leads, as far as is known. */
void rlk_leader_init(struct rlk_leader *l);

/* Keep what the masters say now. is_me: the key that they have is ours. */
void rlk_leader_hear(struct rlk_leader *l, const struct redlock_query_result *r, int status,
                     bool is_me);

/* What the application is to be told now, and counts as told; NULL: nothing. leads, term: of this
 * candidate, by its own lock. While it leads, news of another leader waits; while it does not, news
 * that it leads waits. */
const struct redlock_leader *rlk_leader_take_news(struct rlk_leader *l, bool leads, uint64_t term);

#endif
