/* take.c - acquires a lock, and gives up after a signal.
 *
 *                 acquired
 *   WAITING ---------------------> held
 *      |
 *      | refused / INT, TERM, HUP, QUIT: redlock_cancel()
 *      v
 *   explained (why, and what to do)
 */
#include "cli/take/take.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/drift.h"
#include "cli/session/node_state.h"
#include "cli/system/title.h"
#include "cli/take/explain.h"
#include "cli/take/found.h"
#include "cli/take/holder.h"
#include "cli/take/wait.h"

/* A pending acquire. */
struct cli_attempt {
    const struct cli_take *take;
    struct cli_session *session;
    struct redlock_lock *lock;
    struct cli_wait *wait;
    struct cli_found found; /* who holds the lock, if the votes do not prove it */
    const char *given_up;   /* the event after which we gave up waiting; NULL: we did not */
    int given_up_code;
    bool refused; /* somebody else holds the lock, or may hold it */
    bool ended;   /* the callback of the acquire was called */
    bool done;
    int code;
};

void cli_take_free(void *arg)
{
    struct cli_take *take = arg;

    cli_keys_free(&take->keys);
}

uint32_t cli_take_ttl_for(const struct cli_session *session, uint64_t ms)
{
    uint64_t ttl_ms = (ms + CLI_DRIFT_MS) * CLI_DRIFT_PARTS / (CLI_DRIFT_PARTS - 1) + 1;
    uint64_t most_ms = ms > session->max_ttl_ms ? ms : session->max_ttl_ms;

    return (uint32_t)(ttl_ms < most_ms ? ttl_ms : most_ms);
}

uint32_t cli_take_lease_of(uint32_t ttl_ms)
{
    uint32_t drift_ms = ttl_ms / CLI_DRIFT_PARTS + 1 + CLI_DRIFT_MS;

    return ttl_ms > drift_ms ? ttl_ms - drift_ms : 0;
}

/* No renewal could make the lock live for --max-hold if that is less than the ttl. With a shorter
 * ttl it ends in time by itself, also when this machine dies. */
void cli_take_set_ttl(struct cli_take *take, const struct cli_session *session)
{
    uint32_t ttl_ms = cli_session_ttl(session, take->ttl_ms);
    uint32_t most_ms =
        take->max_hold_ms ? cli_take_ttl_for(session, take->max_hold_ms) : UINT32_MAX;

    take->ttl_ms = ttl_ms < most_ms ? ttl_ms : most_ms;
}

uint32_t cli_take_lease_ms(const struct cli_take *take, const struct cli_session *session)
{
    uint32_t least_ms = take->at_least_ms ? cli_take_ttl_for(session, take->at_least_ms) : 0;

    return least_ms > take->ttl_ms ? least_ms : take->ttl_ms;
}

static int take_owner(void *arg, const char *owner)
{
    struct cli_take *take = arg;

    take->owner = owner;
    return cli_args_owner(take->command, "--owner", owner);
}

#define TAKE_FIELD(name) .field = offsetof(struct cli_take, name)

/* The range of the exit code is that of flock(1). */
const struct cli_option cli_take_options[] = {
    {"ttl", CLI_TIME, TAKE_FIELD(ttl_ms), .min = REDLOCK_MIN_TTL_MS, .max = REDLOCK_MAX_TTL_MS},
    {"wait", CLI_TIME, TAKE_FIELD(wait_ms), .max = REDLOCK_FOREVER - 1},
    {"no-wait", CLI_FLAG, TAKE_FIELD(no_wait)},
    {"fence", CLI_FLAG, TAKE_FIELD(fence)},
    {"quiet", CLI_FLAG, TAKE_FIELD(quiet), .letter = 'q'},
    {"conflict-exit-code", CLI_NUMBER, TAKE_FIELD(conflict_code), .max = 255, .letter = 'E'},
    {"owner", CLI_CALL, .take = take_owner},
    {.name = NULL}};

int cli_take_check(struct cli_take *take)
{
    if (take->no_wait && take->wait_ms != REDLOCK_FOREVER) {
        return cli_say_usage(take->command,
                             "--wait and --no-wait are both given: give one of them");
    }
    take->wait_ms = take->no_wait ? 0 : take->wait_ms;
    return CLI_GO_ON;
}

static void say_held(const struct cli_take *take, const struct redlock_lock *lock)
{
    uint32_t tries;
    uint64_t took_us;

    redlock_lock_effort(lock, &tries, &took_us);
    cli_say_detail("acquired '%s' in %" PRIu64 ".%03" PRIu64 " ms (tries: %" PRIu32
                   "), valid for %s, token %s",
                   take->keys.name, took_us / 1000, took_us % 1000, tries,
                   rlk_duration(redlock_lock_validity_ms(lock)),
                   cli_holder_short(redlock_lock_token(lock)));
}

/* Whether it failed because masters refused, and not because they were slow or could not be
 * reached. */
static bool is_refused(const struct redlock_lock *lock, int status)
{
    return status == REDLOCK_EHELD ||
           (status == REDLOCK_EDEADLINE && redlock_lock_reason(lock) == REDLOCK_EHELD);
}

/* Whether a majority of the masters named the same holder. */
static bool is_proven(const struct cli_attempt *attempt, const struct redlock_lock *lock)
{
    const struct redlock *rl = attempt->session->rl;

    return cli_holder_find(rl, lock).masters > redlock_node_count(rl) / 2;
}

/* It is a conflict if somebody else holds the lock, or may hold it. If the masters say that nobody
 * can, the exit status must not claim that somebody else does the work. */
