/* settle.c - watches the states of the masters. */
#include "cli/session/settle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/record.h>
#include <redlock/redlock.h>

#include "cli/session/session.h"
#include "cli/system/clock.h"

/* The wait for the masters to be connected. */
struct settling {
    const struct redlock *rl;
    size_t n_listed;   /* how many masters the list has; those that follow were found on record */
    uint64_t until_us; /* when the wait ends */
};

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

/* Whether all masters from number `first` on are up or have failed to connect. */
static bool were_tried(const struct redlock *rl, size_t first)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = first; redlock_get_node_info(rl, i, &info) == 0; i++) {
        if (info.state == REDLOCK_NODE_CONNECTING) {
            return false;
        }
    }
    return true;
}

static bool is_settled(void *arg)
{
    struct settling *settling = arg;

    return (were_tried(settling->rl, 0) && has_all_on_record(settling->rl)) ||
           cli_clock_us() >= settling->until_us;
}

static bool has_followed(void *arg)
{
    struct settling *settling = arg;
    struct redlock_record_info info = {.size = sizeof(info)};
    bool knows, listed = were_tried(settling->rl, 0),
                added = were_tried(settling->rl, settling->n_listed);

    redlock_get_record(settling->rl, &info);
    knows = info.state == REDLOCK_RECORD_AGREED || listed;
    return (knows && added && has_all_on_record(settling->rl)) ||
           cli_clock_us() >= settling->until_us;
}

static struct settling begin_settling(const struct cli_session *session)
{
    return (struct settling){.rl = session->rl,
                             .n_listed = session->settings.options.n_nodes,
                             .until_us =
                                 cli_clock_us() + session->node_timeout_ms * UINT64_C(1000)};
}

int cli_settle(struct cli_session *session)
{
    struct settling settling = begin_settling(session);

    return cli_loop_watch(&session->loop, is_settled, &settling);
}

int cli_settle_record(struct cli_session *session)
{
    struct settling settling = begin_settling(session);

    return cli_loop_watch(&session->loop, has_followed, &settling);
}
