/* coverage_names.c - the states and events of each machine, and which of them cannot meet. */
#include "sim/coverage_names.h"

#include <stddef.h>

#include "core/attempt.h"
#include "core/election.h"
#include "core/event.h"
#include "core/inspection.h"
#include "core/observer.h"
#include "core/release.h"

const struct coverage_names coverage_names[COVERAGE_MACHINES] = {
    [COVERAGE_ATTEMPT] = {"attempt",
                          {[RLK_ATTEMPT_IDLE] = "idle",
                           [RLK_ATTEMPT_BEHIND] = "behind",
                           [RLK_ATTEMPT_QUEUED] = "queued",
                           [RLK_ATTEMPT_ASKING] = "asking",
                           [RLK_ATTEMPT_WAITING] = "waiting",
                           [RLK_ATTEMPT_WON] = "won",
                           [RLK_ATTEMPT_HELD] = "held",
                           [RLK_ATTEMPT_FAILED] = "failed"},
                          {[RLK_EVENT_START] = "start",
                           [RLK_EVENT_NODE_UP] = "node up",
                           [RLK_EVENT_NODE_DOWN] = "node down",
                           [RLK_EVENT_VOTE] = "vote",
                           [RLK_EVENT_CONFIRM] = "confirm",
                           [RLK_EVENT_TIMER] = "timer",
                           [RLK_EVENT_DEQUEUED] = "dequeued",
                           [RLK_EVENT_CANCEL] = "cancel",
                           [RLK_EVENT_QUARANTINED] = "quarantined",
                           [RLK_EVENT_CLOCK_SUSPECT] = "clock suspect",
                           [RLK_EVENT_SUSPENDED] = "suspended",
                           [RLK_EVENT_VOTERS] = "voters",
                           [RLK_EVENT_CONTEND] = "contend",
                           [RLK_EVENT_POSITION] = "position",
                           [RLK_EVENT_WOKEN] = "woken",
                           [RLK_EVENT_NEXT] = "next",
                           [RLK_EVENT_RESERVED] = "reserved",
                           [RLK_EVENT_CHANGED] = "changed",
                           [RLK_EVENT_SUBSCRIBED] = "subscribed",
                           [RLK_EVENT_UNSUBSCRIBED] = "unsubscribed",
                           [RLK_EVENT_DELIVER] = "deliver"}},
    [COVERAGE_ROUND] = {"round",
                        {[RLK_ROUND_IDLE] = "idle",
                         [RLK_ROUND_ASKING] = "asking",
                         [RLK_ROUND_WON] = "won",
                         [RLK_ROUND_LOST] = "lost"},
                        {[RLK_EVENT_START] = "start",
                         [RLK_EVENT_NODE_UP] = "node up",
                         [RLK_EVENT_NODE_DOWN] = "node down",
                         [RLK_EVENT_VOTE] = "vote",
                         [RLK_EVENT_CONFIRM] = "confirm",
                         [RLK_EVENT_TIMER] = "timer",
                         [RLK_EVENT_CANCEL] = "cancel",
                         [RLK_EVENT_QUARANTINED] = "quarantined",
                         [RLK_EVENT_CLOCK_SUSPECT] = "clock suspect",
                         [RLK_EVENT_SUSPENDED] = "suspended",
                         [RLK_EVENT_VOTERS] = "voters",
                         [RLK_EVENT_DELIVER] = "deliver"}},
    [COVERAGE_WAITING] = {"waiting",
                          {"nowhere", "asking", "listed", "woken"},
                          {[RLK_EVENT_VOTERS] = "voters",
                           [RLK_EVENT_POSITION] = "position",
                           [RLK_EVENT_WOKEN] = "woken",
                           [RLK_EVENT_NEXT] = "next",
                           [RLK_EVENT_RESERVED] = "reserved",
                           [RLK_EVENT_CHANGED] = "changed",
                           [RLK_EVENT_SUBSCRIBED] = "subscribed",
                           [RLK_EVENT_UNSUBSCRIBED] = "unsubscribed"}},
    [COVERAGE_HOLD] = {"hold",
                       {"idle", "at rest", "in a round", "queued", "in trouble", "no heartbeat",
                        "lost"},
                       {[RLK_EVENT_VOTE] = "vote",
                        [RLK_EVENT_KEPT] = "kept",
                        [RLK_EVENT_TIMER] = "timer",
                        [RLK_EVENT_DEQUEUED] = "dequeued",
                        [RLK_EVENT_EXTEND] = "extend",
                        [RLK_EVENT_HEARTBEAT] = "heartbeat",
                        [RLK_EVENT_QUARANTINED] = "quarantined",
                        [RLK_EVENT_CLOCK_SUSPECT] = "clock suspect",
                        [RLK_EVENT_SUSPENDED] = "suspended",
                        [RLK_EVENT_VOTERS] = "voters"}},
    [COVERAGE_RELEASE] = {"release",
                          {[RLK_RELEASE_IDLE] = "idle",
                           [RLK_RELEASE_ASKING] = "asking",
                           [RLK_RELEASE_DONE] = "done"},
                          {[RLK_EVENT_START] = "start",
                           [RLK_EVENT_NODE_DOWN] = "node down",
                           [RLK_EVENT_ANSWER] = "answer",
                           [RLK_EVENT_TIMER] = "timer",
                           [RLK_EVENT_VOTERS] = "voters"}},
    [COVERAGE_OBSERVER] = {"observer",
                           {[RLK_OBSERVER_NOTHING] = "nothing",
                            [RLK_OBSERVER_HELD] = "held",
                            [RLK_OBSERVER_FREE] = "free",
                            [RLK_OBSERVER_UNKNOWN] = "unknown"},
                           {[RLK_EVENT_START] = "start",
                            [RLK_EVENT_TIMER] = "timer",
                            [RLK_EVENT_CHANGED] = "changed",
                            [RLK_EVENT_LOOKED] = "looked",
                            [RLK_EVENT_DELIVER] = "deliver"}},
    [COVERAGE_ELECTION] = {"election",
                           {[RLK_ELECTION_IDLE] = "idle",
                            [RLK_ELECTION_ASKING] = "asking",
                            [RLK_ELECTION_LEAVING] = "leaving",
                            [RLK_ELECTION_PAUSED] = "paused",
                            [RLK_ELECTION_LEADING] = "leading",
                            [RLK_ELECTION_DEMOTED] = "demoted",
                            [RLK_ELECTION_STOPPING] = "stopping"},
                           {[RLK_ELECTION_CAMPAIGN] = "campaign",
                            [RLK_ELECTION_RESIGN] = "resign",
                            [RLK_ELECTION_HAND_OVER] = "hand over",
                            [RLK_ELECTION_CLOSE] = "close",
                            [RLK_ELECTION_WON] = "won",
                            [RLK_ELECTION_FAILED] = "failed",
                            [RLK_ELECTION_MOVED] = "moved",
                            [RLK_ELECTION_LOST] = "lost",
                            [RLK_ELECTION_SICK] = "sick",
                            [RLK_ELECTION_LED] = "led",
                            [RLK_ELECTION_OUTRANKED] = "outranked",
                            [RLK_ELECTION_CALLED] = "called",
                            [RLK_ELECTION_REPORTED] = "reported",
                            [RLK_ELECTION_STOPPED] = "stopped",
                            [RLK_ELECTION_TIMER] = "timer"}},
    [COVERAGE_INSPECTION] = {"inspection",
                             {"at rest", "asked", "at rest, does not vote", "asked, does not vote"},
                             {[RLK_INSPECTION_HANDSHAKE] = "handshake",
                              [RLK_INSPECTION_TIME] = "time",
                              [RLK_INSPECTION_REPLY] = "reply",
                              [RLK_INSPECTION_BROKEN] = "broken",
                              [RLK_INSPECTION_INFO] = "info",
                              [RLK_INSPECTION_ROLE] = "role",
                              [RLK_INSPECTION_STATE] = "state",
                              [RLK_INSPECTION_MARK_MISSED] = "mark missed"}},
};

