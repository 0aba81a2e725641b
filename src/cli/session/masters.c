/* masters.c - how the masters are, from what the manager knows of them. */
#include "cli/session/masters.h"

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"

const char *cli_masters_state(int state)
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

const char *cli_masters_name(const struct redlock *rl, size_t index)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    return redlock_node_info(rl, index, &info) == 0 ? info.name : "";
}

void cli_masters_say(const struct redlock *rl, size_t index)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    if (redlock_node_info(rl, index, &info) != 0) {
        return;
    }
    cli_say_more("%s  %s%s%s", info.name, cli_masters_state((int)info.state),
                 info.error[0] ? ": " : "", info.error);
}

/* How many are up; of these, how many may vote, and how many could if something were fixed. */
static size_t count_up(const struct redlock *rl, size_t *ret_voting, size_t *ret_unfit)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t up = 0, i;

    *ret_voting = *ret_unfit = 0;
    for (i = 0; i < redlock_node_count(rl); i++) {
        if (redlock_node_info(rl, i, &info) == 0 && info.state == REDLOCK_NODE_UP) {
            up++;
            *ret_voting += info.quarantine_ms == 0;
            *ret_unfit += info.quarantine_ms == UINT64_MAX;
        }
    }
    return up;
}

/* What keeps a majority away. */
enum hindrance {
    HINDRANCE_WAY = 0,    /* they cannot be reached */
    HINDRANCE_QUARANTINE, /* they may not vote yet */
    HINDRANCE_CONFIG,     /* they may not vote as they are */
    HINDRANCE_THEMSELVES  /* they do not do it */
};

static enum hindrance say_masters(const struct redlock *rl)
{
    static const char *const texts[] = {"can be reached", "may vote yet", "may vote",
                                        "carried out the command"};
    size_t n = redlock_node_count(rl);
    size_t voting, unfit;
    size_t up = count_up(rl, &voting, &unfit), i;
    enum hindrance hindrance = up <= n / 2          ? HINDRANCE_WAY
                               : n - unfit <= n / 2 ? HINDRANCE_CONFIG
                               : voting <= n / 2    ? HINDRANCE_QUARANTINE
                                                    : HINDRANCE_THEMSELVES;

    bool held_back = up > n / 2 && voting <= n / 2;

    cli_say("no majority of the masters %s: %zu of %zu %s, %zu are needed", texts[hindrance],
            held_back ? voting : up, n, held_back ? "may" : "are up", n / 2 + 1);
    for (i = 0; i < n; i++) {
        cli_masters_say(rl, i);
    }
    return hindrance;
}

bool cli_masters_advise(const struct redlock *rl)
{
    enum hindrance hindrance = say_masters(rl);

    switch (hindrance) {
    case HINDRANCE_WAY:
        cli_say_more(
            "Check that they run, that this machine can reach them, and that they accept the "
            "password (see redlock doctor).");
        break;
    case HINDRANCE_QUARANTINE:
        cli_say_more(
            "A master that has just started may have forgotten locks, and does not vote until "
            "--max-ttl has passed: wait that long.");
        cli_say_more(
            "To try things out, use redlock sandbox or --quarantine=off, which is also right for "
            "masters that keep their data when they restart. A smaller --max-ttl, the same for "
            "all clients, makes the wait shorter.");
        break;
    case HINDRANCE_CONFIG:
        cli_say_more("Fix what these lines say (redlock doctor says how), or use "
                     "--quarantine=observed.");
        break;
    case HINDRANCE_THEMSELVES:
        cli_say_more(
            "Check that this user may use the key there (ACL), and that they answer within "
            "--node-timeout (see redlock doctor).");
        break;
    }
    return hindrance != HINDRANCE_WAY;
}

int cli_masters_explain(const struct redlock *rl)
{
    cli_masters_advise(rl);
    return CLI_UNREACHABLE;
}
