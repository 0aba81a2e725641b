/* stats.h - what a node counts; lock/read_stats.c reads it. */
#ifndef RLK_NODE_STATS_H
#define RLK_NODE_STATS_H

#include <stdint.h>

#include "base/histogram.h"

struct rlk_node_stats {
    struct rlk_histogram round_trips;
    uint64_t late;       /* replies that took longer than the timeout */
    uint64_t unanswered; /* commands whose connection ended before the reply */
    uint64_t connected;  /* how often it became UP */
    uint64_t failed;     /* how often connecting to it failed */
    uint64_t refused;    /* commands that our limits did not allow [S13] */
    uint64_t up_us;      /* how long it was UP, without the current time */
};

#endif
