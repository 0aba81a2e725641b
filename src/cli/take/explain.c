/* explain.c - says why a lock was not acquired, from the status and the votes. */
#include "cli/take/explain.h"

#include <inttypes.h>
#include <stdbool.h>

#include <redlock/redlock.h>

#include "cli/args/keys.h"
#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/owner.h"
#include "cli/session/record.h"
#include "cli/session/session.h"
#include "cli/take/found.h"
#include "cli/take/holder.h"

/* With another Redlock library it is a lock all the same. */
static void say_foreign(const struct cli_holder *holder, size_t n, const char *key)
{
    if (cli_holder_is_no_string(holder->token)) {
        cli_say(
            "cannot acquire '%s': another program has a key of this name that is not a string (on "
            "%zu of %zu masters); use another key, or delete that one",
            key, holder->masters, n);
    } else {
        cli_say("'%s' is held by another program: on %zu of %zu masters its value (%s) is not one "
                "that redlock writes; if it is no lock, use another key, or delete that one",
                key, holder->masters, n, cli_holder_short(holder->token));
    }
}

static void say_held(const struct cli_holder *holder, size_t n, const char *key)
{
    const char *owner = cli_holder_owner(holder->token);
    const char *reserved = cli_holder_reserved(holder->token);

    if (cli_holder_is_no_string(holder->token)) {
        say_foreign(holder, n, key);
    } else if (reserved) {
        cli_say("'%s' is reserved for %s, whom its holder handed it over to (according to %zu of "
                "%zu masters)",
                key, reserved, holder->masters, n);
    } else if (owner && cli_owner_is_broken(owner)) {
        cli_say("'%s' was %s: nobody gets it before its former holder can have noticed (according "
                "to %zu of %zu masters)",
                key, owner, holder->masters, n);
    } else {
        cli_say("'%s' is held by %s (according to %zu of %zu masters; token %s)", key,
                owner ? owner : "somebody else", holder->masters, n,
                cli_holder_short(holder->token));
    }
}

/* Nobody knows who has the key on the other masters. */
static void say_doubt(const struct cli_holder *holder, size_t n, const char *key)
{
    const char *owner = cli_holder_owner(holder->token);

    cli_say("'%s' may be held by %s: %zu of %zu masters say so, and %zu are needed to be certain",
            key, owner ? owner : "somebody else",
            holder->token[0] ? holder->masters : holder->refusals, n, n / 2 + 1);
}

static void say_nobody(const struct cli_holder *holder, size_t n, const char *key)
{
    cli_say("nobody can hold '%s' now: at most %zu of %zu masters have it for the same client; "
            "several compete for it, or it was released just now",
            key, holder->masters, n);
}

/* By the votes. */
static void say_holder(const struct redlock *rl, const struct redlock_lock *lock, const char *key)
{
    struct cli_holder holder = cli_holder_find(rl, lock);
    size_t n = redlock_node_count(rl);

    if (!holder.refusals) { /* the wait ended during the last try */
        cli_say("'%s' is held by somebody else", key);
    } else if (holder.masters > n / 2) {
        say_held(&holder, n, key);
    } else {
        say_doubt(&holder, n, key);
    }
}

static void advise(const struct cli_keys *keys, bool waited)
{
    cli_say_more("See redlock status %s. %s", keys->words,
                 waited
                     ? "To wait longer, use a larger --wait, or no --wait to wait without a limit."
                     : "To wait for the lock, use --wait 30s instead of --no-wait.");
}

static int explain_held(const struct redlock *rl, const struct redlock_lock *lock,
                        const struct cli_keys *keys, bool waited)
{
    say_holder(rl, lock, keys->name);
    advise(keys, waited);
    return CLI_HELD;
}

void cli_explain_found(const struct redlock *rl, const struct cli_found *found,
                       const struct cli_keys *keys, bool waited)
{
    const char *key = keys->name;
    const struct cli_holder holder = {found->token, found->masters, found->masters};
    size_t n = redlock_node_count(rl);

    if (found->held || (cli_holder_reserved(found->token) && found->masters > n / 2)) {
        say_held(&holder, n, key);
    } else if (found->unknown) {
        say_doubt(&holder, n, key);
    } else {
        say_nobody(&holder, n, key);
    }
    advise(keys, waited);
}

int cli_explain_slow(const char *done, const char *key)
{
    cli_say("a majority of the masters %s '%s', but too late: too little of the ttl was left", done,
            key);
    cli_say_more("Use a larger --ttl, or find out why the masters are slow (redlock doctor).");
    return CLI_HELD;
}

static int explain_reason(struct cli_session *session, const struct redlock_lock *lock,
                          const struct cli_keys *keys, int reason, bool waited)
{
    switch (reason) {
    case REDLOCK_ENOQUORUM:
        return cli_nodes_explain(session, lock);
    case REDLOCK_ETOOSLOW:
        return cli_explain_slow("granted", keys->name);
    default:
        return explain_held(session->rl, lock, keys, waited);
    }
}

/* The errors of the masters that are not up say which server is there twice. */
static int explain_config(struct cli_session *session, const char *key)
{
    const struct redlock *rl = session->rl;
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    if (cli_record_differs(rl)) {
        cli_say("cannot acquire '%s': %s", key, cli_record_error(rl));
        return cli_record_explain(session);
    }
    cli_say("cannot acquire '%s': %s", key, redlock_strerror(REDLOCK_ECONFIG));
    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        if (info.state != REDLOCK_NODE_UP) {
            cli_node_say(session, NULL, i);
        }
    }
    return CLI_CONFIG;
}

int cli_explain_failure(struct cli_session *session, const struct redlock_lock *lock,
                        const struct cli_keys *keys, int status)
{
    switch (status) {
    case REDLOCK_EDEADLINE:
        return explain_reason(session, lock, keys, redlock_lock_reason(lock), true);
    case REDLOCK_EHELD:
    case REDLOCK_ETOOSLOW:
    case REDLOCK_ENOQUORUM:
        return explain_reason(session, lock, keys, status, false);
    case REDLOCK_ECONFIG:
        return explain_config(session, keys->name);
    default:
        cli_say("cannot acquire '%s': %s", keys->name, redlock_strerror(status));
        return CLI_INTERNAL;
    }
}

void cli_explain_reason(struct cli_session *session, const struct redlock_lock *lock,
                        const char *key)
{
    switch (redlock_lock_reason(lock)) {
    case REDLOCK_ENOQUORUM:
        cli_nodes_explain(session, lock);
        return;
    case REDLOCK_EHELD:
        say_holder(session->rl, lock, key);
        return;
    default:
        return;
    }
}

void cli_explain_waiting(struct cli_session *session, const struct redlock_lock *lock,
                         const char *key)
{
    cli_say_more("Waiting for '%s' until enough masters %s.", key,
                 cli_nodes_advise(session, lock) ? "grant it" : "can be reached");
}

void cli_explain_foreign(const struct redlock *rl, const struct redlock_lock *lock, const char *key)
{
    struct cli_holder holder = cli_holder_find(rl, lock);

    say_foreign(&holder, redlock_node_count(rl), key);
}
