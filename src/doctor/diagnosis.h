/* diagnosis.h - from what is known of the masters to what is wrong, and how to fix it.
 *
 * Pure: facts in, sentences out. */
#ifndef RLK_DOCTOR_DIAGNOSIS_H
#define RLK_DOCTOR_DIAGNOSIS_H

#include <redlock/examine.h>

#include "doctor/notes.h"
#include "node/trouble.h"

/* What a diagnosis goes by, apart from the masters. */
struct rlk_diagnosis_context {
    const char *key_prefix;
    uint64_t node_timeout_us;
};

/* One master, and what x->error says of it as a code. *notes is written anew. */
void rlk_diagnose_node(const struct redlock_examined *x, enum rlk_trouble_kind trouble, int node,
                       const struct rlk_diagnosis_context *norms, struct rlk_notes *notes);

/* All of them, when each has its verdict and the report what was found about it. Sets quorum,
 * voting and usable as well. */
void rlk_diagnose_set(struct redlock_report *report, struct rlk_notes *notes);

#endif
