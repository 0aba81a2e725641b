/* node_state.h - messages about the state of the masters, and what to do about it. */
#ifndef CLI_SESSION_NODE_STATE_H
#define CLI_SESSION_NODE_STATE_H

#include <stdbool.h>
#include <stddef.h>

struct cli_session;
struct redlock;
struct redlock_lock;
struct redlock_node_info;

/* Whether a master is up, and its votes count, or will without anybody's help. */
bool cli_node_is_usable(const struct redlock_node_info *info);

/* The name of a master; "" when there is no master with this index. */
const char *cli_node_name(const struct redlock *rl, size_t index);

/* How many masters are up. */
size_t cli_nodes_up(const struct redlock *rl);

/* Print one line about a master: its name, its state, and its error; or, if it has none now, what
 * failed there in the last try of `lock` (NULL: none). Print nothing if that was the last line
 * about it.
 */
void cli_node_say(struct cli_session *session, const struct redlock_lock *lock, size_t index);

/* With --verbose: a line for each master that votes although it has an error. */
void cli_nodes_say_remarks(const struct redlock *rl);

/* Say that no majority of the masters did what was asked, what is wrong with each as in
 * cli_node_say(), and, if that was not said before, what to do. Returns whether a majority can be
 * reached. */
bool cli_nodes_advise(struct cli_session *session, const struct redlock_lock *lock);

/* The same, for a command that exits then. Returns CLI_UNREACHABLE. */
int cli_nodes_explain(struct cli_session *session, const struct redlock_lock *lock);

/* Whether the present error of a master says that it denies our user a key. The user may be allowed
 * only the keys of a prefix, which was forgotten or mistyped here: then say which one this command
 * has. */
bool cli_nodes_deny_keys(const struct redlock *rl);
void cli_nodes_say_prefix(const struct cli_session *session);

/* The trouble is over, or its lines are gone from the screen: next time print all of it. */
void cli_nodes_reset_said(struct cli_session *session);

#endif
