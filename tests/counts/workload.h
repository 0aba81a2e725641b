/* counts/workload.h - what the library is made to do again and again: a row for each, by name. */
#ifndef RLK_TESTS_COUNTS_WORKLOAD_H
#define RLK_TESTS_COUNTS_WORKLOAD_H

#include "counts/rig.h"

struct workload;

/* NULL: no workload has this name. */
const struct workload *workload_find(const char *name);

/* Print the names, one on each line. */
void workload_list(void);

/* Make the rig, warm up, and count some hundred cycles. */
struct rig_counts workload_count(const struct workload *w);

#endif
