/* leader.c - keeps and reports who leads, as the masters say. */
#include "election/leader.h"

#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/sized.h"
#include "election/election.h"
#include "lock/observation.h"

static bool leads(const struct redlock_election *e)
{
    return e->machine.state == RLK_ELECTION_LEADING && e->lock;
}

/* Whether a majority has the key of our lock; perhaps we do not know yet that it is acquired. */
static bool is_ours(const struct redlock_election *e, const struct redlock_query_result *r)
{
    return r->held && e->lock && strcmp(r->token, redlock_lock_token(e->lock)) == 0;
}

static void set(struct rlk_heard *h, const struct redlock_leader *leader)
{
    snprintf(h->id, sizeof(h->id), "%s", leader->id);
    snprintf(h->value, sizeof(h->value), "%s", leader->value);
    h->leader = *leader;
    h->leader.id = h->id;
    h->leader.value = h->value;
}

static void hear(struct redlock_election *e, const struct redlock_query_result *r, int status)
{
    bool held = r->held != 0;
    struct redlock_leader leader = {.size = sizeof(leader),
                                    .id = r->leader[0] ? r->leader : r->owner,
                                    .value = r->value,
                                    .term = r->fencing_token,
                                    .known = status == 0,
                                    .is_me = is_ours(e, r)};

    if (!held) {
        leader.id = leader.value = "";
        leader.term = 0;
    }
    set(&e->heard, &leader);
    e->untold = true;
}

/* ---- telling ---- */

static bool is_same_leader(const struct redlock_leader *a, const struct redlock_leader *b)
{
    return a->term == b->term && a->known == b->known && a->is_me == b->is_me &&
           strcmp(a->id, b->id) == 0 && strcmp(a->value, b->value) == 0;
}

/* [L2] A leader is told of its own leadership only. What the masters say of others is outdated, or
 * about a key on a master in quarantine. If it is more, it is told after the end of leadership.
 * Masters may also have the key of our lock while their votes do not count, or do not count yet:
 * that is told when leadership has begun. */
void rlk_leader_tell(struct redlock_election *e)
{
    if (!e->untold || e->freeing || e->rl->closing || leads(e) != e->heard.leader.is_me) {
        return;
    }
    e->untold = false;
    if (e->heard.leader.is_me) {
        e->heard.leader.term = atomic_load(&e->term);
    }
    if (!e->has_told || !is_same_leader(&e->told.leader, &e->heard.leader)) {
        e->has_told = true;
        set(&e->told, &e->heard.leader);
        if (e->options.leader_cb) {
            e->options.leader_cb(e, &e->told.leader, e->options.arg);
        }
    }
}

/* [L5] */
static void notice_rank(struct redlock_election *e, const struct redlock_query_result *r)
{
    rlk_election_do(
        e, (struct rlk_election_event){.kind = RLK_ELECTION_LED,
                                       .led = r->held && !e->heard.leader.is_me,
                                       .priority = r->leader[0] ? r->priority : UINT32_MAX});
}

/* Somebody else has the keys, with a larger term: they were deleted while we led. Our lock finds
 * that out only when it is renewed. */
static bool is_superseded(const struct redlock_election *e, const struct redlock_query_result *r,
                          int status)
{
    return status == 0 && r->held && leads(e) && !is_ours(e, r) &&
           r->fencing_token > atomic_load(&e->term);
}

/* The clock is asked first: when this process was suspended, the end of its own leadership is
 * reported before that of another candidate. */
static void on_observed(const struct redlock_query_result *r, int status, void *arg)
{
    struct redlock_election *e = arg;

    if (status == REDLOCK_ECANCELED) {
        e->observation = NULL;
        return;
    }
    rlk_election_do(e, (struct rlk_election_event){.kind = RLK_ELECTION_TIMER});
    if (is_superseded(e, r, status)) {
        rlk_election_do(
            e, (struct rlk_election_event){.kind = RLK_ELECTION_LOST, .reason = REDLOCK_ELOST});
    }
    rlk_election_report_demoted(e);
    hear(e, r, status);
    notice_rank(e, r);
    rlk_leader_tell(e);
}

REDLOCK_EXPORT int redlock_election_leader(const struct redlock_election *election,
                                           struct redlock_leader *ret_leader)
{
    int status = rlk_manager_check(election ? election->rl : NULL);

    if (status == REDLOCK_EINVAL || status == REDLOCK_EFORK) {
        return status;
    }
    if (ret_leader == NULL || !rlk_sized_valid(ret_leader, sizeof(*ret_leader))) {
        return REDLOCK_EINVAL;
    }
    rlk_sized_write(ret_leader, &election->told.leader, sizeof(election->told.leader));
    return 0;
}

int rlk_leader_observe(struct redlock_election *e)
{
    const struct redlock_leader nobody = {.size = sizeof(nobody), .id = "", .value = ""};
    bool wanted = e->options.leader_cb || e->options.priority > 0;

    set(&e->told, &nobody);
    return wanted ? rlk_observe(e->rl, e->name, on_observed, e, &e->observation) : 0;
}

void rlk_leader_forget(struct redlock_election *e)
{
    rlk_observation_end(e->observation);
    e->observation = NULL;
}
