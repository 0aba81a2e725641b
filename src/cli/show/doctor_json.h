/* doctor_json.h - prints an examination as JSON on stdout. */
#ifndef CLI_SHOW_DOCTOR_JSON_H
#define CLI_SHOW_DOCTOR_JSON_H

struct redlock_report;

/* Print all of it as a JSON object. */
void cli_doctor_json_print(const struct redlock_report *report);

#endif
