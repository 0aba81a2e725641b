/* guard.c - the life of a command under a lock.
 *
 *             ends by itself                 nobody is left
 *   RUNNING -----------------> done    ENDING ------------------> done (76)
 *    |  ^ |                              ^ |
 *    +--+ | deadline - grace: SIGTERM    | | deadline: SIGKILL
 *  renewed+------------------------------+ v
 *                                       KILLED ------------------> done (76)
 *
 * SIGTERM and SIGKILL go to the command and to all processes that descend from it. "Nobody" means
 * of them all; but a command that ends by itself may leave somebody behind.
 *
 * After each turn of the loop the deadline (cli/lock/deadline.h) is asked for anew, so a renewal
 * moves it. A timerfd on CLOCK_BOOTTIME, which counts on while the machine is suspended, wakes us
 * before anything else in the loop, also right after a suspend or when redlock itself had been
 * stopped. Whatever wakes us, the clock is looked at first. While we do not run the warden does
 * (cli/lock/warden.h), which is told of each move.
 */
#include "cli/lock/guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/lock/deadline.h"
#include "cli/lock/guard_say.h"
#include "cli/lock/warden.h"
#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/clock.h"
#include "cli/system/terminal.h"
#include "cli/take/trouble.h"

/* How soon, and then how often, to look whether all have ended: twice as long each time. */
#define LOOK_FIRST_US 5000
#define LOOK_MAX_US 200000

enum stage {
    RUNNING,
    ENDING,
    KILLED
};

struct cli_guard_run {
    const struct cli_guard *guard;
    struct cli_session *session;
    const struct redlock_lock *lock;
    struct cli_signals *signals;
    struct cli_warden warden;
    struct event *reports;
    enum stage stage;
    /* The warden was killed. */
    int alone;
    /* When to look whether all have ended; and how long that was after the look before. */
    uint64_t look_us;
    uint64_t look_span_us;
    struct cli_deadline deadline;
    /* The reason of the trouble that was told of, and that no renewal has ended. */
    int trouble;
    /* The reason of the loss that was told of; 0: none was. */
    int lost;
    int timer_fd;
    struct event *timer;
    int done;
};

/* See where the lock ends now. While we do not run, the warden acts upon that. */
static void update_deadline(struct cli_guard_run *run)
{
    struct cli_deadline *deadline = &run->deadline;
    uint64_t now_us = cli_clock_us();
    enum cli_deadline_change change = cli_deadline_update(
        deadline, now_us, redlock_lock_validity_ms(run->lock), run->stage == ENDING);

    if (change == CLI_DEADLINE_RENEWED) {
        cli_guard_say_renewed(&run->guard->terms, run->lock, run->trouble);
        run->trouble = 0;
    }
    if (change == CLI_DEADLINE_SAME || change == CLI_DEADLINE_DENIED) {
        return;
    }
    if (cli_warden_move(&run->warden, deadline->kill_us) != 0) {
        deadline->kill_us = 0; /* the warden was first: it is over */
    }
}

/* ---- the signals ---- */

static void say_why(const struct cli_guard_run *run)
{
    cli_guard_say_why(&run->guard->terms, run->trouble,
                      run->deadline.most_us == run->deadline.end_us);
}

/* A stopped process gets SIGTERM only when it goes on. */
static void ask_to_end(struct cli_guard_run *run, uint64_t now_us)
{
    char left[CLI_DURATION_TEXT];

    run->stage = ENDING;
    cli_warden_signal_all(&run->warden, SIGTERM);
    cli_warden_signal_all(&run->warden, SIGCONT);
    cli_say("the lock '%s' ends in %s and its command still runs: sent it SIGTERM",
            run->guard->terms.key,
            cli_duration_print(cli_deadline_before(run->deadline.end_us, now_us) / 1000, left));
    say_why(run);
}

static void put_to_end(struct cli_guard_run *run, uint64_t now_us)
{
    int was_asked = run->stage == ENDING;
    int refused;

    run->stage = KILLED;
    run->look_us = 0;
    run->look_span_us = LOOK_FIRST_US;
    cli_warden_kill(&run->warden, &refused);
    cli_guard_say_killed(&run->guard->terms, run->session->rl, run->lock,
                         now_us >= run->deadline.end_us ? CLI_GUARD_OVERSLEPT : run->lost);
    if (!was_asked && !run->guard->terms.renew) {
        say_why(run);
    }
}

