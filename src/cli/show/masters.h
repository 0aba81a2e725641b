/* masters.h - prints the record of the masters. */
#ifndef CLI_SHOW_MASTERS_H
#define CLI_SHOW_MASTERS_H

struct cli_session;

void cli_masters_text_print(const struct cli_session *session);

/* As a JSON object. */
void cli_masters_json_print(const struct cli_session *session);

#endif
