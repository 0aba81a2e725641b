/* lock.c - redlock lock: run a command while holding a lock.
 *
 * It acquires the lock (cli/take/take.c), runs the command (cli/run/guard.c), and releases or
 * keeps the lock (cli/lock/hold.c).
 */
#include "cli/args/args.h"

#include <stdbool.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/lock/hold.h"
#include "cli/lock/lease.h"
#include "cli/metrics/leader.h"
#include "cli/metrics/outcome.h"
#include "cli/metrics/page.h"
#include "cli/run/guard.h"
#include "cli/run/orphan.h"
#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/environment.h"
#include "cli/session/session.h"
#include "cli/system/proc.h"
#include "cli/system/signals.h"
#include "cli/take/take.h"

#define DEFAULT_GRACE_MS 1000

static const char help[] =
    "usage: redlock lock KEY... [OPTION...] -- CMD [ARG...]\n"
    "       redlock lock KEY [OPTION...] CMD [ARG...]\n"
    "\n"
    "Acquire the lock KEY, run CMD, and release the lock. Of all commands that are run with\n"
    "the same KEY and masters, on any machine, only one runs at a time. Several KEYs are one\n"
    "lock: all of them or none. Write -- before CMD when there are several KEYs, or when CMD\n"
    "has a -- among its own arguments. In a script write -- before the KEY if it is in a\n"
    "variable: `redlock lock -- \"$key\" CMD`. With `redlock lock \"$key\" -- CMD` a key such as\n"
    "--help is an option. After such a -- comes one KEY, which may begin with a dash, and CMD\n"
    "(or another --, and CMD).\n"
    "\n"
    "While CMD runs, redlock renews the lock after a quarter to a third of its TTL. When a\n"
    "renewal fails, a message says why, and redlock tries again. A CMD that still runs near the\n"
    "end of the lock gets SIGTERM --grace before the end, and SIGKILL at the end, with all its\n"
    "descendants, even when redlock itself is stopped. When redlock is killed, CMD is killed at\n"
    "once, and the lock is released when all are dead. When a signal has ended CMD, redlock\n"
    "keeps the lock until the descendants of CMD have ended too, for --grace at most.\n"
    "\n"
    "  --ttl TIME          how long the lock lives without a renewal, and how long others wait\n"
    "                      when this machine dies (default 10s, or --max-ttl if that is less)\n"
    "  --grace TIME        send SIGTERM this long before the end (default 1s; at most half of\n"
    "                      the ttl or of --max-hold)\n"
    "  --leave-children    when a signal has ended CMD, leave its descendants alone\n"
    "  --max-hold TIME     end CMD at the latest after this time (default: no limit); a longer\n"
    "                      ttl is shortened to it\n"
    "  --at-least TIME     keep the lock for this time after it was acquired, also when CMD has\n"
    "                      ended, so that a machine that is late does not run CMD again\n"
    "  --no-renew          do not renew the lock: end CMD after --ttl\n"
    "  --wait TIME         wait at most this long for the lock (default: no limit)\n"
    "  --no-wait           do not wait: try once\n" CLI_TAKE_HELP_CONFLICT
    "  --owner TEXT        the holder's name, for people (default: host:pid)\n"
    "  --fence             set REDLOCK_FENCING_TOKEN for CMD: a number that grows with each\n"
    "                      acquisition, by which a resource refuses a stale "
    "holder\n" CLI_METRICS_HELP CLI_OUTCOME_HELP;

static const char help_end[] =
    "\n"
    "CMD gets these variables: REDLOCK_KEY (the first key), REDLOCK_KEYS (one per line),\n"
    "REDLOCK_TOKEN, REDLOCK_TRIES, REDLOCK_TOOK_US (how long it took to acquire the lock), and\n"
    "REDLOCK_FENCING_TOKEN with --fence. It inherits the masters, the key prefix, --max-ttl and\n"
    "--quarantine, so `redlock extend $REDLOCK_KEY --token $REDLOCK_TOKEN` in CMD names the same\n"
    "lock. It never inherits a password.\n"
    "\n"
    "examples:\n"
    "  redlock lock nightly --at-least 5m --wait 10s -qE 0 -- ./report.sh    # from cron\n"
    "  redlock lock deploy --wait 30s --max-hold 1h -- sh -c 'git pull && make install'\n"
    "  redlock lock from:alice to:bob -- ./transfer.sh\n"
    "\n"
    "exit status: that of CMD (128+N if signal N ended it), or 76 the lock ended while CMD\n"
    "ran, 75 somebody else holds the lock, 69 no majority of the masters can be reached, 78\n"
    "the masters or --max-ttl are not those on record (redlock masters), 64 wrong usage, 70\n"
    "internal error, 126 CMD cannot be run, 127 CMD was not found, 128+N signal N while waiting\n";

