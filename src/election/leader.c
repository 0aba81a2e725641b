/* leader.c - keeps who leads, and finds out what is new in it. */
#include "election/leader.h"

#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/sized.h"
#include "node/claim.h"

/* The two functions below name every text, and every field that makes news. */
_Static_assert(RLK_SIZED_ENDS_WITH(struct redlock_leader, is_me), "copy and compare a new field");

static void set(struct rlk_heard *h, const struct redlock_leader *leader)
{
    snprintf(h->id, sizeof(h->id), "%s", leader->id);
    snprintf(h->value, sizeof(h->value), "%s", leader->value);
    h->leader = *leader;
    h->leader.id = h->id;
    h->leader.value = h->value;
}

static bool is_same_leader(const struct redlock_leader *a, const struct redlock_leader *b)
{
    return a->term == b->term && a->known == b->known && a->is_me == b->is_me &&
           strcmp(a->id, b->id) == 0 && strcmp(a->value, b->value) == 0;
}

void rlk_leader_init(struct rlk_leader *l)
{
    const struct redlock_leader nobody = {.size = sizeof(nobody), .id = "", .value = ""};

    memset(l, 0, sizeof(*l));
    set(&l->told, &nobody);
}

void rlk_leader_hear(struct rlk_leader *l, const struct redlock_query_result *r, int status,
                     bool is_me)
{
    struct redlock_leader leader = {.size = sizeof(leader),
                                    .id = r->leader[0] ? r->leader : r->owner,
                                    .value = r->value,
                                    .term = r->fencing_token,
                                    .known = status == REDLOCK_OK,
                                    .is_me = is_me};

    if (!r->held || rlk_claim_is_broken(r->owner)) { /* the key of a broken lock is nobody's */
        leader.id = leader.value = "";
        leader.term = 0;
    }
    set(&l->heard, &leader);
    l->untold = true;
}

/* [L2] A leader is told of its own leadership only. What the masters say of others is outdated, or
 * about a key on a master in quarantine. If it is more, it is told after the end of leadership.
 * Masters may also have the key of our lock while their votes do not count, or do not count yet:
 * that is told when leadership has begun. */
const struct redlock_leader *rlk_leader_take_news(struct rlk_leader *l, bool leads, uint64_t term)
{
    struct redlock_leader *heard = &l->heard.leader;

    if (!l->untold || leads != heard->is_me) {
        return NULL;
    }
    l->untold = false;
    if (heard->is_me) {
        heard->term = term;
    }
    if (l->has_told && is_same_leader(&l->told.leader, heard)) {
        return NULL;
    }
    l->has_told = true;
    set(&l->told, heard);
    return &l->told.leader;
}
