/* bridge.c - redlock hold: holds a lock for the program that started it.
 *
 * The program reads what happens to the lock from a pipe (cli/lock/events.h), and closes another to
 * release it. When the program dies, the kernel closes it. When redlock dies, the program reads the
 * end of its pipe, and the lock stays until the end of its ttl.
 *
 *             acquired             stdin or stdout closed, or a signal
 *   WAITING -----------> HOLDING -------------------------------------> released
 *      |                    |
 *      | refused, closed    | lost
 *      v                    v
 *   explained            76
 */
#include "cli/args/args.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "cli/lock/events.h"
#include "cli/lock/hold.h"
#include "cli/metrics/outcome.h"
#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/say/writer.h"
#include "cli/session/session.h"
#include "cli/system/hangup.h"
#include "cli/system/signals.h"
#include "cli/take/explain.h"
#include "cli/take/take.h"
#include "cli/take/trouble.h"

static const char help[] =
    "usage: redlock hold KEY... [--json] [OPTION...]\n"
    "\n"
    "Acquire the lock KEY (several KEYs are one lock: all or none), hold it and renew it, and\n"
    "print a line on stdout for each thing that happens. A program in any language starts this\n"
    "with a pipe as stdin and another as stdout. It closes stdin to release the lock. When the\n"
    "program dies, stdin is closed, and the lock is released. When redlock dies, the program\n"
    "reads the end of stdout, and must stop: the lock ends when its TTL has passed. Ctrl-C is\n"
    "for the program alone, unless stdin is a terminal.\n"
    "\n"
    "Each line is an event, and its fields as NAME=VALUE. The events:\n"
    "  acquired            the lock is held; with its token, and its fencing token with --fence\n"
    "  renewed             the lock is valid for longer\n"
    "  shortened           the lock is valid for less time: a master may have lost it\n"
    "  trouble             renewing fails, for a reason; redlock tries again\n"
    "  recovered           a renewal has succeeded again\n"
    "  lost                the lock has ended, for a reason. Stop: somebody else may have it\n"
    "  released            the lock was released\n"
    "\n"
    "valid_ms is how long the lock is valid, and deadline_us until when: microseconds of the\n"
    "clock CLOCK_BOOTTIME. Compare that before each step: no line arrives if redlock is stopped.\n"
    "\n"
    "  --json              print each line as a JSON object\n"
    "  --ttl TIME          how long the lock lives without a renewal, and how long others wait\n"
    "                      when this machine dies (default 10s, or --max-ttl if that is less)\n"
    "  --max-hold TIME     hold the lock at most for this time (default: no limit); a longer\n"
    "                      ttl is shortened to it\n"
    "  --wait TIME         wait at most this long for the lock (default: no limit)\n"
    "  --no-wait           do not wait: try once\n" CLI_TAKE_HELP_CONFLICT
    "  --owner TEXT        the holder's name, for people (default: host:pid)\n"
    "  --fence             get a fencing token: a number that grows with each acquisition, by\n"
    "                      which a resource refuses a stale holder\n";

static const char help_end[] =
    "\n"
    "example in bash:\n"
    "  coproc redlock hold nightly --no-wait\n"
    "  exec {events}<&\"${COPROC[0]}\"; stdin=${COPROC[1]}    # bash forgets COPROC when redlock "
    "ends\n"
    "  read -r event fields <&\"$events\" || exit 75          # it has ended without the lock\n"
    "  held() {                                            # reads what has happened meanwhile\n"
    "    while read -r -t 0 -u \"$events\"; do\n"
    "      read -r event fields <&\"$events\" && [ \"$event\" != lost ] || return\n"
    "    done\n"
    "  }\n"
    "  ./first.sh && held && ./second.sh && held && echo done\n"
    "  exec {stdin}>&-                                     # releases the lock\n"
    "\n"
    "exit status: 0 released after stdin was closed, 128+N released after signal N, 76 the lock\n"
    "was lost, 75 somebody else holds the lock, or stdin was closed before it was acquired, 69\n"
    "no majority of the masters can be reached, 78 the masters or --max-ttl are not those on\n"
    "record (redlock masters), 64 wrong usage (stdin is a file, or closed), 70 internal error,\n"
    "or stdout could not be written\n";

/* When a program dies, the end of stdin may come this much later than that of stdout. */
#define DEATH_MS 500

struct bridge {
    struct cli_take take; /* first, for its options */
    struct cli_events events;
    struct cli_session *session;
    struct cli_hangup input, output, queue;
    struct cli_attempt *pending; /* while the lock is waited for */
    struct redlock_lock *lock;   /* since "acquired" was reported; NULL: not yet */
    uint64_t deadline_us;        /* as reported last */
    int trouble;                 /* why a renewal failed, until one succeeds */
    bool lost;
    bool released;
    bool unread; /* stdout was closed, or could not be written */
    bool done;
    int code; /* the exit status, if no signal has ended it */
};

#define BRIDGE_FIELD(name) .field = offsetof(struct bridge, name)

