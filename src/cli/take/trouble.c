/* trouble.c - lists the masters that do not confirm a lock, in one line. */
#include "cli/take/trouble.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/fingerprint.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/owner.h"
#include "cli/session/session.h"
#include "cli/take/holder.h"
#include "metrics/names.h"

/* A line to append to; text that does not fit is left out. */
struct line {
    char text[3072];
    size_t used;
};

static void append(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct line *line, const char *format, ...)
{
    size_t room = sizeof(line->text) - line->used;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line->text + line->used, room, format, args);
    va_end(args);
    if (n >= 0) {
        line->used += (size_t)n < room ? (size_t)n : room - 1;
    }
}

/* What is wrong with some masters, in the order of the first of each. */
struct group {
    char reason[512];
    char names[1024];
    uint64_t had_ms; /* how long ago each of them had the key at the latest; UINT64_MAX: unknown */
};

#define MAX_GROUPS 8

struct groups {
    struct group of[MAX_GROUPS];
    size_t n;
};

/* A master that is up has not answered; or, if it is not relied on, its error is the reason. */
static void write_state(struct group *g, const struct redlock_node_info *info, bool relied_on)
{
    bool up = info->state == REDLOCK_NODE_UP, alone = up && !relied_on && info->error[0];
    const char *state = up ? "no reply" : rlk_node_state_name((int)info->state);

    snprintf(g->reason, sizeof(g->reason), "%s%s%s", alone ? "" : state,
             alone || !info->error[0] ? "" : ": ", info->error);
}

/* "down: refused", "held by alice", "does not have the key: ...". */
static void describe(struct group *g, const struct redlock_node_info *info,
                     const struct redlock_node_detail *detail, bool relied_on)
{
    const char *owner = cli_holder_owner(detail->holder);
    const char *reserved = cli_holder_reserved(detail->holder);
    bool had = detail->said == REDLOCK_SAID_SET || detail->said == REDLOCK_SAID_KEPT;

    snprintf(g->names, sizeof(g->names), "%s", info->name);
    g->had_ms = UINT64_MAX;
    if (detail->vote != REDLOCK_VOTE_NO) {
        write_state(g, info, relied_on);
        g->had_ms = had ? detail->said_ms : UINT64_MAX;
    } else if (reserved) {
        snprintf(g->reason, sizeof(g->reason), "reserved for %s", reserved);
    } else if (detail->holder[0]) {
        snprintf(g->reason, sizeof(g->reason), "%s%s", cli_owner_held(owner ? owner : ""),
                 owner ? owner : cli_holder_short(detail->holder));
    } else {
        snprintf(g->reason, sizeof(g->reason),
                 "does not have the key: did it restart, or was the key deleted?");
    }
}

static void join(struct group *g, const struct group *more)
{
    size_t used = strlen(g->names);

    snprintf(g->names + used, sizeof(g->names) - used, ", %s", more->names);
    g->had_ms = more->had_ms > g->had_ms ? more->had_ms : g->had_ms;
}

/* What does not fit is left out. */
static void add_group(struct groups *groups, const struct group *more)
{
    size_t i;

    for (i = 0; i < groups->n; i++) {
        struct group *g = &groups->of[i];

        if (cli_fingerprint(g->reason) == cli_fingerprint(more->reason) &&
            (g->had_ms == UINT64_MAX) == (more->had_ms == UINT64_MAX)) {
            join(g, more);
            return;
        }
    }
    if (groups->n < MAX_GROUPS) {
        groups->of[groups->n++] = *more;
    }
}

/* "a, b (down: refused; had the key 9.2 s ago), c (held by alice)". */
static void append_groups(struct line *line, const struct groups *groups)
{
    size_t i;

    for (i = 0; i < groups->n; i++) {
        const struct group *g = &groups->of[i];

        append(line, "%s%s (%s", line->used > 0 ? ", " : "", g->names, g->reason);
        if (g->had_ms != UINT64_MAX) {
            append(line, "; had the key %s ago", rlk_duration(g->had_ms));
        }
        append(line, ")");
    }
}

/* Whether a master does not confirm the lock. A yes of a master that is not up may be old. */
static bool is_wrong(const struct redlock_node_info *info, const struct redlock_node_detail *detail)
{
    return detail->vote != REDLOCK_VOTE_YES || info->state != REDLOCK_NODE_UP;
}

/* Whether a master has said that it does not have our key. */
static bool lacks_it(const struct redlock_node_info *info, const struct redlock_node_detail *detail)
{
    (void)info;
    return detail->vote == REDLOCK_VOTE_NO;
}

