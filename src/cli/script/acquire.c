/* acquire.c - redlock acquire: acquires a lock and leaves it to the caller.
 *
 * The lock is left on every master that is up, not only on the majority that replied first.
 *
 * It prints only the token, and with --fence the fencing token. Nobody could release the lock
 * without the token, so the lock is released if the token cannot be written.
 */
#include "cli/args/args.h"

#include <inttypes.h>
#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/script/grant.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"
#include "cli/take/explain.h"
#include "cli/take/set_all.h"
#include "cli/take/take.h"

static const char help[] =
    "usage: redlock acquire KEY... [OPTION...]\n"
    "\n"
    "Acquire the lock KEY (several KEYs are one lock: all or none), print its token on stdout,\n"
    "and exit. The lock stays until `redlock release KEY... --token TOKEN`, or until its ttl has\n"
    "passed. It is not renewed; `redlock extend` extends it. Use this only in scripts that\n"
    "cannot run under `redlock lock`, which is safer: it renews the lock, and ends the work\n"
    "before the lock ends.\n"
    "\n"
    "  --ttl TIME          how long the lock lives (default 10s, or --max-ttl if that is less)\n"
    "  --wait TIME         wait at most this long for the lock (default: no limit)\n"
    "  --no-wait           do not wait: try once\n" CLI_TAKE_HELP_CONFLICT
    "  --owner TEXT        the holder's name, for people (default: host:pid)\n"
    "  --fence             print a fencing token on a second line: a number that grows with\n"
    "                      each acquisition, by which a resource refuses a stale "
    "holder\n" CLI_GRANT_HELP;

static const char help_end[] =
    "\n"
    "examples:\n"
    "  token=$(redlock acquire backup --ttl 2m --no-wait) || exit\n"
    "  redlock extend backup --token \"$token\" --ttl 2m || exit\n"
    "  redlock release backup --token \"$token\"\n"
    "  lines=$(redlock acquire backup --fence --shell) || exit\n"
    "  eval \"$lines\"    # sets token, fencing_token, valid_ms, deadline_us\n"
    "\n"
    "`eval \"$(redlock acquire ... --shell)\" || exit` stops, too, but not if redlock is killed, "
    "or\n"
    "is not found. -E 0 is refused: a script would go on without the lock.\n"
    "\n"
    "exit status: 0 acquired, 75 somebody else holds the lock, 69 no majority of the masters\n"
    "can be reached, 78 the masters or --max-ttl are not those on record (redlock masters), 64\n"
    "wrong usage, 70 internal error, 128+N ended by signal N\n";

struct acquire {
    struct cli_take take; /* first, for its options */
    struct cli_grant_format format;
};

static const struct cli_option options[] = {
    {"json", CLI_FLAG, .field = offsetof(struct acquire, format.json)},
    {"shell", CLI_FLAG, .field = offsetof(struct acquire, format.shell)},
    {.name = NULL}};

static void print_plainly(const struct cli_take *take, const struct redlock_lock *lock)
{
    printf("%s\n", redlock_lock_token(lock));
    if (take->fence) {
        printf("%" PRIu64 "\n", redlock_lock_fencing_token(lock));
    }
}

/* Print the token, and only then leave the lock to the caller. If that fails, redlock_close()
 * releases the lock. */
static int hand_out(const struct acquire *acquire, struct redlock_lock *lock)
{
    const struct cli_take *take = &acquire->take;
    int code;

    if (redlock_lock_validity_ms(lock) == 0) {
        return cli_explain_slow("granted", take->keys.name);
    }
    if (!cli_grant_print(&acquire->format, lock)) {
        print_plainly(take, lock);
    }
    code = cli_say_flush();
    if (code == CLI_OK) {
        redlock_lock_detach(lock);
    }
    return code == CLI_UNREAD ? CLI_INTERNAL : code;
}

/* After a signal the token is not printed, and redlock_close() releases the lock. */
static int set_everywhere(const struct cli_take *take, struct cli_session *session,
                          struct cli_signals *signals, struct redlock_lock *lock)
{
    int code = cli_set_all(session, lock, take->ttl_ms, signals);

    if (code > CLI_SIGNALED) {
        cli_say("released '%s' after %s", take->keys.name, cli_signals_name(code - CLI_SIGNALED));
    }
    return code;
}

/* SIGINT gives the exit status 130 here, and does not kill. */
static int run_acquire(void *arg, struct cli_session *session, struct cli_signals *unused)
{
    struct acquire *acquire = arg;
    struct cli_take *take = &acquire->take;
    struct cli_signals signals = {.fd = -1};
    struct redlock_lock *lock;
    int code = cli_signals_start(&signals, &session->loop);

    (void)unused;
    if (code != CLI_OK) {
        return code;
    }
    cli_take_set_ttl(take, session);
    code = cli_take_run(take, session, &signals, &lock, NULL);
    if (code == CLI_GO_ON) {
        code = set_everywhere(take, session, &signals, lock);
        code = code == CLI_GO_ON ? hand_out(acquire, lock) : code;
    }
    cli_signals_stop(&signals);
    return code;
}

/* With -E 0 a script could not tell that it has no lock. `redlock lock` does not run CMD then; here
 * there is no CMD. */
static int read_acquire(struct cli_args *args, int argc, char **argv)
{
    struct acquire *acquire = args->arg;
    int code = cli_keys_read(&acquire->take.keys, "acquire", argc, argv);

    if (code == CLI_GO_ON && acquire->take.conflict_code == CLI_OK) {
        code = cli_say_usage("acquire", "-E 0 is not allowed: a script would go on without the "
                                        "lock; use another number");
    }
    code = code == CLI_GO_ON ? cli_take_check(&acquire->take) : code;
    return code == CLI_GO_ON ? cli_grant_check(&acquire->format, "acquire") : code;
}

static void fail_acquire(int argc, char **argv, int code)
{
    cli_grant_fail("token fencing_token valid_ms deadline_us", argc, argv, code);
}

static const struct acquire usual = {.take = CLI_TAKE_USUAL("acquire"), .format = {.is_new = true}};

const struct cli_subcommand cli_acquire = {
    .name = "acquire",
    .help = {help, help_end},
    .options = {options, cli_take_options},
    .usual = {&usual, sizeof(usual)},
    .traits = CLI_NEVER_WAITS,
    .calls = {run_acquire, read_acquire, .free = cli_take_free, .failed = fail_acquire}};