static const struct cli_option options[] = {{"json", CLI_FLAG, BRIDGE_FIELD(events.json)},
                                            {"max-hold", CLI_TIME, BRIDGE_FIELD(take.max_hold_ms),
                                             .min = REDLOCK_MIN_TTL_MS, .max = UINT32_MAX},
                                            {.name = NULL}};

/* ---- events of the lock ---- */

static void put_change(struct bridge *b, const char *event, const struct redlock_notice *notice,
                       const char *reason)
{
    cli_events_put(&b->events, &(struct cli_event){.name = event,
                                                   .valid_ms = notice->left_ms,
                                                   .deadline_us = notice->deadline_us,
                                                   .reason = reason});
    b->deadline_us = notice->deadline_us;
}

static void put_end(struct bridge *b, const char *event, const char *reason)
{
    cli_events_put(&b->events, &(struct cli_event){.name = event, .reason = reason});
}

static void say_lost(const struct bridge *b, const struct redlock_lock *lock, enum cli_loss loss)
{
    const char *key = b->take.keys.name;

    if (loss == CLI_LOSS_KEYS_GONE) {
        cli_trouble_lost(b->session->rl, lock, key);
    } else if (loss == CLI_LOSS_SUSPENDED) {
        cli_say("the lock '%s' ended while redlock or this machine did not run: somebody else may "
                "have it",
                key);
    } else if (loss == CLI_LOSS_LIMIT) {
        cli_say("the lock '%s' has ended: it is not held for longer than --max-hold allows (%s)",
                key, rlk_duration(b->take.max_hold_ms));
    } else {
        cli_say("the lock '%s' has ended: no renewal was confirmed in time (see redlock nodes)",
                key);
    }
}

static void lose(struct bridge *b, const struct redlock_lock *lock, int reason)
{
    enum cli_loss loss = cli_loss_of(reason, CLI_LOSS_LIMIT);

    b->lost = b->done = true;
    b->code = CLI_LOST;
    if (b->lock) {
        put_end(b, "lost", cli_loss_name(loss));
        say_lost(b, lock, loss);
    }
}

static void note_trouble(struct bridge *b, const struct redlock_lock *lock,
                         const struct redlock_notice *notice)
{
    b->trouble = notice->reason;
    put_change(b, "trouble", notice, cli_loss_name(cli_loss_of(notice->reason, CLI_LOSS_LIMIT)));
    cli_trouble_notice(b->session->rl, lock, b->take.keys.name, notice);
}

static void note_move(struct bridge *b, const struct redlock_notice *notice)
{
    bool later = notice->deadline_us > b->deadline_us;

    if (later && b->trouble) {
        b->trouble = 0;
        put_change(b, "recovered", notice, NULL);
        cli_say("renewed '%s' again, valid for %s", b->take.keys.name,
                rlk_duration(notice->left_ms));
    } else {
        put_change(b, later ? "renewed" : "shortened", notice, NULL);
    }
}

static void on_bridge_notice(struct redlock_lock *lock, const struct redlock_notice *notice,
                             void *arg)
{
    struct bridge *b = arg;

    if (notice->kind == REDLOCK_NOTICE_LOST) {
        lose(b, lock, notice->reason);
    } else if (b->lock && notice->kind == REDLOCK_NOTICE_TROUBLE) {
        note_trouble(b, lock, notice);
    } else if (b->lock && notice->kind == REDLOCK_NOTICE_MOVED) {
        note_move(b, notice);
    }
}

/* ---- the other ends of stdin and stdout ---- */

/* A loss or another end came first, if there was one. */
static void stop(struct bridge *b, const char *what, int waiting_code, int holding_code)
{
    cli_take_give_up(b->pending, what, waiting_code);
    b->code = b->done ? b->code : holding_code;
    b->done = true;
}

static void on_input_closed(void *arg)
{
    stop(arg, "standard input was closed", CLI_HELD, CLI_OK);
}

static void on_output_closed(void *arg)
{
    struct bridge *b = arg;

    b->unread = !b->done;
    stop(b, "a failure of standard output", CLI_INTERNAL, CLI_INTERNAL);
}

/* The kernel closes the pipes of a dead program one after the other. The lock is released by now,
 * so there is time to wait for the end of stdin. Returns the code to exit with. */
static int explain_unread(const struct bridge *b, int code)
{
    int error = cli_writer_error(&cli_writer_events);

    if (cli_hangup_await(&b->input, DEATH_MS)) {
        return code != CLI_INTERNAL ? code : b->lock ? CLI_OK : CLI_HELD;
    }
    cli_say("cannot write to stdout: %s", strerror(error ? error : EPIPE));
    return code;
}

