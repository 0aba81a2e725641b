/* node_change.c - remembers of each master whether it can be used, and says when that changes. */
#include "cli/session/node_change.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "settings/duration.h"
#include "cli/say/say.h"
#include "metrics/names.h"

void cli_node_describe(const struct redlock_node_info *info, char *text, size_t size)
{
    const char *state = rlk_node_state_name((int)info->state), *colon = info->error[0] ? ": " : "";

    if (info->quarantine_ms == 0) {
        snprintf(text, size, "%s%s%s", state, colon, info->error);
    } else if (info->quarantine_ms == UINT64_MAX) {
        snprintf(text, size, "%s, its votes do not count%s%s", state, colon, info->error);
    } else {
        snprintf(text, size, "%s, in quarantine for %s", state, rlk_duration(info->quarantine_ms));
    }
}

enum usable {
    UNKNOWN,
    UNUSABLE,
    WITHOUT_VOTE,
    USABLE
};

/* At the beginning it is no news that a master does not vote yet and soon will by itself, such as
 * one whose record of the masters is being read. */
static enum usable find_usable(const struct redlock_node_info *info, enum usable before)
{
    bool soon = info->quarantine_ms == UINT64_MAX && info->quarantine_ends;

    return info->state != REDLOCK_NODE_UP ? UNUSABLE
           : info->quarantine_ms == 0     ? USABLE
           : soon && before == UNKNOWN    ? UNKNOWN
                                          : WITHOUT_VOTE;
}

void cli_node_changed(struct redlock *rl, size_t index, const struct redlock_node_info *info,
                      void *arg)
{
    struct cli_node_changes *changes = arg;
    enum usable before = (enum usable)changes->usable[index];
    enum usable now = find_usable(info, before);
    char text[512];

    (void)rl;
    changes->usable[index] = (unsigned char)now;
    if (now != before && !(before == UNKNOWN && now == USABLE)) {
        cli_node_describe(info, text, sizeof(text));
        cli_say_detail("master %s is %s", info->name, text);
    }
}
