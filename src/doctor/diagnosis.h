/* diagnosis.h - finds out what is wrong with the masters and how to fix it, from what is known
 * about them.
 *
 * Pure functions: facts in, sentences out. */
#ifndef RLK_DOCTOR_DIAGNOSIS_H
#define RLK_DOCTOR_DIAGNOSIS_H

#include <stdbool.h>

#include <redlock/examine.h>
#include <redlock/record.h>

#include "doctor/notes.h"
#include "node/trouble.h"

/* What a diagnosis needs to know apart from the masters. */
struct rlk_diagnosis_context {
    const char *key_prefix;
    uint64_t node_timeout_us;
    bool record_differs; /* our masters are not those on record: a finding about all says so */
};

/* The record of the masters, and what differs from it [S15]. */
struct rlk_diagnosis_record {
    struct redlock_record_info info;
    uint32_t max_ttl_ms; /* ours */
    size_t quorum_now;   /* [M8] how many votes a lock needs now: fewer than a majority of the
                               masters in the report while one is added; 0: unknown */
    const char *on_record, *here; /* the masters: lists of names */
};

/* Diagnose one master. `trouble` is what the sentence in x->error is made from. Overwrites *notes.
 */
void rlk_diagnose_node(const struct redlock_examined *x, const struct rlk_trouble *trouble,
                       int node, const struct rlk_diagnosis_context *context,
                       struct rlk_notes *notes);

/* Whether the key prefix may be missing: we have no prefix, and the master denies us keys. */
bool rlk_diagnose_missing_prefix(const struct redlock_examined *x, const char *key_prefix);

/* Diagnose all masters together. Each of them must have its verdict, and the report its findings.
 * Also sets quorum, voting and usable of the report. */
void rlk_diagnose_set(struct redlock_report *report, const struct rlk_diagnosis_record *record,
                      struct rlk_notes *notes);

#endif
