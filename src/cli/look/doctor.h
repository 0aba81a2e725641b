/* doctor.h - what the two ways of printing an examination share. */
#ifndef CLI_LOOK_DOCTOR_H
#define CLI_LOOK_DOCTOR_H

#include <redlock/examine.h>

/* "fine", "warning", "no vote" or "unusable". */
const char *cli_doctor_verdict(enum redlock_severity severity);

/* All of it as a JSON object on stdout. */
void cli_doctor_print_json(const struct redlock_report *report);

#endif