/* Until nobody is left whom we may kill. */
static void kill_rest(struct cli_guard_run *run)
{
    int refused;

    run->done = !cli_warden_kill(&run->warden, &refused);
    if (run->done && refused) {
        cli_guard_say_left(&run->guard->terms, refused);
    }
}

/* Nobody but us would kill the command now, and it is dead already: the kernel saw to that. The
 * reports have come to their end, which can always be read: left in the loop, an urgent event that
 * is always due lets nothing else happen any more. */
static void lose_warden(struct cli_guard_run *run)
{
    cli_say("the process that watches over the command was killed: killed the command");
    run->alone = 1;
    event_del(run->reports);
    run->stage = KILLED;
    kill_rest(run);
}

/* What has happened while we did not run. A command that has ended before the deadline, with a lock
 * that was not denied, has ended by itself. */
static void take_reports(struct cli_guard_run *run)
{
    if (run->alone) {
        return;
    }
    if (cli_warden_read(&run->warden) != 0) {
        lose_warden(run);
    } else if (run->warden.ended && !run->warden.late && run->stage == RUNNING &&
               run->deadline.kill_us > 0) {
        cli_warden_dismiss(&run->warden);
        run->done = 1;
    }
}

/* What the clock asks for. To be called before anything else, whenever we wake up, and after it
 * when the deadline may have moved. */
static void check_clock(struct cli_guard_run *run)
{
    uint64_t now = cli_clock_us();

    if (run->done || run->stage == KILLED) {
        return;
    }
    if (now < run->deadline.kill_us) {
        update_deadline(run);
    }
    if (now >= run->deadline.term_us || now >= run->deadline.kill_us) {
        take_reports(run);
    }
    if (run->done || run->stage == KILLED) {
        return;
    }
    if (now >= run->deadline.kill_us) {
        put_to_end(run, now);
        return;
    }
    if (run->stage == RUNNING && now >= run->deadline.term_us) {
        ask_to_end(run, now);
    }
    cli_clock_set(run->timer_fd,
                  run->stage == RUNNING ? run->deadline.term_us : run->deadline.kill_us);
}

/* The command was asked to end and has ended, or was killed: whether anybody is left. Those who are
 * asked keep the rest of the grace. */
static void check_rest(struct cli_guard_run *run)
{
    uint64_t now = cli_clock_us();

    if (run->done || run->stage == RUNNING || (run->stage == ENDING && !run->warden.ended)) {
        return;
    }
    if (now >= run->look_us) {
        if (run->stage == KILLED) {
            kill_rest(run);
        } else {
            run->done = !cli_warden_has_any(&run->warden);
        }
        run->look_us = now + run->look_span_us;
        run->look_span_us *= run->look_span_us < LOOK_MAX_US ? 2 : 1;
    }
    cli_clock_set(run->timer_fd, run->stage == ENDING && run->deadline.kill_us < run->look_us
                                     ? run->deadline.kill_us
                                     : run->look_us);
}

/* ---- what wakes us ---- */

static void on_turn(void *arg)
{
    struct cli_guard_run *run = arg;

    check_clock(run);
    check_rest(run);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    uint64_t times;

    (void)what;
    if (read(fd, &times, sizeof(times)) >= 0) {
        on_turn(arg);
    }
}

void cli_guard_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *guard)
{
    struct cli_guard_run *run = ((struct cli_guard *)guard)->run;
    char left[CLI_DURATION_TEXT];

    if (!run) {
        return;
    }
    run->lost = notice->kind == REDLOCK_NOTICE_LOST ? notice->reason : 0;
    check_clock(run);
    if (notice->kind != REDLOCK_NOTICE_TROUBLE || run->stage != RUNNING || run->done) {
        return;
    }
    run->trouble = notice->reason;
    if (notice->reason == REDLOCK_EUNRENEWED) {
        cli_say("the lock '%s' is not renewed any more, %s left", run->guard->terms.key,
                cli_duration_print(notice->left_ms, left));
    } else {
        cli_trouble_say(run->session->rl, lock, run->guard->terms.key, notice->left_ms);
    }
}

