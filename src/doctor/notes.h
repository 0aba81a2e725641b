/* notes.h - the findings about one master, or about all masters.
 *
 * They have a buffer of fixed size, so that an examination that has begun cannot run out of memory.
 * What does not fit is cut. */
#ifndef RLK_DOCTOR_NOTES_H
#define RLK_DOCTOR_NOTES_H

#include <redlock/examine.h>

#define RLK_NOTES_MAX 24
#define RLK_NOTES_SIZE 5632

struct rlk_notes {
    int node;
    size_t n, used;
    enum redlock_severity worst;
    struct redlock_finding finding[RLK_NOTES_MAX];
    char buffer[RLK_NOTES_SIZE];
};

/* What is the same for all findings of a kind; 0 and NULL: that depends on the master. */
struct rlk_finding_row {
    const char *code; /* the permanent word */
    enum redlock_severity severity;
    const char *fix;
};

/* The row of a kind; its code is "" for a number that is not a kind. */
const struct rlk_finding_row *rlk_finding_row(enum redlock_finding_kind kind);

/* Empty the notes; they are about this master from now on, -1: about all masters. */
void rlk_notes_begin(struct rlk_notes *notes, int node);

/* Add a finding, with the severity and the fix of its row. */
__attribute__((format(printf, 3, 4))) void
rlk_note(struct rlk_notes *notes, enum redlock_finding_kind kind, const char *format, ...);

/* Add a finding of this severity. `fix` is borrowed; NULL: that of the row. */
__attribute__((format(printf, 5, 6))) void rlk_note_as(struct rlk_notes *notes,
                                                       enum redlock_finding_kind kind,
                                                       enum redlock_severity severity,
                                                       const char *fix, const char *format, ...);

/* Make a text for `fix` that lives as long as the notes. */
__attribute__((format(printf, 2, 3))) const char *rlk_notes_text(struct rlk_notes *notes,
                                                                 const char *format, ...);

#endif
