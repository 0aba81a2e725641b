/* settle.h - waits until it is known of each master whether it can be reached.
 *
 * A manager connects to its masters by itself, and its handshake reads what a master has to say.
 * So a command that only looks waits until each master is up, has failed to connect, or has had
 * --node-timeout for it. */
#ifndef CLI_SESSION_SETTLE_H
#define CLI_SESSION_SETTLE_H

struct cli_session;

/* Returns CLI_GO_ON or the code to exit with. */
int cli_settle(struct cli_session *session);

/* For a command that asks all masters once: wait until those are connected, too, that are on record
 * and not in the list; but not for a master of the list that does not reply. Returns as above. */
int cli_settle_record(struct cli_session *session);

#endif
