/* candidate.c - waits for leadership, and leads.
 *
 * The loop runs while it waits (here) and while something runs under leadership (leadership.c), so
 * the callbacks of the library come at both times.
 */
#include "cli/elect/candidate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/elect/plan.h"
#include "cli/session/leader.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"
#include "cli/take/explain.h"
#include "cli/take/holder.h"

/* After how many seconds without a majority redlock says so, or with another program's key. */
#define EXPLAIN_SECONDS 3

static const struct timeval second = {1, 0};

static const char *name_of(const struct cli_candidate *c)
{
    return c->leadership.plan->name.name;
}

/* ---- what the service manager sees ---- */

static void report_waiting(struct cli_candidate *c)
{
    char position[32] = "";

    if (c->position) {
        snprintf(position, sizeof(position), ", queue position %" PRIu32, c->position);
    }
    cli_service_status(&c->service, "candidate%s%s%s%s", position, cli_health_trouble(&c->health),
                       c->leader[0] ? "; " : "", c->leader);
}

static void report_leading(struct cli_candidate *c)
{
    time_t now = time(NULL);
    struct tm local;
    char since[64] = "";

    if (localtime_r(&now, &local)) {
        strftime(since, sizeof(since), " since %Y-%m-%d %H:%M:%S %Z", &local);
    }
    cli_service_ready(&c->service);
    cli_service_status(&c->service, "leader%s, term %" PRIu64, since, c->leadership.term);
}

/* ---- callbacks of the library ---- */

static void on_elected(struct redlock_election *election, uint64_t term, void *arg)
{
    struct cli_candidate *c = arg;

    (void)election;
    c->elected = c->woken = true;
    cli_leadership_begin(&c->leadership, term);
    report_leading(c);
}

static void on_demoted(struct redlock_election *election, const struct redlock_demotion *demotion,
                       void *arg)
{
    struct cli_candidate *c = arg;

    (void)election;
    cli_leadership_end(&c->leadership, demotion);
    cli_service_status(&c->service, "lost leadership, term %" PRIu64 "; stopping its command",
                       demotion->term);
}

static void on_candidate_leader(struct redlock_election *election,
                                const struct redlock_leader *leader, void *arg)
{
    struct cli_candidate *c = arg;

    cli_leader_text(leader, c->leader, sizeof(c->leader));
    if (!leader->is_me) {
        cli_say_detail("'%s': %s", name_of(c), c->leader);
    }
    if (redlock_election_state(election) == REDLOCK_ELECTION_CANDIDATE) {
        report_waiting(c);
    }
}

static int on_health_wanted(struct redlock_election *election, void *arg)
{
    const struct cli_candidate *c = arg;

    (void)election;
    return cli_health_is_fit(&c->health);
}

/* ---- the wait ---- */

static bool has_majority(const struct cli_candidate *c)
{
    const struct redlock *rl = c->leadership.session->rl;

    return cli_nodes_up(rl) > redlock_node_count(rl) / 2;
}

/* A majority has answered: this machine takes part in the election. */
static void on_candidate_turn(void *arg)
{
    struct cli_candidate *c = arg;

    if (!c->service.ready && has_majority(c)) {
        cli_service_ready(&c->service);
    }
}

/* A candidate that is not fit to lead waits, but not for the masters. */
static bool has_failed(const struct cli_candidate *c)
{
    int failure = redlock_election_failure(c->leadership.election);

    return failure != 0 && failure != REDLOCK_EUNRENEWED;
}

/* Between two tries, in the pause of --delay, and while a preferred candidate bids, there is no
 * lock. */
static bool is_troubled(const struct cli_candidate *c, const struct redlock_lock *lock)
{
    bool failed = lock ? redlock_lock_reason(lock) == REDLOCK_ENOQUORUM : has_failed(c);

    return failed || !has_majority(c);
}

