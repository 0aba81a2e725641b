/* diagnosis.h - from what is known of the masters to what is wrong, and how to mend it.
 *
 * Pure: facts in, sentences out. */
#ifndef RLK_DOCTOR_DIAGNOSIS_H
#define RLK_DOCTOR_DIAGNOSIS_H

#include <redlock/examine.h>

#include "doctor/notes.h"

/* What a diagnosis goes by, apart from the masters. */
struct rlk_norms {
    const char *key_prefix;
    uint64_t node_timeout_us;
};

/* One master. *notes is written anew. */
void rlk_diagnose_node(const struct redlock_examined *x, int node, const struct rlk_norms *norms,
                       struct rlk_notes *notes);

/* All of them, when each has its verdict. Sets quorum, voting and usable as well. */
void rlk_diagnose_set(struct redlock_report *report, struct rlk_notes *notes);

#endif
