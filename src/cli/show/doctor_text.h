/* doctor_text.h - prints an examination for people on stdout. */
#ifndef CLI_SHOW_DOCTOR_TEXT_H
#define CLI_SHOW_DOCTOR_TEXT_H

#include <redlock/examine.h>

/* "fine", "warning", "no vote" or "unusable". */
const char *cli_doctor_text_verdict(enum redlock_severity severity);

/* Print the report; `status` is the callback's. */
void cli_doctor_text_print(const struct redlock_report *report, int status);

#endif
