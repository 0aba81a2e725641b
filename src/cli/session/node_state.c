/* node_state.c - messages about the masters, from what the manager knows. */
#include "cli/session/node_state.h"

#include <string.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/fingerprint.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "metrics/names.h"

bool cli_node_is_usable(const struct redlock_node_info *info)
{
    return info->state == REDLOCK_NODE_UP &&
           (info->quarantine_ms != UINT64_MAX || info->quarantine_ends);
}

const char *cli_node_name(const struct redlock *rl, size_t index)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    return redlock_get_node_info(rl, index, &info) == 0 ? info.name : "";
}

/* A master that breaks the connection on each of our commands may be up again by now. */
static const char *error_of(const struct redlock_node_info *info, const struct redlock_lock *lock,
                            size_t index)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};
    bool is_about_lock = lock && !info->error[0] && redlock_lock_node(lock, index, &detail) == 0;

    return is_about_lock ? detail.error : info->error;
}

/* Whether a line differs from the last one about this master. The fingerprint has the error and
 * whether the master is up (even) or not (odd). */
static bool is_new_line(struct cli_session *session, size_t index,
                        const struct redlock_node_info *info, const char *error)
{
    bool up = info->state == REDLOCK_NODE_UP;
    const char *said = error[0] ? error : rlk_node_state_name((int)info->state);
    uint64_t fingerprint = (cli_fingerprint(said) | 1) - up;
    uint64_t *last = &session->said.masters[index];
    bool is_new = *last != fingerprint;

    *last = fingerprint;
    return is_new;
}

void cli_node_say(struct cli_session *session, const struct redlock_lock *lock, size_t index)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    const char *error;

    if (redlock_get_node_info(session->rl, index, &info) != 0) {
        return;
    }
    error = error_of(&info, lock, index);
    if (is_new_line(session, index, &info, error)) {
        cli_say_more("%s  %s%s%s", info.name, rlk_node_state_name((int)info.state),
                     error[0] ? ": " : "", error);
    }
}

void cli_nodes_say_remarks(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; cli_say_is_verbose() && redlock_get_node_info(rl, i, &info) == 0; i++) {
        if (info.state == REDLOCK_NODE_UP && info.quarantine_ms == 0 && info.error[0]) {
            cli_say_detail("master %s %s", info.name, info.error);
        }
    }
}

/* The number of masters that are up. *ret_voting: how many of them vote; *ret_unfit: how many do
 * not vote until somebody fixes something. */
static size_t count_up(const struct redlock *rl, size_t *ret_voting, size_t *ret_unfit)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t up = 0, i;

    *ret_voting = *ret_unfit = 0;
    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        if (info.state == REDLOCK_NODE_UP) {
            up++;
            *ret_voting += info.quarantine_ms == 0;
            *ret_unfit += !cli_node_is_usable(&info);
        }
    }
    return up;
}

size_t cli_nodes_up(const struct redlock *rl)
{
    size_t voting, unfit;

    return count_up(rl, &voting, &unfit);
}

/* Why there is no majority. */
enum obstacle {
    OBSTACLE_CONNECTION = 0, /* too few can be reached */
    OBSTACLE_QUARANTINE,     /* too few may vote yet */
    OBSTACLE_CONFIG,         /* too few can ever vote, as they are */
    OBSTACLE_REPLIES         /* enough may vote, but too few did what was asked */
};

static enum obstacle say_masters(struct cli_session *session, const struct redlock_lock *lock)
{
    static const char *const texts[] = {"can be reached", "may vote yet", "may vote",
                                        "carried out the command"};
    size_t n = redlock_node_count(session->rl);
    size_t voting, unfit;
    size_t up = count_up(session->rl, &voting, &unfit), i;
    enum obstacle obstacle = up <= n / 2          ? OBSTACLE_CONNECTION
                             : n - unfit <= n / 2 ? OBSTACLE_CONFIG
                             : voting <= n / 2    ? OBSTACLE_QUARANTINE
                                                  : OBSTACLE_REPLIES;

    bool held_back = up > n / 2 && voting <= n / 2;

    cli_say("%sno majority of the masters %s: %zu of %zu %s, %zu are needed",
            session->said.any ? "still " : "", texts[obstacle], held_back ? voting : up, n,
            held_back ? "may" : "are up", n / 2 + 1);
    for (i = 0; i < n; i++) {
        cli_node_say(session, lock, i);
    }
    return obstacle;
}

/* A list that was forgotten in the environment leads to masters that are gone. */
static void say_origin(const struct cli_session *session)
{
    const struct rlk_node_list *nodes = &session->settings.found.sources.nodes;
    char unread[4096];

    if (rlk_node_list_unread(nodes, unread, sizeof(unread))) {
        cli_say_more("These masters are those of %s; %s is not read.", nodes->from, unread);
    } else {
        cli_say_more("These masters are those of %s.", nodes->from);
    }
}

void cli_nodes_say_prefix(const struct cli_session *session)
{
    if (session->prefix_len) {
        cli_say_more("The keys of this command begin with '%s' (--key-prefix): is that right?",
                     session->settings.options.key_prefix);
    } else {
        cli_say_more("This command has no --key-prefix: do the other clients have one?");
    }
}

bool cli_nodes_deny_keys(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    bool denied = false;
    size_t i;

    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        denied |= strstr(info.error, "NOPERM") && strstr(info.error, " key");
    }
    return denied;
}

static void say_what_to_do(const struct cli_session *session, enum obstacle obstacle)
{
    switch (obstacle) {
    case OBSTACLE_CONNECTION:
        cli_say_more(
            "Check that they run, that this machine can reach them, and that they accept the "
            "password (see redlock doctor).");
        say_origin(session);
        break;
    case OBSTACLE_QUARANTINE:
        cli_say_more(
            "A master that is new to locks, or restarted, may have lost some. It votes when "
            "--max-ttl has passed since a client first asked it: wait that long, once.");
        cli_say_more(
            "To try things out, use redlock sandbox or --quarantine=off, which is also right for "
            "masters that keep their data when they restart. When nobody can have held a lock "
            "there for --max-ttl, --quarantine=lenient skips the wait. A smaller --max-ttl, the "
            "same for all clients, makes it shorter.");
        break;
    case OBSTACLE_CONFIG:
        cli_say_more("Fix what these lines say (see redlock doctor).");
        break;
    case OBSTACLE_REPLIES:
        cli_say_more(
            "Check that this user may use the key there (ACL), and that they answer within "
            "--node-timeout (see redlock doctor).");
        cli_nodes_say_prefix(session);
        break;
    }
}

bool cli_nodes_advise(struct cli_session *session, const struct redlock_lock *lock)
{
    struct cli_said *said = &session->said;
    enum obstacle obstacle = say_masters(session, lock);

    if (!said->any || said->obstacle != (int)obstacle) {
        say_what_to_do(session, obstacle);
    }
    said->any = true;
    said->obstacle = (int)obstacle;
    return obstacle != OBSTACLE_CONNECTION;
}

int cli_nodes_explain(struct cli_session *session, const struct redlock_lock *lock)
{
    cli_nodes_advise(session, lock);
    return CLI_UNREACHABLE;
}

void cli_nodes_reset_said(struct cli_session *session)
{
    session->said = (struct cli_said){.any = false};
}