/* Whether it is not certain that a master has had our key all the time. */
static bool is_doubted(const struct redlock_node_info *info,
                       const struct redlock_node_detail *detail)
{
    return detail->vote != REDLOCK_VOTE_NO && (is_wrong(info, detail) || info->error[0]);
}

typedef bool is_listed(const struct redlock_node_info *info,
                       const struct redlock_node_detail *detail);

static size_t list(const struct redlock *rl, const struct redlock_lock *lock, is_listed *which,
                   struct line *line)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};
    struct redlock_node_info info = {.size = sizeof(info)};
    struct groups groups = {.n = 0};
    size_t listed = 0, i;
    struct group one;

    for (i = 0; i < redlock_node_count(rl); i++) {
        if (redlock_lock_node(lock, i, &detail) == 0 && redlock_get_node_info(rl, i, &info) == 0 &&
            which(&info, &detail)) {
            describe(&one, &info, &detail, which != is_doubted);
            add_group(&groups, &one);
            listed++;
        }
    }
    append_groups(line, &groups);
    return listed;
}

void cli_trouble_say(const struct redlock *rl, const struct redlock_lock *lock, const char *key,
                     const char *what, uint64_t left_ms)
{
    struct line line = {"", 0};
    size_t wrong = list(rl, lock, is_wrong, &line);
    const char *left = rlk_duration(left_ms);

    if (wrong > 0) {
        cli_say("cannot renew '%s', %s ends in %s: %zu of %zu masters do not confirm it: %s", key,
                what, left, wrong, redlock_node_count(rl), line.text);
    } else {
        cli_say("cannot renew '%s', %s ends in %s: no majority of the masters confirms it (see "
                "redlock nodes)",
                key, what, left);
    }
}

void cli_trouble_notice(const struct redlock *rl, const struct redlock_lock *lock, const char *key,
                        const struct redlock_notice *notice)
{
    if (notice->reason == REDLOCK_EUNRENEWED) {
        cli_say("the lock '%s' is no longer renewed, %s left", key, rlk_duration(notice->left_ms));
    } else {
        cli_trouble_say(rl, lock, key, "the lock", notice->left_ms);
    }
}

/* [S7] A lost lock does not always mean that a majority does not have the key. Other masters may
 * have lost the key and got it again, or their clocks may have been set. */
static void say_lost(const struct redlock *rl, const struct redlock_lock *lock, const char *key)
{
    struct line without = {"", 0}, doubted = {"", 0};
    size_t n = redlock_node_count(rl), lacking = list(rl, lock, lacks_it, &without);

    if (lacking > n / 2) {
        cli_say("the lock '%s' is lost: %zu of %zu masters no longer have it: %s", key, lacking, n,
                without.text);
        return;
    }
    list(rl, lock, is_doubted, &doubted);
    cli_say("the lock '%s' is lost: fewer than %zu of %zu masters provably kept it%s%s%s%s", key,
            n / 2 + 1, n, lacking || doubted.used ? ": " : "", without.text,
            lacking && doubted.used ? ", " : "", doubted.text);
}

void cli_trouble_lost(const struct redlock *rl, const struct redlock_lock *lock, const char *key)
{
    say_lost(rl, lock, key);
    if (cli_holder_find(rl, lock).refusals > 0 && cli_holder_broken(rl, lock) == NULL) {
        cli_say_more("A master loses a key when it restarts, or when somebody deletes it, as "
                     "redlock break --now does. With --audit, redlock history says who it was.");
    }
}

int cli_trouble_extend(struct cli_session *session, const struct redlock_lock *lock,
                       const char *key)
{
    const struct redlock *rl = session->rl;
    size_t n = redlock_node_count(rl);
    struct redlock_node_detail detail = {.size = sizeof(detail)};
    struct line line = {"", 0};
    size_t confirmed = 0, denied = 0, i;

    for (i = 0; i < n; i++) {
        if (redlock_lock_node(lock, i, &detail) == 0) {
            confirmed += detail.vote == REDLOCK_VOTE_YES;
            denied += detail.vote == REDLOCK_VOTE_NO;
        }
    }
    if (denied == 0) {
        return cli_nodes_explain(session, lock);
    }
    list(rl, lock, is_wrong, &line);
    cli_say("cannot extend '%s': %zu of %zu masters confirm it, %zu are needed: %s", key, confirmed,
            n, n / 2 + 1, line.text);
    cli_say_more(
        "Try again when more masters answer. If that is too late, acquire the lock again.");
    return CLI_UNREACHABLE;
}
