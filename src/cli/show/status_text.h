/* status_text.h - prints who holds a key, for people, on stdout. */
#ifndef CLI_SHOW_STATUS_TEXT_H
#define CLI_SHOW_STATUS_TEXT_H

struct redlock;
struct redlock_query_result;

/* Print the result; `status` is the callback's. */
void cli_status_text_print(const struct redlock *rl, const char *key,
                           const struct redlock_query_result *result, int status);

#endif