/* Nobody can be elected until somebody corrects the list of masters, so the wait ends. */
static void explain_candidate(struct cli_candidate *c, const struct redlock_lock *lock)
{
    struct cli_session *session = c->leadership.session;

    if (redlock_election_failure(c->leadership.election) == REDLOCK_ECONFIG) {
        c->refused = cli_explain_failure(session, NULL, &c->leadership.plan->name, REDLOCK_ECONFIG);
        c->woken = true;
    } else {
        cli_explain_waiting(session, lock, name_of(c));
    }
}

static void note_trouble(struct cli_candidate *c, const struct redlock_lock *lock, bool troubled)
{
    if (!troubled && c->troubled >= EXPLAIN_SECONDS) {
        cli_say_relief("a majority of the masters answers again: waiting for leadership of '%s'",
                       name_of(c));
        cli_nodes_reset_said(c->leadership.session);
    }
    c->troubled = troubled ? c->troubled + 1 : 0;
    if (c->troubled == EXPLAIN_SECONDS) {
        explain_candidate(c, lock);
    }
}

/* A key of another program never names a leader. Said once; during a try nothing is known. */
static void note_foreign(struct cli_candidate *c, const struct redlock_lock *lock)
{
    const struct redlock *rl = c->leadership.session->rl;

    if (lock == NULL || !cli_holder_is_foreign(rl, lock)) {
        return;
    }
    c->foreign++;
    if (c->foreign == EXPLAIN_SECONDS) {
        cli_explain_foreign(rl, lock, name_of(c));
    }
}

static void say_position(struct cli_candidate *c, const struct redlock_lock *lock)
{
    uint32_t position = lock ? redlock_lock_queue_position(lock) : 0;

    if (position != c->position) {
        c->position = position;
        if (position) {
            cli_say_detail("candidate for '%s', queue position %" PRIu32, name_of(c), position);
        }
    }
    report_waiting(c);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
    struct cli_candidate *c = arg;
    const struct redlock_lock *lock = redlock_election_lock(c->leadership.election);

    (void)fd;
    (void)what;
    if (c->elected) {
        cli_leadership_look(&c->leadership);
        return;
    }
    note_trouble(c, lock, is_troubled(c, lock));
    note_foreign(c, lock);
    if (c->troubled >= EXPLAIN_SECONDS) {
        cli_service_status(&c->service, "candidate; no majority of the masters answers");
    } else {
        say_position(c, lock);
    }
}

/* Returns CLI_GO_ON when something has set *woken, or the code to exit with. */
static int wait_until(struct cli_candidate *c, bool *woken)
{
    struct cli_loop *loop = &c->leadership.session->loop;
    int code;

    loop->on_turn = on_candidate_turn;
    loop->arg = c;
    code = cli_signals_run(c->leadership.signals, loop, woken);
    loop->on_turn = NULL;
    if (code > CLI_SIGNALED) { /* even if it was elected at the same time */
        cli_say_detail("gave up waiting for leadership of '%s' after %s", name_of(c),
                       cli_signals_name(code - CLI_SIGNALED));
    }
    return code;
}

static int wait_for_leadership(struct cli_candidate *c)
{
    int code;

    c->woken = c->elected;
    code = wait_until(c, &c->woken);
    return code == CLI_GO_ON && !c->elected ? c->refused : code;
}

/* Who wins the lock and is not fit to lead takes it from others, and gives it up. */
static int wait_for_health(struct cli_candidate *c)
{
    if (cli_health_is_fit(&c->health)) {
        return CLI_GO_ON;
    }
    if (c->leadership.plan->healthy) {
        cli_say_detail("waiting for the first health check of '%s'", name_of(c));
        cli_service_status(&c->service, "candidate; its health check has not succeeded yet");
    } else {
        cli_say_detail("waiting for a program that asks /leader of '%s'", name_of(c));
        cli_service_status(&c->service, "candidate; nobody has asked /leader yet");
    }
    return wait_until(c, &c->health.woken);
}

/* ---- leadership ---- */

