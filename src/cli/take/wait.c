/* wait.c - queries and examines the masters while an acquire waits.
 *
 * A reply may come after the end of the wait: struct cli_wait is freed only after the last reply.
 */
#include "cli/take/wait.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/args/keys.h"
#include "settings/duration.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/owner.h"
#include "cli/session/session.h"
#include "cli/take/explain.h"
#include "cli/take/holder.h"

/* Every how many seconds the masters are examined again; and after how many seconds redlock says
 * once that it waits for masters. */
#define EXAMINE_SECONDS 10
#define EXPLAIN_SECONDS 3

static const struct timeval second = {1, 0};

struct cli_wait {
    struct cli_session *session;
    struct redlock_lock *lock; /* NULL: the wait is over */
    struct cli_wait_options options;
    struct event *timer;
    unsigned seconds;
    unsigned asked;    /* queries and examinations without a result yet */
    uint32_t position; /* the queue position that redlock has said */
    bool named;        /* redlock has said who holds the lock */
    bool foreign;      /* it has said that the key is another program's */
    bool examined;     /* the masters were examined within the last EXAMINE_SECONDS */
    bool gave_up;
};

static void free_if_over(struct cli_wait *wait)
{
    if (wait->lock == NULL && wait->asked == 0) {
        free(wait);
    }
}

/* ---- who holds the lock ---- */

static bool is_position_news(const struct cli_wait *wait)
{
    uint32_t position = redlock_lock_queue_position(wait->lock);

    return cli_say_is_verbose() && position && position != wait->position;
}

/* With --verbose. */
static void say_position(struct cli_wait *wait, uint64_t waiters)
{
    uint32_t position = redlock_lock_queue_position(wait->lock);

    wait->position = position;
    cli_say_detail("waiting for '%s', queue position %" PRIu32 " of %" PRIu64,
                   wait->options.keys->name, position, waiters < position ? position : waiters);
}

static void say_held_by(const char *key, const struct redlock_query_result *result)
{
    bool ends = result->ttl_ms != UINT64_MAX;

    cli_say("waiting for '%s', %s%s (%s%s, on %zu of %zu masters)", key,
            cli_owner_held(result->owner),
            result->owner[0] ? result->owner : cli_holder_short(result->token),
            ends ? rlk_duration(result->ttl_ms) : "never expires", ends ? " left" : "",
            result->holding, result->n_nodes);
}

static void on_holder(const struct redlock_query_result *result, int status, void *arg)
{
    struct cli_wait *wait = arg;
    bool is_held = status == 0 && result->held && wait->lock;

    wait->asked--;
    if (is_held && !wait->named) {
        wait->named = true;
        say_held_by(wait->options.keys->name, result);
    }
    if (is_held && is_position_news(wait)) {
        say_position(wait, result->waiters);
    }
    free_if_over(wait);
}

static void ask_for_holder(struct cli_wait *wait)
{
    const struct cli_keys *keys = wait->options.keys;
    size_t i;

    for (i = 0; i < keys->n; i++) {
        wait->asked += redlock_query(wait->session->rl, keys->keys[i], 0, on_holder, wait) == 0;
    }
}

/* ---- whether the wait can succeed ---- */

/* Whether a finding stays until somebody fixes it. Without a prefix a user may be meant for some
 * keys only, and our key may be one of them: see is_denied(). */
static bool is_permanent(const struct redlock_finding *finding, bool has_prefix)
{
    static const enum redlock_finding_kind kinds[] = {REDLOCK_FOUND_LOGIN, REDLOCK_FOUND_ROLE,
                                                      REDLOCK_FOUND_RIGHTS, REDLOCK_FOUND_KEYS,
                                                      REDLOCK_FOUND_DATABASE};
    bool found = false;
    size_t i;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        found |= finding->kind == kinds[i];
    }
    return found && finding->severity == REDLOCK_UNUSABLE &&
           (has_prefix || finding->kind != REDLOCK_FOUND_KEYS);
}

/* The examination shows that some keys are denied to this user; the vote shows that our key is one
 * of them. */
static bool is_denied(const struct redlock_examined *node, const struct redlock_lock *lock,
                      size_t i)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    return (node->keys_denied || node->lock_keys_denied) &&
           redlock_lock_node(lock, i, &detail) == 0 && detail.vote == REDLOCK_VOTE_UNKNOWN &&
           strstr(detail.error, "NOPERM");
}

/* Until somebody changes something. One that refuses our commands may be well again in a moment. */
static bool has_no_vote(const struct redlock_examined *node)
{
    return node->quarantine_ms == UINT64_MAX && !node->quarantine_ends && node->refusal[0] == '\0';
}