static void on_found(void *arg)
{
    struct cli_attempt *attempt = arg;
    const struct cli_take *take = attempt->take;
    bool conflict = attempt->found.held || attempt->found.unknown;

    if (!conflict || !take->quiet) {
        cli_explain_found(attempt->session->rl, &attempt->found, &take->keys, take->wait_ms > 0);
    }
    attempt->refused = conflict;
    attempt->code = attempt->given_up ? attempt->given_up_code
                    : conflict        ? take->conflict_code
                                      : CLI_UNREACHABLE;
    attempt->done = true;
}

static bool ask_who_holds_it(struct cli_attempt *attempt)
{
    attempt->found.cb = on_found;
    attempt->found.arg = attempt;
    return cli_found_ask(&attempt->found, attempt->session->rl, &attempt->take->keys);
}

static void fail_attempt(struct cli_attempt *attempt, const struct redlock_lock *lock, int status)
{
    const struct cli_take *take = attempt->take;
    bool refused = is_refused(lock, status);
    int code = CLI_OK;

    if (refused && !is_proven(attempt, lock) && ask_who_holds_it(attempt)) {
        attempt->done = false;
        return;
    }
    if (!refused || !take->quiet) {
        code = cli_explain_failure(attempt->session, lock, &take->keys, status);
    }
    attempt->refused = refused;
    attempt->code = refused ? take->conflict_code : code;
}

static void say_gave_up(const struct cli_attempt *attempt)
{
    cli_say("gave up waiting for '%s' after %s", attempt->take->keys.name, attempt->given_up);
    if (attempt->wait && !attempt->take->quiet) {
        cli_wait_explain(attempt->wait);
    }
}

/* A lock that is acquired after we gave up is not kept: redlock_close() releases it. */
static void on_take_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct cli_attempt *attempt = arg;

    attempt->ended = attempt->done = true;
    if (attempt->given_up) {
        say_gave_up(attempt);
    }
    if (cli_wait_end(attempt->wait)) {
        attempt->code = CLI_UNREACHABLE;
    } else if (attempt->given_up) {
        attempt->code = attempt->given_up_code;
    } else if (status == 0) {
        say_held(attempt->take, lock);
        cli_nodes_say_remarks(attempt->session->rl);
        attempt->code = CLI_GO_ON;
    } else {
        fail_attempt(attempt, lock, status);
    }
}

void cli_take_give_up(struct cli_attempt *attempt, const char *what, int code)
{
    if (attempt == NULL || attempt->given_up || attempt->done) {
        return;
    }
    attempt->given_up = what;
    attempt->given_up_code = code;
    if (!attempt->ended) {
        redlock_cancel(attempt->lock);
    }
}

static void on_take_signal(void *arg, int signo)
{
    if (cli_signals_ends(signo)) {
        cli_take_give_up(arg, cli_signals_name(signo), CLI_SIGNALED + signo);
    }
}

static int refuse_take(const struct cli_take *take, const struct cli_session *session, int status)
{
    bool longer = take->at_least_ms > take->ttl_ms;

    return cli_session_refuse(session, status, "acquire", take->keys.name,
                              longer ? "--at-least" : "--ttl",
                              longer ? take->at_least_ms : take->ttl_ms);
}

static int begin_attempt(struct cli_attempt *attempt)
{
    const struct cli_take *take = attempt->take;
    struct redlock_request request;
    char self[CLI_IDENTITY_TEXT];
    int status;

    redlock_request_init(&request);
    cli_keys_set(&take->keys, &request);
    request.ttl_ms = cli_take_lease_ms(take, attempt->session);
    request.wait_ms = take->wait_ms;
    request.fencing = take->fence;
    request.renew = take->renew;
    request.max_hold_ms = take->max_hold_ms;
    request.notice_cb = take->notice_cb;
    request.notice_arg = take->notice_arg;
    request.flags = take->flags;
    request.owner = take->owner == NULL ? cli_identity(self) : take->owner[0] ? take->owner : NULL;
    status =
        redlock_acquire(attempt->session->rl, &request, on_take_acquired, attempt, &attempt->lock);
    return status == 0 ? CLI_GO_ON : refuse_take(take, attempt->session, status);
}

/* A wait with a limit is never given up before the limit. */
static void begin_wait(struct cli_attempt *attempt)
{
    const struct cli_take *take = attempt->take;
    struct cli_wait_options options = {
        .keys = &take->keys,
        .tell = cli_say_is_verbose() || (!take->quiet && isatty(STDERR_FILENO)),
        .quiet = take->quiet,
        .give_up = take->wait_ms == REDLOCK_FOREVER,
    };

    attempt->wait = cli_wait_begin(attempt->session, attempt->lock, &options);
}

static void set_pending(const struct cli_take *take, struct cli_attempt *attempt)
{
    if (take->pending) {
        *take->pending = attempt;
    }
}

int cli_take_run(const struct cli_take *take, struct cli_session *session,
                 struct cli_signals *signals, struct redlock_lock **ret_lock, bool *ret_refused)
{
    struct cli_attempt attempt = {.take = take, .session = session};
    int code;

    if (!take->quiet) {
        cli_session_say_unverified(session);
    }
    code = begin_attempt(&attempt);
    if (code != CLI_GO_ON) {
        return code;
    }
    begin_wait(&attempt);
    signals->on = on_take_signal;
    signals->arg = &attempt;
    set_pending(take, &attempt);
    code = cli_loop_run(&session->loop, &attempt.done);
    set_pending(take, NULL);
    signals->on = NULL;
    if (ret_refused) {
        *ret_refused = attempt.refused;
    }
    if (code == CLI_GO_ON && attempt.code == CLI_GO_ON) {
        *ret_lock = attempt.lock;
    }
    return code == CLI_GO_ON ? attempt.code : code;
}
