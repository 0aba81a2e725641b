/* settle.c - watches the states of the masters. */
#include "cli/session/settle.h"

#include <redlock/record.h>
#include <redlock/redlock.h>

#include "cli/session/session.h"
#include "cli/system/clock.h"

static void note_state(struct cli_settling *settling, uint64_t bit, enum redlock_node_state state)
{
    if (state != REDLOCK_NODE_CONNECTING) {
        settling->tried |= bit;
        settling->failed =
            state == REDLOCK_NODE_DOWN ? settling->failed | bit : settling->failed & ~bit;
    }
}

/* The manager also connects to masters that are on record, and not in the list; unless the list
 * does not fit the record. */
static bool has_all_on_record(const struct redlock *rl)
{
    struct redlock_record_info info = {.size = sizeof(info)};
    struct redlock_record_master m = {.size = sizeof(m)};
    size_t i;

    redlock_get_record(rl, &info);
    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        if (m.until_epoch == 0 && m.node < 0) {
            return info.state == REDLOCK_RECORD_OTHER;
        }
    }
    return true;
}

/* Notes which masters from number `first` on have been tried. True: all of them. There are fewer
 * when one that is not on record any more is left, and the others move up. */
static bool note_states(struct cli_settling *settling, size_t first)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t n = redlock_node_count(settling->rl), i;
    bool all = true;

    if (n < settling->n_nodes) {
        settling->tried = settling->failed = 0;
    }
    settling->n_nodes = n;
    for (i = 0; redlock_get_node_info(settling->rl, i, &info) == 0; i++) {
        note_state(settling, UINT64_C(1) << i, info.state);
        all = all && (i < first || (settling->tried >> i & 1) != 0);
    }
    return all;
}

static bool is_settled(void *arg)
{
    struct cli_settling *settling = arg;

    return (note_states(settling, 0) && has_all_on_record(settling->rl)) ||
           cli_clock_us() >= settling->until_us;
}

static bool has_followed(void *arg)
{
    struct cli_settling *settling = arg;
    struct redlock_record_info info = {.size = sizeof(info)};
    bool knows, listed = note_states(settling, 0),
                added = note_states(settling, settling->n_listed);

    redlock_get_record(settling->rl, &info);
    knows = info.state == REDLOCK_RECORD_AGREED || listed;
    return (knows && added && has_all_on_record(settling->rl)) ||
           cli_clock_us() >= settling->until_us;
}

static struct cli_settling begin_settling(const struct cli_session *session)
{
    return (struct cli_settling){.rl = session->rl,
                                 .n_listed = session->settings.options.n_nodes,
                                 .until_us =
                                     cli_clock_us() + session->node_timeout_ms * UINT64_C(1000)};
}

int cli_settle(struct cli_session *session, struct cli_settling *settling)
{
    *settling = begin_settling(session);
    return cli_loop_watch(&session->loop, is_settled, settling);
}

int cli_settle_record(struct cli_session *session)
{
    struct cli_settling settling = begin_settling(session);

    return cli_loop_watch(&session->loop, has_followed, &settling);
}

bool cli_settled_node(const struct cli_settling *settling, size_t index,
                      struct redlock_node_info *ret_info)
{
    if (redlock_get_node_info(settling->rl, index, ret_info) != 0) {
        return false;
    }
    if (ret_info->state == REDLOCK_NODE_CONNECTING && (settling->failed >> index & 1) != 0) {
        ret_info->state = REDLOCK_NODE_DOWN;
    }
    return true;
}
