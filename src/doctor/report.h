/* report.h - the report of an examination: the replies of the masters, compared and judged.
 *
 * All its memory is allocated at the beginning. */
#ifndef RLK_DOCTOR_REPORT_H
#define RLK_DOCTOR_REPORT_H

#include <redlock/examine.h>

#include "core/clocks.h"
#include "doctor/diagnosis.h"
#include "doctor/notes.h"
#include "doctor/checkup.h"
#include "node/trouble.h"

struct redlock;

/* What belongs to one master. */
struct rlk_report_node {
    struct rlk_trouble trouble;       /* RLK_TROUBLE_NONE: use that of the node */
    char error[2 * RLK_TROUBLE_TEXT]; /* the sentence of `trouble` */
    char acl[2048];                   /* the minimum permissions */
    struct rlk_checkup checkup;
    struct rlk_notes notes;
};

struct rlk_report {
    struct redlock_report public;
    unsigned n;    /* nodes that are examined: the arrays are by node */
    uint64_t seen; /* of these, those that are reported: the lists are of these */
    struct redlock_examined *nodes;
    const struct redlock_examined **node_list;
    const struct redlock_finding **findings; /* owned by the notes */
    struct rlk_report_node *parts;           /* the caller fills the checkups */
    struct rlk_diagnosis_record record;
    char on_record[1024], here[1024]; /* lists of names for it */
    struct rlk_notes notes;
    struct rlk_voters voters; /* all of its masters */
    struct rlk_clocks clocks;
};

/* 0, or REDLOCK_ENOMEM; then nothing stays allocated. */
int rlk_report_init(struct rlk_report *r, size_t n_nodes);
void rlk_report_end(struct rlk_report *r);

/* Write the report, with what the manager knows now. Returns the status to report it with. */
int rlk_report_make(struct rlk_report *r, struct redlock *rl);

#endif
