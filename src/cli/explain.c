/* cli/explain.c - turning outcomes and what the masters said into sentences. */
#include "cli/explain.h"

#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/duration.h"
#include "cli/exit.h"
#include "cli/say.h"

/* Who has refused us, and on how many masters. */
struct holder {
    char token[128];
    size_t masters;
    size_t refusals;
};

const char *cli_explain_state(int state)
{
    switch ((enum redlock_node_state)state) {
    case REDLOCK_NODE_DOWN:
        return "down";
    case REDLOCK_NODE_CONNECTING:
        return "connecting";
    case REDLOCK_NODE_UP:
        return "up";
    case REDLOCK_NODE_STUCK:
        return "stuck";
    }
    return "unknown";
}

static const char *holder_at(const struct redlock_lock *lock, size_t index)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    if (redlock_lock_node(lock, index, &detail) != 0 || detail.vote != REDLOCK_VOTE_NO) {
        return NULL;
    }
    return detail.holder;
}

static size_t count_token(const struct redlock_lock *lock, size_t n, const char *token)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        const char *other = holder_at(lock, i);

        count += other && strcmp(other, token) == 0;
    }
    return count;
}

/* Find whom most of the refusing masters named. */
static struct holder find_holder(const struct redlock *rl, const struct redlock_lock *lock)
{
    struct holder holder = {"", 0, 0};
    size_t n = redlock_node_count(rl);

    for (size_t i = 0; i < n; i++) {
        const char *token = holder_at(lock, i);
        size_t masters = token ? count_token(lock, n, token) : 0;

        holder.refusals += token != NULL;
        if (masters > holder.masters && token[0]) {
            holder.masters = masters;
            snprintf(holder.token, sizeof(holder.token), "%s", token);
        }
    }
    return holder;
}

static void say_holder(const struct redlock *rl, const struct redlock_lock *lock, const char *key)
{
    struct holder holder = find_holder(rl, lock);
    const char *owner = strchr(holder.token, ':');
    size_t n = redlock_node_count(rl);

    if (!holder.token[0]) {
        cli_say("'%s' is held by somebody else (%zu of %zu masters refused; these servers do not "
                "tell who it is)",
                key, holder.refusals, n);
    } else if (holder.masters <= n / 2 && holder.refusals > holder.masters) {
        cli_say("'%s' is contended: %zu of %zu masters refused, and nobody has a majority yet", key,
                holder.refusals, n);
    } else if (owner && owner[1]) {
        cli_say("'%s' is held by %s (say %zu of %zu masters; token %s)", key, owner + 1,
                holder.masters, n, holder.token);
    } else {
        cli_say("'%s' is held by somebody else (say %zu of %zu masters; token %s)", key,
                holder.masters, n, holder.token);
    }
}

static void say_master(const struct redlock *rl, size_t index)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    if (redlock_node_info(rl, index, &info) != 0) {
        return;
    }
    cli_say_more("%s  %s%s%s", info.name, cli_explain_state((int)info.state),
                 info.error[0] ? ": " : "", info.error);
}

static size_t count_up(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t up = 0;

    for (size_t i = 0; i < redlock_node_count(rl); i++) {
        up += redlock_node_info(rl, i, &info) == 0 && info.state == REDLOCK_NODE_UP;
    }
    return up;
}

static void say_masters(const struct redlock *rl)
{
    size_t n = redlock_node_count(rl);

    cli_say("no majority of the masters can be reached: %zu of %zu are up, %zu are needed",
            count_up(rl), n, n / 2 + 1);
    for (size_t i = 0; i < n; i++) {
        say_master(rl, i);
    }
}

int cli_explain_masters(struct redlock *rl)
{
    say_masters(rl);
    cli_say_more("See that they run, can be reached from here, and take this password "
                 "(redlock nodes).");
    return CLI_UNREACHABLE;
}

static int explain_held(struct redlock *rl, const struct redlock_lock *lock, const char *key,
                        int waited)
{
    say_holder(rl, lock, key);
    cli_say_more("Look at it with: redlock status '%s'. %s", key,
                 waited ? "To wait longer, raise --wait; without it the wait has no end."
                        : "To wait for it, use --wait 30s instead of --no-wait.");
    return CLI_HELD;
}

static int explain_slow(const char *key)
{
    cli_say("a majority granted '%s', but so late that too little of its time was left", key);
    cli_say_more("Use a larger --ttl, or see why the masters are slow (redlock nodes).");
    return CLI_HELD;
}

static int explain_reason(struct redlock *rl, const struct redlock_lock *lock, const char *key,
                          int reason, int waited)
{
    switch (reason) {
    case REDLOCK_ENOQUORUM:
        return cli_explain_masters(rl);
    case REDLOCK_ETOOSLOW:
        return explain_slow(key);
    default:
        return explain_held(rl, lock, key, waited);
    }
}

int cli_explain_failure(struct redlock *rl, const struct redlock_lock *lock, const char *key,
                        int status)
{
    switch (status) {
    case REDLOCK_EDEADLINE:
        return explain_reason(rl, lock, key, redlock_lock_reason(lock), 1);
    case REDLOCK_EHELD:
    case REDLOCK_ETOOSLOW:
    case REDLOCK_ENOQUORUM:
        return explain_reason(rl, lock, key, status, 0);
    default:
        cli_say("cannot acquire '%s': %s", key, redlock_strerror(status));
        return CLI_INTERNAL;
    }
}

void cli_explain_waiting(struct redlock *rl, const struct redlock_lock *lock, const char *key)
{
    if (redlock_lock_reason(lock) == REDLOCK_ENOQUORUM) {
        say_masters(rl);
        cli_say_more("Waiting for '%s' until they come.", key);
    } else if (cli_say_is_verbose()) {
        say_holder(rl, lock, key);
        cli_say_more("Waiting for it.");
    }
}
