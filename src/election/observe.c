/* observe.c - observes who leads. */
#include "election/observe.h"

#include <string.h>

#include <redlock/error.h>

#include "election/drive_election.h"
#include "lock/observation.h"

/* Whether a majority has the key of our lock; perhaps we do not know yet that it is acquired. */
static bool is_ours(const struct redlock_election *e, const struct redlock_query_result *r)
{
    return r->held && e->lock && strcmp(r->token, redlock_lock_token(e->lock)) == 0;
}

/* [L5] */
static void notice_rank(struct redlock_election *e, const struct redlock_query_result *r, bool ours)
{
    rlk_election_do(
        e, (struct rlk_election_event){.kind = RLK_ELECTION_LED,
                                       .led = r->held && !ours,
                                       .priority = r->leader[0] ? r->priority : UINT32_MAX});
}

/* Somebody else has the keys, with a larger term: they were deleted while we led. Our lock finds
 * that out only when it is renewed. */
static bool is_superseded(const struct redlock_election *e, const struct redlock_query_result *r,
                          int status)
{
    return status == 0 && r->held && rlk_election_leads(e) && !is_ours(e, r) &&
           r->fencing_token > atomic_load(&e->term);
}

/* The clock is asked first: when this process was suspended, the end of its own leadership is
 * reported before that of another candidate. */
static void on_observed(const struct redlock_query_result *r, int status, void *arg)
{
    struct redlock_election *e = arg;
    bool ours;

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
    ours = is_ours(e, r);
    rlk_leader_hear(&e->leader, r, status, ours);
    notice_rank(e, r, ours);
    rlk_election_tell_leader(e);
}

int rlk_election_observe(struct redlock_election *e)
{
    const struct redlock_election_options *o = &e->terms.options;
    bool wanted = o->leader_cb || o->priority > 0;

    return wanted ? rlk_observe(e->rl, e->terms.name, on_observed, e, &e->observation) : 0;
}

void rlk_election_unobserve(struct redlock_election *e)
{
    rlk_observation_end(e->observation);
    e->observation = NULL;
}