struct lock_args {
    struct cli_take take; /* first, for its options */
    struct cli_lock_lease lease;
    struct cli_orphan orphan; /* the lock, should redlock die */
    struct cli_guard guard;
    struct cli_metrics metrics;
    struct cli_outcome outcome;
    bool no_renew;
    struct cli_hold *hold; /* while CMD runs; NULL: not now */
};

#define LOCK_FIELD(name) .field = offsetof(struct lock_args, name)

static const struct cli_option options[] = {
    {"grace", CLI_TIME, LOCK_FIELD(lease.lease.terms.grace_ms), .max = REDLOCK_MAX_TTL_MS},
    {"leave-children", CLI_FLAG, LOCK_FIELD(lease.lease.terms.leaves_rest)},
    {"no-renew", CLI_FLAG, LOCK_FIELD(no_renew)},
    {"max-hold", CLI_TIME, LOCK_FIELD(take.max_hold_ms), .min = REDLOCK_MIN_TTL_MS,
     .max = UINT32_MAX},
    {"at-least", CLI_TIME, LOCK_FIELD(take.at_least_ms), REDLOCK_MIN_TTL_MS,
     .max = REDLOCK_MAX_TTL_MS},
    {"metrics", CLI_TEXT, LOCK_FIELD(metrics.address)},
    {"metrics-file", CLI_TEXT, LOCK_FIELD(outcome.file)},
    {.name = NULL}};

static bool has_dashes(int argc, char **argv)
{
    int i = optind;

    while (i < argc && strcmp(argv[i], "--") != 0) {
        i++;
    }
    return i < argc;
}

/* Options may come before, between and after the KEYs; those of CMD are left alone. There is one
 * KEY, unless a "--" ends several. A "--" before the first KEY only ends the options; another one
 * may come after that KEY. */
static int read_keys(struct cli_args *args, struct cli_keys *keys, int argc, char **argv)
{
    bool several = !args->ended && has_dashes(argc, argv);
    int code;

    do {
        code = cli_keys_take(keys, args->command->name, argc, argv);
        cli_args_skip_dashes(args, argc, argv);
        if (code == CLI_GO_ON && !args->ended) {
            code = cli_args_read(args, argc, argv);
        }
    } while (code == CLI_GO_ON && several && !args->ended && optind < argc);
    return code == CLI_GO_ON ? cli_keys_finish(keys) : code;
}

static int read_lock(struct cli_args *args, int argc, char **argv)
{
    struct lock_args *lock = args->arg;
    int code = read_keys(args, &lock->take.keys, argc, argv);

    lock->guard.argv = argv + optind;
    if (code == CLI_GO_ON && optind >= argc) {
        code = cli_say_usage("lock", "CMD, the command to run under the lock '%s', is missing",
                             lock->take.keys.name);
    }
    code = code == CLI_GO_ON ? cli_take_check(&lock->take) : code;
    return code == CLI_GO_ON ? cli_outcome_check("lock", lock->outcome.file) : code;
}

/* A grace as long as the ttl, which is no longer than --max-hold, would leave no time for the
 * command. */
static void fit_grace(struct lock_args *lock)
{
    uint32_t half = lock->take.ttl_ms / 2;

    if (lock->lease.lease.terms.grace_ms > half) {
        cli_say_detail("--grace is limited to half of the ttl or of --max-hold: %s",
                       rlk_duration(half));
        lock->lease.lease.terms.grace_ms = half;
    }
}

/* A lock that ended while CMD ran is gone at its release, too. */
static void note_end(struct lock_args *lock, const struct cli_hold *hold)
{
    struct cli_outcome *outcome = &lock->outcome;

    outcome->began = lock->guard.began;
    outcome->lost = lock->guard.lost;
    outcome->signo = lock->guard.signo;
    outcome->loss = outcome->lost ? lock->lease.loss
                    : hold->gone  ? CLI_LOSS_KEYS_GONE
                                  : CLI_LOSS_NONE;
    if (!outcome->lost) {
        cli_outcome_released(outcome);
    }
}

