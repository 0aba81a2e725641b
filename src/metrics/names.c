/* names.c - a table for each enumeration. */
#include "metrics/names.h"

#include <stddef.h>

#include <redlock/manager.h>
#include <redlock/record.h>

static const char *name_of(const char *const *names, size_t n, int state)
{
    return state >= 0 && (size_t)state < n ? names[state] : "unknown";
}

#define NAME_OF(names, state) name_of(names, sizeof(names) / sizeof((names)[0]), state)

const char *rlk_node_state_name(int state)
{
    static const char *const names[] = {[REDLOCK_NODE_DOWN] = "down",
                                        [REDLOCK_NODE_CONNECTING] = "connecting",
                                        [REDLOCK_NODE_UP] = "up",
                                        [REDLOCK_NODE_UNRESPONSIVE] = "unresponsive"};

    return NAME_OF(names, state);
}

const char *rlk_record_state_name(int state)
{
    static const char *const names[] = {[REDLOCK_RECORD_OFF] = "off",
                                        [REDLOCK_RECORD_NONE] = "none",
                                        [REDLOCK_RECORD_SEEN] = "seen",
                                        [REDLOCK_RECORD_AGREED] = "agreed",
                                        [REDLOCK_RECORD_OTHER] = "other"};

    return NAME_OF(names, state);
}
