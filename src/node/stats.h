/* stats.h - what a node counts. Everything is read by lock/read_stats.c. */
#ifndef RLK_NODE_STATS_H
#define RLK_NODE_STATS_H

#include <stdint.h>

#include "base/histogram.h"

struct rlk_node_stats {
    struct rlk_histogram round_trips;
    uint64_t late;       /* answers that took longer than the timeout */
    uint64_t unanswered; /* commands whose connection ended before the answer */
    uint64_t connected;  /* how often it became UP */
    uint64_t failed;     /* how often connecting to it failed */
    uint64_t refused;    /* commands that did not fit into our limits [S13] */
    uint64_t up_us;      /* how long it was UP, without the present time */
};

#endif
