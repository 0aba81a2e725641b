/* lookup.h - where the value of a setting comes from: its option, else its variable, else the file
 * that names the masters.
 */
#ifndef RLK_SETTINGS_LOOKUP_H
#define RLK_SETTINGS_LOOKUP_H

#include "settings/node_list.h"

struct rlk_sources {
    const char *const *options;    /* of a command line, in the order of enum rlk_setting, borrowed;
                                      NULL: there is none */
    char *variables[RLK_SETTINGS]; /* copies, as another thread may change the environment; NULL:
                                      not set. The masters are in `nodes` */
    struct rlk_node_list nodes;
};

/* The first that has a value takes precedence. */
enum rlk_source {
    RLK_FROM_OPTION,
    RLK_FROM_VARIABLE,
    RLK_FROM_FILE,
    RLK_FROM_NOTHING
};

struct rlk_value {
    const char *text; /* NULL: it is not set */
    enum rlk_source source;
    char from[512]; /* for messages: "--ttl", "REDLOCK_MAX_TTL", "/etc/redlock/nodes:4: max-ttl" */
};

/* Read the variables, and find the masters unless `has_masters` says that they are known already.
 * Returns as rlk_node_list_find(); the caller calls rlk_sources_end() in all cases. */
int rlk_sources_find(struct rlk_sources *sources, bool has_masters,
                     const struct rlk_error_text *error);

struct rlk_value rlk_lookup(const struct rlk_sources *sources, enum rlk_setting setting);

void rlk_sources_end(struct rlk_sources *sources);

#endif