static size_t count_lost(const struct redlock_report *report, const struct cli_wait *wait)
{
    bool has_prefix = wait->session->prefix_len > 0;
    size_t lost = 0, i;

    for (i = 0; i < report->n_nodes; i++) {
        const struct redlock_examined *node = report->nodes[i];
        bool is_lost = has_no_vote(node) || is_denied(node, wait->lock, i);
        size_t f;

        for (f = 0; f < report->n_findings; f++) {
            is_lost |= report->findings[f]->node == (int)i &&
                       is_permanent(report->findings[f], has_prefix);
        }
        lost += is_lost;
    }
    return lost;
}

/* `lost` masters cannot be used as they are. */
static void say_hopeless(struct cli_session *session, const char *key, size_t lost)
{
    size_t n = redlock_node_count(session->rl), i;

    cli_say("waiting for '%s' cannot succeed: %zu of %zu masters cannot be used as they are, and "
            "%zu are needed",
            key, lost, n, n / 2 + 1);
    for (i = 0; i < n; i++) {
        cli_node_say(session, NULL, i);
    }
    if (cli_nodes_deny_keys(session->rl)) {
        cli_nodes_say_prefix(session);
    }
    cli_say_more("Fix this (redlock doctor says how), or use --wait TIME to wait until somebody "
                 "has fixed it.");
}

static void on_examined(const struct redlock_report *report, int status, void *arg)
{
    struct cli_wait *wait = arg;
    size_t lost;

    (void)status;
    wait->asked--;
    if (report && wait->lock && redlock_lock_reason(wait->lock) == REDLOCK_ENOQUORUM) {
        lost = count_lost(report, wait);
        if (report->n_nodes - lost < report->quorum && redlock_cancel(wait->lock) == 0) {
            wait->gave_up = true;
            say_hopeless(wait->session, wait->options.keys->name, lost);
        }
    }
    free_if_over(wait);
}

/* ---- when ---- */

/* Examine the masters as soon as the first try has failed. Called after each turn of the loop. */
static void on_wait_turn(void *arg)
{
    struct cli_wait *wait = arg;

    if (wait->options.give_up && !wait->examined &&
        redlock_lock_reason(wait->lock) == REDLOCK_ENOQUORUM) {
        wait->examined = true;
        wait->asked += redlock_examine(wait->session->rl, on_examined, wait) == 0;
    }
}

/* A key that is not a string is no lock, so --quiet does not concern it. */
static void note_foreign(struct cli_wait *wait)
{
    const struct redlock *rl = wait->session->rl;

    if (!wait->foreign && wait->seconds >= EXPLAIN_SECONDS &&
        cli_holder_is_foreign(rl, wait->lock) &&
        (!wait->options.quiet || cli_holder_is_no_string(cli_holder_find(rl, wait->lock).token))) {
        wait->foreign = true;
        cli_explain_foreign(rl, wait->lock, wait->options.keys->name);
    }
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
    struct cli_wait *wait = arg;

    (void)fd;
    (void)what;
    wait->seconds++;
    if (wait->seconds % EXAMINE_SECONDS == 0) {
        wait->examined = false;
    }
    if (redlock_lock_reason(wait->lock) != REDLOCK_ENOQUORUM) {
        cli_nodes_reset_said(wait->session);
        note_foreign(wait);
        if (wait->options.tell && (!wait->named || is_position_news(wait))) {
            ask_for_holder(wait);
        }
    } else if (wait->seconds == EXPLAIN_SECONDS) {
        cli_explain_waiting(wait->session, wait->lock, wait->options.keys->name);
    }
}

struct cli_wait *cli_wait_begin(struct cli_session *session, struct redlock_lock *lock,
                                const struct cli_wait_options *options)
{
    struct cli_wait *wait = calloc(1, sizeof(*wait));

    if (wait == NULL) {
        return NULL;
    }
    wait->session = session;
    wait->lock = lock;
    wait->options = *options;
    session->loop.on_turn = on_wait_turn;
    session->loop.arg = wait;
    wait->timer = event_new(session->loop.base, -1, EV_PERSIST, on_second, wait);
    if (wait->timer) {
        event_add(wait->timer, &second);
    }
    return wait;
}

void cli_wait_explain(const struct cli_wait *wait)
{
    cli_explain_reason(wait->session, wait->lock, wait->options.keys->name);
}

bool cli_wait_end(struct cli_wait *wait)
{
    bool gave_up = wait && wait->gave_up;

    if (wait == NULL) {
        return false;
    }
    wait->session->loop.on_turn = NULL;
    cli_event_free(wait->timer);
    wait->lock = NULL;
    free_if_over(wait);
    return gave_up;
}
