/* observe.c - an election without a candidate: each change of the leader is a line on stdout. */
#include "cli/elect/plan.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/session/leader.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/system/hangup.h"
#include "cli/system/signals.h"

/* When to say that nothing is known yet. */
static const struct timeval patience = {3, 0};

struct observer {
    const struct cli_plan *plan;
    const struct redlock *rl;
    bool printed;
    bool done;
    int code;
};

/* Nobody reads the lines any more, as after `| head -1`: do not wait until the next one. */
static void end_unread(void *arg)
{
    struct observer *o = arg;

    o->code = CLI_INTERNAL;
    o->done = true;
}

static void print_text(const struct observer *o, const struct redlock_leader *leader)
{
    char text[256];

    if (!leader->known) {
        cli_say_out("unknown: %zu of %zu masters are up, and a majority must answer\n",
                    cli_nodes_up(o->rl), redlock_node_count(o->rl));
        return;
    }
    cli_leader_text(leader, text, sizeof(text));
    cli_say_out("%s\n", leader->id[0] ? text : "nobody");
}

static void print(struct observer *o, const struct redlock_leader *leader)
{
    if (o->plan->json) {
        cli_leader_json(stdout, o->plan->name.keys[0], leader);
        printf("\n");
    } else {
        print_text(o, leader);
    }
    o->printed = true;
    if (cli_say_flush() != CLI_OK) {
        end_unread(o);
    }
}

static void on_observed_leader(struct redlock_election *election,
                               const struct redlock_leader *leader, void *arg)
{
    (void)election;
    print(arg, leader);
}

/* The library reports changes; it is no change that nothing is known at first. */
static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    const struct redlock_leader nobody = {.size = sizeof(nobody), .id = "", .value = ""};
    struct observer *o = arg;

    (void)fd;
    (void)what;
    if (!o->printed) {
        print(o, &nobody);
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

    o->done = true;
}

static int end_observation(struct observer *o, struct cli_session *session,
                           struct redlock_election *election)
{
    o->done = redlock_election_free(election, on_freed, o) != 0;
    return cli_loop_run(&session->loop, &o->done) == CLI_GO_ON ? o->code : CLI_INTERNAL;
}

int cli_observe_run(const struct cli_plan *plan, struct cli_session *session,
                    struct cli_signals *signals)
{
    struct observer o = {.plan = plan, .rl = session->rl};
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
