/* leader.c - keeps and reports who leads, as the masters say. */
#include "election/leader.h"

#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/sized.h"
#include "election/election.h"
#include "lock/observation.h"

static bool is_ours(const struct redlock_election *e, const struct redlock_query_result *r)
{
    return e->machine.state == RLK_ELECTION_LEADING && e->lock &&
           strcmp(r->token, redlock_lock_token(e->lock)) == 0;
}

static void note_leader(struct redlock_election *e, const struct redlock_query_result *r,
                        int status)
{
    bool held = r->held != 0;
    const char *id = r->leader[0] ? r->leader : r->owner;

    e->leader = (struct redlock_leader){.size = sizeof(e->leader),
                                        .id = e->leader_id,
                                        .value = e->leader_value,
                                        .term = held ? r->fence : 0,
                                        .known = status == 0,
                                        .is_me = held && is_ours(e, r)};
    snprintf(e->leader_id, sizeof(e->leader_id), "%s", held ? id : "");
    snprintf(e->leader_value, sizeof(e->leader_value), "%s", held ? r->value : "");
    if (e->leader.is_me) {
        e->leader.term = atomic_load(&e->term);
    }
}

/* [L5] */
static void notice_rank(struct redlock_election *e, const struct redlock_query_result *r)
{
    rlk_election_do(
        e, (struct rlk_election_event){.kind = RLK_ELECTION_LED,
                                       .led = r->held && !e->leader.is_me,
                                       .priority = r->leader[0] ? r->priority : UINT32_MAX});
}

/* The clock is asked first: when this process was suspended, the end of its own lead is reported
 * before the lead of somebody else. */
static void on_observed(const struct redlock_query_result *r, int status, void *arg)
{
    struct redlock_election *e = arg;

    if (status == REDLOCK_ECANCELED) {
        e->observation = NULL;
        return;
    }
    rlk_election_do(e, (struct rlk_election_event){.kind = RLK_ELECTION_TIMER});
    rlk_election_report_demoted(e);
    note_leader(e, r, status);
    notice_rank(e, r);
    if (e->options.leader_cb && !e->freeing) {
        e->options.leader_cb(e, &e->leader, e->options.arg);
    }
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
    rlk_sized_write(ret_leader, &election->leader, sizeof(election->leader));
    return 0;
}

int rlk_leader_observe(struct redlock_election *e)
{
    bool wanted = e->options.leader_cb || e->options.priority > 0;

    e->leader = (struct redlock_leader){.size = sizeof(e->leader), .id = "", .value = ""};
    return wanted ? rlk_observe(e->rl, e->name, on_observed, e, &e->observation) : 0;
}

void rlk_leader_forget(struct redlock_election *e)
{
    rlk_observation_end(e->observation);
    e->observation = NULL;
}
