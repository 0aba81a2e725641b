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

/* The manager also connects to masters that are on record, and not in the list. */
static bool has_all_on_record(const struct redlock *rl)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    size_t i;

    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        if (m.until_epoch == 0 && m.node < 0) {
            return false;
        }
    }
    return true;
}

static bool is_settled(void *arg)
{
    struct cli_settling *settling = arg;
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t n = redlock_node_count(settling->rl), i;

    for (i = 0; redlock_get_node_info(settling->rl, i, &info) == 0; i++) {
        note_state(settling, UINT64_C(1) << i, info.state);
    }
    return (settling->tried == (UINT64_C(1) << n) - 1 && has_all_on_record(settling->rl)) ||
           cli_clock_us() >= settling->until_us;
}

int cli_settle(struct cli_session *session, struct cli_settling *settling)
{
    *settling = (struct cli_settling){
        .rl = session->rl, .until_us = cli_clock_us() + session->node_timeout_ms * UINT64_C(1000)};
    return cli_loop_watch(&session->loop, is_settled, settling);
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
