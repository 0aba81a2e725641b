/* settle.h - waits until it is known of each master whether it can be reached.
 *
 * A manager connects to its masters by itself, and its handshake reads what a master has to say.
 * So a command that only looks waits until each master is up, has failed to connect, or has had
 * --node-timeout for it. */
#ifndef CLI_SESSION_SETTLE_H
#define CLI_SESSION_SETTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_session;
struct redlock;
struct redlock_node_info;

/* The wait for the masters to be connected. */
struct cli_settling {
    const struct redlock *rl;
    size_t n_listed;   /* how many masters the list has; those that follow were found on record */
    size_t n_nodes;    /* how many there were last */
    uint64_t until_us; /* when the wait ends */
    uint64_t tried;    /* a bit for each master that is up or has failed to connect */
    uint64_t failed;   /* those that failed last: the manager tries them again meanwhile */
};

/* Returns CLI_GO_ON or the code to exit with. */
int cli_settle(struct cli_session *session, struct cli_settling *settling);

/* For a command that asks all masters once: wait until those are connected, too, that are on record
 * and not in the list; but not for a master of the list that does not reply. Returns as above. */
int cli_settle_record(struct cli_session *session);

/* As redlock_get_node_info(): but a master that failed to connect is down, also while the manager
 * tries it again. */
bool cli_settled_node(const struct cli_settling *settling, size_t index,
                      struct redlock_node_info *ret_info);

#endif
