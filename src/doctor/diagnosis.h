/* diagnosis.h - finds out what is wrong with the masters and how to fix it, from what is known
 * about them.
 *
 * Pure functions: facts in, sentences out. */
#ifndef RLK_DOCTOR_DIAGNOSIS_H
#define RLK_DOCTOR_DIAGNOSIS_H

#include <redlock/examine.h>

#include "doctor/notes.h"
#include "node/trouble.h"

/* What a diagnosis needs to know apart from the masters. */
struct rlk_diagnosis_context {
    const char *key_prefix;
    uint64_t node_timeout_us;
};

/* Diagnose one master. `trouble` is what the sentence in x->error is made from. Overwrites *notes.
 */
void rlk_diagnose_node(const struct redlock_examined *x, const struct rlk_trouble *trouble,
                       int node, const struct rlk_diagnosis_context *context,
                       struct rlk_notes *notes);

/* Diagnose all masters together. Each of them must have its verdict, and the report its findings.
 * Also sets quorum, voting and usable of the report. */
void rlk_diagnose_set(struct redlock_report *report, struct rlk_notes *notes);

#endif