/* After a loss of leadership: campaign again. */
static int start_again(struct cli_candidate *c)
{
    struct redlock_election *election = c->leadership.election;
    int code = cli_leadership_await_end(&c->leadership);

    c->elected = false;
    c->troubled = c->foreign = c->position = 0;
    cli_nodes_reset_said(c->leadership.session);
    cli_leadership_hand_over(&c->leadership);
    if (code == CLI_GO_ON && redlock_election_campaign(election) != 0) {
        cli_say("cannot campaign for '%s' again", name_of(c));
        code = CLI_INTERNAL;
    }
    redlock_election_stopped(election); /* last: a hand-over is a resignation */
    return code;
}

/* Returns CLI_GO_ON to campaign again, or the code to exit with. */
static int lead(struct cli_candidate *c)
{
    int code = cli_leadership_run(&c->leadership);

    if (!c->leadership.lost || c->leadership.signo || c->leadership.plan->once) {
        cli_leadership_hand_over(&c->leadership);
        return code;
    }
    return start_again(c);
}

/* ---- the beginning ---- */

/* Returns CLI_GO_ON if the library has accepted a call, or the code to exit with. */
static int accept_status(const struct cli_candidate *c, int status)
{
    return status == 0 ? CLI_GO_ON
                       : cli_session_refuse(c->leadership.session, status, "campaign for",
                                            name_of(c), "--ttl", c->leadership.plan->ttl_ms);
}

/* Who else leads is worth an observation only if somebody is told. */
static int create_election(struct cli_candidate *c)
{
    const struct cli_plan *plan = c->leadership.plan;
    bool tell = cli_say_is_verbose() || cli_service_is_watched(&c->service);
    struct redlock_election_options options;
    int status;

    redlock_election_options_init(&options);
    options.name = plan->name.keys[0];
    options.id = plan->id;
    options.value = plan->value;
    options.ttl_ms = plan->ttl_ms;
    options.renew_deadline_ms = plan->renew_deadline_ms;
    options.retry_ms = plan->retry_ms;
    options.delay_ms = plan->delay_ms;
    options.priority = (uint32_t)plan->priority;
    options.stops_later = 1;
    options.elected_cb = on_elected;
    options.demoted_cb = on_demoted;
    options.leader_cb = tell ? on_candidate_leader : NULL;
    options.healthy_cb = plan->healthy || plan->asked_within_ms ? on_health_wanted : NULL;
    options.arg = c;
    status = redlock_election_new(c->leadership.session->rl, &options, &c->leadership.election);
    return accept_status(c, status);
}

/* Returns CLI_GO_ON, or the code to exit with. */
static int campaign(struct cli_candidate *c)
{
    int code = create_election(c);

    if (code == CLI_GO_ON) {
        code = wait_for_health(c);
    }
    return code == CLI_GO_ON ? accept_status(c, redlock_election_campaign(c->leadership.election))
                             : code;
}

static int start_tick(struct cli_candidate *c)
{
    c->tick = event_new(c->leadership.session->loop.base, -1, EV_PERSIST, on_second, c);
    if (c->tick == NULL || event_add(c->tick, &second) != 0) {
        cli_say("cannot make a timer: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    return CLI_GO_ON;
}

static int run_candidate(struct cli_candidate *c)
{
    int code = campaign(c);

    if (code == CLI_GO_ON) {
        cli_say_detail("candidate for '%s' as %s", name_of(c), c->leadership.plan->id);
        report_waiting(c);
        code = start_tick(c);
    }
    while (code == CLI_GO_ON) {
        code = wait_for_leadership(c);
        if (code == CLI_GO_ON) {
            code = lead(c);
        }
    }
    return code;
}

int cli_candidate_run(struct cli_candidate *c)
{
    int code = cli_service_open(&c->service, c->leadership.session);

    if (code == CLI_OK) {
        code = cli_health_open(&c->health, c->leadership.plan, &c->leadership.session->loop);
        code = code == CLI_OK ? run_candidate(c) : code;
        cli_health_close(&c->health);
        cli_service_stopping(&c->service);
        cli_service_close(&c->service);
    }
    cli_event_free(c->tick);
    return code;
}