static int run_held(struct lock_args *lock, struct cli_session *session,
                    struct cli_signals *signals, struct redlock_lock *held)
{
    struct cli_hold hold = {
        .session = session, .signals = signals, .lock = held, .key = lock->take.keys.name};
    int code = cli_environment_set_lock(&lock->take.keys, held);

    cli_lock_lease_begin(&lock->lease, session->rl, held);
    cli_hold_begin(&hold, lock->take.ttl_ms, lock->take.at_least_ms);
    lock->orphan = (struct cli_orphan){session, &lock->take.keys, redlock_lock_token(held),
                                       .keep_until_us = hold.until_us};
    lock->lease.lease.orphan = &lock->orphan;
    if (code == CLI_OK) {
        lock->hold = &hold;
        code = cli_guard_run(&lock->guard, session, signals);
        lock->hold = NULL;
        cli_outcome_released(&lock->outcome);
    }
    if (lock->guard.began) {
        cli_hold_end(&hold, code > CLI_SIGNALED);
    } else {
        cli_hold_cancel(&hold);
    }
    note_end(lock, &hold);
    return code;
}

/* After a signal CMD is about to end, so nothing is promised any more. */
static struct cli_held find_held(const void *arg)
{
    const struct lock_args *lock = arg;
    const struct redlock_lock *held =
        lock->hold && lock->guard.signo == 0 ? lock->hold->lock : NULL;

    return (struct cli_held){lock->take.keys.name, held ? redlock_lock_deadline_us(held) : 0,
                             held ? redlock_lock_fencing_token(held) : 0};
}

static void promise_held(void *arg, uint64_t deadline_us)
{
    const struct lock_args *lock = arg;

    cli_hold_promise(lock->hold, deadline_us);
    cli_guard_promise(&lock->guard, lock->hold->until_us);
}

static int run_locked(struct lock_args *lock, struct cli_session *session,
                      struct cli_signals *signals)
{
    struct redlock_lock *held;
    int code;

    cli_proc_check();
    cli_outcome_begin(&lock->outcome, lock->take.keys.name);
    code = cli_take_run(&lock->take, session, signals, &held, &lock->outcome.refused);
    if (code == CLI_GO_ON) {
        cli_outcome_acquired(&lock->outcome);
        code = run_held(lock, session, signals, held);
    } else if (code > CLI_SIGNALED && !lock->outcome.refused) {
        lock->outcome.signo = code - CLI_SIGNALED;
    }
    return code;
}

static const struct cli_holder_calls holder = {find_held, promise_held, NULL};

/* Fill in the guard, when all options are known. */
static void prepare(struct lock_args *lock, const struct cli_session *session)
{
    struct cli_terms *terms = &lock->lease.lease.terms;

    fit_grace(lock);
    lock->take.renew = !lock->no_renew;
    lock->take.notice_cb = cli_lock_lease_notice;
    lock->take.notice_arg = &lock->lease;
    lock->take.flags = REDLOCK_NOTIFY_MOVES | REDLOCK_SHARE_TOKEN;
    lock->lease.guard = &lock->guard;
    lock->guard.lease = &lock->lease.lease;
    lock->metrics.holder = &holder;
    lock->metrics.arg = lock;
    terms->key = lock->take.keys.name;
    terms->ttl_ms = lock->take.renew ? lock->take.ttl_ms : cli_take_lease_ms(&lock->take, session);
    terms->renew = lock->take.renew;
    terms->max_hold_ms = lock->take.max_hold_ms;
    terms->rest_ms = terms->grace_ms;
}

static int run_lock(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct lock_args *lock = arg;
    int code;

    cli_take_set_ttl(&lock->take, session);
    prepare(lock, session);
    code = cli_metrics_open(&lock->metrics, session, "--metrics");
    if (code == CLI_OK) {
        code = run_locked(lock, session, signals);
        cli_metrics_close(&lock->metrics);
    }
    return code;
}

static void write_lock_outcome(void *arg, int code)
{
    const struct lock_args *lock = arg;

    cli_outcome_write(&lock->outcome, code);
}

static const struct lock_args usual = {
    .take = CLI_TAKE_USUAL("lock"), .lease = {.lease = {.terms = {.grace_ms = DEFAULT_GRACE_MS}}}};

const struct cli_subcommand cli_lock = {
    .name = "lock",
    .help = {help, help_end},
    .options = {options, cli_take_options},
    .usual = {&usual, sizeof(usual)},
    .traits = CLI_HAS_CMD | CLI_NEVER_WAITS | CLI_HAS_SIGNALS,
    .calls = {run_lock, read_lock, write_lock_outcome, .free = cli_take_free}};
