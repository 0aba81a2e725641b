/* doctor.h - the two ways in which redlock doctor prints an examination on stdout. */
#ifndef CLI_SHOW_DOCTOR_H
#define CLI_SHOW_DOCTOR_H

#include <redlock/examine.h>

/* "fine", "warning", "no vote" or "unusable". */
const char *cli_doctor_verdict(enum redlock_severity severity);

/* Print the report for people; `status` is the callback's. rl: knows the record of the masters. */
void cli_doctor_text_print(const struct redlock *rl, const struct redlock_report *report,
                           int status);

/* Print only the findings that should be fixed. */
void cli_doctor_text_print_findings(const struct redlock_report *report);

/* Print all of it as a JSON object. */
void cli_doctor_json_print(const struct redlock *rl, const struct redlock_report *report);

#endif