static void on_report(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    check_clock(arg);
    take_reports(arg);
    check_rest(arg);
}

/* What the terminal's keys send goes to its whole foreground group: the command has got it, if it
 * is in ours. A process that is stopped gets nothing until it goes on. */
static void on_signal(void *arg, int signo)
{
    struct cli_guard_run *run = arg;

    check_clock(run);
    take_reports(run);
    if (!cli_signals_pass(signo) || run->done ||
        (run->signals->typed && cli_warden_shares_group(&run->warden))) {
        return;
    }
    cli_say_detail("passed %s on to the command", cli_signals_name(signo));
    cli_warden_signal_group(&run->warden, signo);
    if (cli_signals_ends(signo)) {
        cli_warden_signal_group(&run->warden, SIGCONT);
    }
}

/* ---- beginning and end ---- */

/* Have `on` called when a file can be read, before anything else in the loop. */
static int watch(struct cli_guard_run *run, int fd, event_callback_fn on, struct event **ret_event)
{
    *ret_event =
        fd < 0 ? NULL : event_new(run->session->loop.base, fd, EV_READ | EV_PERSIST, on, run);
    if (!*ret_event || event_priority_set(*ret_event, CLI_LOOP_URGENT) != 0 ||
        event_add(*ret_event, NULL) != 0) {
        cli_say("cannot watch over the command: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

static int prepare(struct cli_guard_run *run)
{
    int code = cli_warden_open(&run->warden);

    if (code != CLI_OK) {
        return code;
    }
    run->timer_fd = cli_clock_alarm();
    code = watch(run, run->timer_fd, on_timer, &run->timer);
    return code == CLI_OK ? watch(run, run->warden.report_fd, on_report, &run->reports) : code;
}

static void clean_up(struct cli_guard_run *run)
{
    if (run->reports) {
        event_free(run->reports);
    }
    if (run->timer) {
        event_free(run->timer);
    }
    if (run->timer_fd >= 0) {
        close(run->timer_fd);
    }
    if (run->warden.board) {
        cli_warden_end(&run->warden);
    }
}

/* If the loop broke down, the command does not go on unguarded: the warden sees to it. */
static int result(struct cli_guard_run *run, int code)
{
    int refused;

    if (code != CLI_GO_ON) {
        while (cli_warden_kill(&run->warden, &refused) > 0) {
        }
        return code;
    }
    if (run->alone) {
        return CLI_INTERNAL;
    }
    if (run->stage != RUNNING) {
        return CLI_LOST;
    }
    cli_say_detail("the command ended with exit code %d", run->warden.code);
    return run->warden.code;
}

static int run_command(struct cli_guard_run *run, struct cli_guard *guard,
                       struct cli_signals *signals)
{
    struct cli_session *session = run->session;
    int code;

    update_deadline(run);
    if (cli_clock_us() >= run->deadline.kill_us) {
        cli_say("the lock '%s' ended before the command could begin", guard->terms.key);
        return CLI_LOST;
    }
    code = cli_warden_start(&run->warden, guard->argv);
    if (code != CLI_OK) {
        return code;
    }
    guard->began = 1;
    signals->on = on_signal;
    session->loop.on_turn = on_turn;
    signals->arg = session->loop.arg = guard->run = run;
    check_clock(run);
    code = result(run, cli_loop_run(&session->loop, &run->done));
    guard->run = NULL;
    session->loop.on_turn = NULL;
    signals->on = NULL;
    return code;
}

int cli_guard_run(struct cli_guard *guard, struct cli_session *session, struct cli_signals *signals,
                  const struct redlock_lock *lock)
{
    struct cli_guard_run run = {.guard = guard,
                                .session = session,
                                .lock = lock,
                                .signals = signals,
                                .look_span_us = LOOK_FIRST_US,
                                .timer_fd = -1};
    int had_terminal = cli_terminal_ours();
    int code;

    cli_deadline_init(&run.deadline, &guard->terms, cli_clock_us());
    code = prepare(&run);
    if (code == CLI_OK) {
        code = run_command(&run, guard, signals);
    }
    clean_up(&run);
    if (had_terminal) {
        cli_terminal_reclaim();
    }
    return code;
}
