/* names.h - the words for states: in metrics, in JSON and in messages.
 *
 * The library and the command compile this file each for themselves. */
#ifndef RLK_METRICS_NAMES_H
#define RLK_METRICS_NAMES_H

/* Of an enum redlock_node_state, such as "up"; "unknown" for one of a later version. */
const char *rlk_node_state_name(int state);

/* The same of an enum redlock_record_state. */
const char *rlk_record_state_name(int state);

#endif
