/* leader.c - keeps and reports who leads, as the masters say. */
#include "election/leader.h"

#include <redlock/error.h>

#include "base/sized.h"
#include "election/election.h"

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
    e->leader = (struct redlock_leader){.size = sizeof(e->leader), .id = "", .value = ""};
    return 0;
}

void rlk_leader_forget(struct redlock_election *e)
{
    (void)e;
}
