/* observe.c - an election without a candidate: each change of the leader is a line on stdout. */
#include "cli/elect/plan.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/leader.h"
#include "cli/session/node_state.h"
#include "cli/session/owner.h"
#include "cli/session/session.h"
#include "cli/system/hangup.h"
#include "cli/system/signals.h"

/* When to say that nothing is known yet. */
static const struct timeval patience = {3, 0};

struct observer {
    const struct cli_plan *plan;
    struct cli_session *session;
    char former[REDLOCK_MAX_OWNER + 1]; /* who led last; "": that is not known */
    bool asks;                          /* a query is pending: why does nobody lead? */
    bool waits;                         /* its result is to be printed */
    bool printed;
    bool freed;
    bool done;
    int code;
};

/* Nobody reads the lines any more, as after `| head -1`: do not wait until the next one. */
static void end_unread(void *arg)
{
    struct observer *o = arg;

    o->code = CLI_UNREAD;
    o->done = true;
}

static void print_text(const struct observer *o, const struct redlock_leader *leader,
                       const struct cli_broken *broken)
{
    char text[256];

    if (!leader->known) {
        cli_say_out("unknown: %zu of %zu masters are up, and a majority must answer\n",
                    cli_nodes_up(o->session->rl), redlock_node_count(o->session->rl));
    } else if (leader->id[0]) {
        cli_leader_text(leader, text, sizeof(text));
        cli_say_out("%s\n", text);
    } else if (broken->by) {
        cli_say_out("nobody: broken by %s; %s may go on for %s at most\n", broken->by,
                    o->former[0] ? o->former : "the former leader", rlk_duration(broken->left_ms));
    } else {
        cli_say_out("nobody\n");
    }
}

static void print(struct observer *o, const struct redlock_leader *leader,
                  const struct cli_broken *broken)
{
    const struct cli_former_leader former = {broken, broken->by && o->former[0] ? o->former : NULL};

    if (o->plan->json) {
        cli_leader_json(stdout, o->plan->name.keys[0], leader, &former);
        printf("\n");
    } else {
        print_text(o, leader, broken);
    }
    o->printed = true;
    o->code = cli_say_flush();
    o->done = o->done || o->code != CLI_OK;
}

static const struct cli_broken not_broken = {NULL, 0};

/* ---- nobody leads ---- */

static void print_nobody(struct observer *o, const struct cli_broken *broken)
{
    const struct redlock_leader nobody = {
        .size = sizeof(nobody), .id = "", .value = "", .known = true};

    if (o->waits) {
        o->waits = false;
        print(o, &nobody, broken);
    }
}

static void on_why(const struct redlock_query_result *result, int status, void *arg)
{
    struct observer *o = arg;
    struct cli_broken broken = result ? cli_broken_find(result) : not_broken;

    (void)status;
    o->asks = false;
    print_nobody(o, &broken);
    o->done = o->done || o->freed;
}

/* After a break the former leader may not have noticed, and the key says until when. */
static void ask_why(struct observer *o)
{
    o->waits = true;
    o->asks =
        o->asks || redlock_query(o->session->rl, o->plan->name.keys[0], 0, on_why, o) == REDLOCK_OK;
    if (!o->asks) {
        print_nobody(o, &not_broken);
    }
}

static void on_observed_leader(struct redlock_election *election,
                               const struct redlock_leader *leader, void *arg)
{
    struct observer *o = arg;

    (void)election;
    print_nobody(o, &not_broken);
    if (leader->known && !leader->id[0]) {
        ask_why(o);
        return;
    }
    if (leader->id[0]) {
        snprintf(o->former, sizeof(o->former), "%s", leader->id);
    }
    print(o, leader, &not_broken);
}

/* The library reports changes; it is no change that nothing is known at first. */
static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    const struct redlock_leader nobody = {.size = sizeof(nobody), .id = "", .value = ""};
    struct observer *o = arg;

    (void)fd;
    (void)what;
    if (!o->printed) {
        print(o, &nobody, &not_broken);
    }
}

static int begin_observation(struct observer *o, const struct cli_session *session,
                             struct redlock_election **ret_election)
{
    struct redlock_election_options options;
    int status;

    redlock_election_options_init(&options);
    options.name = o->plan->name.keys[0];
    options.ttl_ms = o->plan->ttl_ms;
    options.leader_cb = on_observed_leader;
    options.arg = o;
    status = redlock_election_new(session->rl, &options, ret_election);
    return status == 0
               ? CLI_GO_ON
               : cli_session_refuse(session, status, "observe", o->plan->name.name, NULL, 0);
}

static void on_freed(void *arg)
{
    struct observer *o = arg;

    o->freed = true;
    o->done = !o->asks;
}

static int end_observation(struct observer *o, struct cli_session *session,
                           struct redlock_election *election)
{
    o->waits = false;
    o->freed = redlock_election_free(election, on_freed, o) != 0;
    o->done = o->freed && !o->asks;
    return cli_loop_run(&session->loop, &o->done) == CLI_GO_ON ? o->code : CLI_INTERNAL;
}

int cli_observe_run(const struct cli_plan *plan, struct cli_session *session,
                    struct cli_signals *signals)
{
    struct observer o = {.plan = plan, .session = session};
    struct cli_hangup output = {.on = end_unread, .arg = &o};
    struct event *timer = event_new(session->loop.base, -1, 0, on_patience, &o);
    struct redlock_election *election;
    int code = begin_observation(&o, session, &election);

    if (code == CLI_GO_ON && timer) {
        event_add(timer, &patience);
    }
    if (code == CLI_GO_ON) {
        code = cli_hangup_watch(&output, &session->loop, STDOUT_FILENO, false);
        code = code == CLI_OK ? cli_signals_run(signals, &session->loop, &o.done) : code;
        o.code = code == CLI_GO_ON ? o.code : code;
        code = code == CLI_INTERNAL ? code : end_observation(&o, session, election);
    }
    cli_hangup_end(&output);
    cli_event_free(timer);
    return code;
}