static int watch(struct bridge *b)
{
    const struct cli_loop *loop = &b->session->loop;
    int code;

    if (cli_writer_start(&cli_writer_events) != 0) {
        cli_say("cannot make a queue for events: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    b->input = (struct cli_hangup){.on = on_input_closed, .arg = b};
    b->output = b->queue = (struct cli_hangup){.on = on_output_closed, .arg = b};
    code = cli_hangup_watch(&b->input, loop, STDIN_FILENO, true);
    code = code == CLI_OK ? cli_hangup_watch(&b->output, loop, STDOUT_FILENO, false) : code;
    return code == CLI_OK
               ? cli_hangup_watch(&b->queue, loop, cli_writer_queue(&cli_writer_events), false)
               : code;
}

static void unwatch(struct bridge *b)
{
    cli_hangup_end(&b->queue);
    cli_hangup_end(&b->output);
    cli_hangup_end(&b->input);
    cli_writer_end(&cli_writer_events);
}

/* ---- the lock ---- */

static void report_acquired(struct bridge *b, struct redlock_lock *lock)
{
    b->lock = lock;
    b->deadline_us = redlock_lock_deadline_us(lock);
    cli_events_put(&b->events,
                   &(struct cli_event){.name = "acquired",
                                       .valid_ms = redlock_lock_validity_ms(lock),
                                       .deadline_us = b->deadline_us,
                                       .fencing_token = redlock_lock_fencing_token(lock),
                                       .token = redlock_lock_token(lock)});
}

/* A program that has died cannot read the event "released": tell people. */
static void say_released(const struct bridge *b)
{
    if (b->released && !cli_say_is_verbose() && cli_hangup_await(&b->input, 0) &&
        cli_hangup_await(&b->output, 0)) {
        cli_say("released '%s'", b->take.keys.name);
    }
}

/* Release the lock, and report it. That it was gone before is a loss, too. Returns the code to exit
 * with. */
static int end_held(struct bridge *b, struct cli_hold *hold, int code)
{
    if (!b->lost && redlock_lock_validity_ms(b->lock) == 0) {
        lose(b, b->lock, 0);
    }
    cli_hold_end(hold, true);
    if (b->lost) {
        return CLI_LOST;
    }
    if (!hold->done) {
        return CLI_INTERNAL;
    }
    if (hold->gone) {
        put_end(b, "lost", cli_loss_name(CLI_LOSS_KEYS_GONE));
        return CLI_LOST;
    }
    put_end(b, "released",
            hold->status == REDLOCK_ENOQUORUM ? cli_loss_name(CLI_LOSS_NO_MAJORITY) : NULL);
    b->released = hold->status == REDLOCK_OK;
    return code;
}

static int hold_lock(struct bridge *b, struct cli_signals *signals, struct redlock_lock *lock)
{
    struct cli_hold hold = {
        .session = b->session, .signals = signals, .lock = lock, .key = b->take.keys.name};
    int code;

    if (b->lost || redlock_lock_validity_ms(lock) == 0) {
        return cli_explain_slow("granted", b->take.keys.name);
    }
    report_acquired(b, lock);
    cli_hold_begin(&hold, b->take.ttl_ms, 0);
    code = cli_signals_run(signals, &b->session->loop, &b->done);
    return end_held(b, &hold, code == CLI_GO_ON ? b->code : code);
}

/* Ctrl-C reaches the program that started us, too. That program may clean up under the lock, and
 * then closes stdin. */
static int run_hold(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct bridge *b = arg;
    struct redlock_lock *lock;
    int code;

    b->session = session;
    signals->ignores_typed = !isatty(STDIN_FILENO);
    b->events.key = b->take.keys.name;
    cli_take_set_ttl(&b->take, session);
    b->take.renew = true;
    b->take.notice_cb = on_bridge_notice;
    b->take.notice_arg = b;
    b->take.flags = REDLOCK_NOTIFY_MOVES | REDLOCK_SHARE_TOKEN;
    b->take.pending = &b->pending;
    code = watch(b);
    if (code == CLI_OK) {
        code = cli_take_run(&b->take, session, signals, &lock, NULL);
        code = code == CLI_GO_ON ? hold_lock(b, signals, lock) : code;
        code = b->unread ? explain_unread(b, code) : code;
        say_released(b);
    }
    unwatch(b);
    return code;
}

/* A file or /dev/null never tells that the program has ended. */
static int read_hold(struct cli_args *args, int argc, char **argv)
{
    struct bridge *b = args->arg;
    int code = cli_keys_read(&b->take.keys, "hold", argc, argv);

    code = code == CLI_GO_ON ? cli_take_check(&b->take) : code;
    if (code == CLI_GO_ON && !cli_hangup_is_possible(STDIN_FILENO)) {
        code = cli_say_usage("hold", "standard input must be a pipe, a socket or a terminal: the "
                                     "lock is held until it is closed");
    }
    return code;
}

static const struct bridge usual = {.take = CLI_TAKE_USUAL("hold")};

const struct cli_subcommand cli_hold = {.name = "hold",
                                        .help = {help, help_end},
                                        .options = {options, cli_take_options},
                                        .usual = {&usual, sizeof(usual)},
                                        .traits = CLI_NEVER_WAITS | CLI_HAS_SIGNALS,
                                        .calls = {run_hold, read_hold, .free = cli_take_free}};