/* ---- what cannot happen ---- */

#define BIT(x) (1U << (x))
#define ALL (~0U)

/* These events never come to these states. */
struct excuse {
    enum coverage_machine machine;
    unsigned states, events;
    const char *why;
};

static const struct excuse excuses[] = {
    {COVERAGE_ATTEMPT, BIT(RLK_ATTEMPT_IDLE),
     ~(BIT(RLK_EVENT_START) | BIT(RLK_EVENT_CANCEL) | BIT(RLK_EVENT_QUARANTINED)),
     "START comes first"},
    {COVERAGE_ATTEMPT, ~(BIT(RLK_ATTEMPT_IDLE) | BIT(RLK_ATTEMPT_FAILED)), BIT(RLK_EVENT_START),
     "a request starts once"},
    {COVERAGE_ATTEMPT, BIT(RLK_ATTEMPT_HELD), ALL, "the hold takes the events from then on"},
    {COVERAGE_ATTEMPT, ~(BIT(RLK_ATTEMPT_WON) | BIT(RLK_ATTEMPT_FAILED)), BIT(RLK_EVENT_DELIVER),
     "only a decision is delivered"},
    {COVERAGE_ATTEMPT, BIT(RLK_ATTEMPT_WON) | BIT(RLK_ATTEMPT_FAILED),
     BIT(RLK_EVENT_TIMER) | BIT(RLK_EVENT_CONTEND), "it has decided, and has no deadline"},
    {COVERAGE_ATTEMPT, ~BIT(RLK_ATTEMPT_QUEUED), BIT(RLK_EVENT_DEQUEUED),
     "only what asked to be queued is dequeued"},
    {COVERAGE_ATTEMPT, BIT(RLK_ATTEMPT_ASKING), BIT(RLK_EVENT_CONTEND),
     "it does not stand in the local queue"},
    {COVERAGE_ATTEMPT, BIT(RLK_ATTEMPT_BEHIND) | BIT(RLK_ATTEMPT_FAILED),
     BIT(RLK_EVENT_WOKEN) | BIT(RLK_EVENT_NEXT) | BIT(RLK_EVENT_RESERVED) | BIT(RLK_EVENT_CHANGED),
     "messages go to the request that contends"},
    {COVERAGE_ROUND, BIT(RLK_ROUND_IDLE), ~BIT(RLK_EVENT_START), "START comes first"},
    {COVERAGE_ROUND, ~BIT(RLK_ROUND_IDLE), BIT(RLK_EVENT_START), "each round begins anew"},
    {COVERAGE_ROUND, BIT(RLK_ROUND_WON) | BIT(RLK_ROUND_LOST),
     BIT(RLK_EVENT_NODE_UP) | BIT(RLK_EVENT_NODE_DOWN) | BIT(RLK_EVENT_TIMER),
     "the attempt passes these on while it asks"},
    {COVERAGE_ROUND, BIT(RLK_ROUND_LOST), ~(BIT(RLK_EVENT_VOTE) | BIT(RLK_EVENT_CONFIRM)),
     "the attempt passes only late replies on"},
    {COVERAGE_ROUND, BIT(RLK_ROUND_ASKING), BIT(RLK_EVENT_DELIVER), "only a win is delivered"},
    {COVERAGE_HOLD, BIT(0), ALL, "the attempt takes the events until the lock is held"},
    {COVERAGE_HOLD, ~BIT(3), BIT(RLK_EVENT_DEQUEUED), "only what asked to be queued is dequeued"},
    {COVERAGE_HOLD, BIT(6), BIT(RLK_EVENT_EXTEND), "the call is refused"},
    {COVERAGE_RELEASE, BIT(RLK_RELEASE_IDLE), BIT(RLK_EVENT_ANSWER) | BIT(RLK_EVENT_TIMER),
     "nothing was asked"},
    {COVERAGE_RELEASE, ~BIT(RLK_RELEASE_IDLE), BIT(RLK_EVENT_START), "a release starts once"},
    {COVERAGE_RELEASE, BIT(RLK_RELEASE_DONE), BIT(RLK_EVENT_TIMER), "it has no deadline any more"},
    {COVERAGE_OBSERVER, ~BIT(RLK_OBSERVER_NOTHING), BIT(RLK_EVENT_START),
     "an observation starts once"},
    {COVERAGE_ELECTION, ~(BIT(RLK_ELECTION_ASKING) | BIT(RLK_ELECTION_LEAVING)),
     BIT(RLK_ELECTION_WON) | BIT(RLK_ELECTION_FAILED), "only who asks is elected, or not"},
    {COVERAGE_ELECTION,
     BIT(RLK_ELECTION_IDLE) | BIT(RLK_ELECTION_ASKING) | BIT(RLK_ELECTION_LEAVING) |
         BIT(RLK_ELECTION_PAUSED),
     BIT(RLK_ELECTION_MOVED) | BIT(RLK_ELECTION_LOST), "there is no lock"},
    {COVERAGE_ELECTION, ~BIT(RLK_ELECTION_LEADING), BIT(RLK_ELECTION_SICK),
     "only a leader is asked for its health"},
    {COVERAGE_ELECTION, ~BIT(RLK_ELECTION_DEMOTED), BIT(RLK_ELECTION_REPORTED),
     "only the end of leadership is reported to the machine"},
    {COVERAGE_ELECTION, ~(BIT(RLK_ELECTION_DEMOTED) | BIT(RLK_ELECTION_STOPPING)),
     BIT(RLK_ELECTION_STOPPED), "the call is refused"},
    {COVERAGE_ELECTION,
     BIT(RLK_ELECTION_ASKING) | BIT(RLK_ELECTION_PAUSED) | BIT(RLK_ELECTION_LEADING),
     BIT(RLK_ELECTION_CAMPAIGN), "it campaigns already"},
    {COVERAGE_ELECTION, BIT(RLK_ELECTION_IDLE), BIT(RLK_ELECTION_HAND_OVER),
     "there is nothing to hand over"},
    {COVERAGE_INSPECTION, BIT(0) | BIT(2),
     BIT(RLK_INSPECTION_TIME) | BIT(RLK_INSPECTION_REPLY) | BIT(RLK_INSPECTION_BROKEN) |
         BIT(RLK_INSPECTION_INFO),
     "nothing was asked"},
};

const char *coverage_excuse(enum coverage_machine machine, unsigned state, unsigned event)
{
    size_t i, n = sizeof(excuses) / sizeof(excuses[0]);

    for (i = 0; i < n; i++) {
        if (excuses[i].machine == machine && excuses[i].states & BIT(state) &&
            excuses[i].events & BIT(event)) {
            return excuses[i].why;
        }
    }
    return NULL;
}
